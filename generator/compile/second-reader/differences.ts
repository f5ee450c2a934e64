/**
 * Known differences between the schemas of svc-gen and typescript-json-schema; all other differences are errors.
 * Notation is not listed: draft 7 or 2020-12, `definitions`, the order of members and alternatives, `anyOf` or `oneOf`,
 * `const` or an `enum` with one value.
 */

/**
 * Types that are replaced before the library reads them, because it cannot know the wire format or misreads the type.
 */
export const CORRECTED = {
  bigint: "a bigint is an integer on the wire; the library derives a number with properties",
  bytes: "a Uint8Array is base64 text on the wire; the library derives an array of numbers",
  "data reference": "DataRef<T> has the schema of T; the library derives the schema of the class DataRef",
  wrapper: "WithSerdeErrorPath<T> has the schema of T; the library derives the schema of the class",
  "object types":
    "`object` also accepts arrays, and `{}` everything except null; the library accepts only JSON objects for both",
  never: "never has no value; the library throws an error",
  brand: "a branded type has the schema of its base; the library also requires an object",
  intersection:
    "an intersection is one object with the members of all parts; the library applies each part separately, even one that allows no other members",
  "index signature":
    "the library reads only the syntax: it omits index signatures of mapped types, throws for template literals, does not substitute T in a generic interface, and applies patterns to declared members too",
  "undefined in a union": "`a: T | undefined` may be absent; the library requires it unless the type is instantiated",
  "absent member": "`a?: never` and `a?: undefined` may be null; the library omits the member, so it accepts any value",
  "absent value":
    "`undefined` in an array of a result is written as null; the library omits it from the type of the elements",
  "optional null": "an optional member or tuple element may be null on the wire; the library does not allow null",
} as const;

/** Types that the library misreads. An input or output with one of them is not compared. */
export const NOT_COMPARED = {
  "list interface": "an interface that extends Array is an array; the library derives an object with Array's members",
  "symbol member":
    "a member whose name is a symbol is not sent; the library derives a member with the compiler's internal name",
  "member __proto__":
    "the library omits a member of this name: it sets the prototype of the schema's properties object instead",
  "tuple with a tail": "in [...A[], B] the library repeats the last element, B, instead of A",
  "alias by name": "the library replaces an alias named integer by an integer",
  "template placeholder":
    "the library omits placeholders other than string, number and bigint from the pattern of a template literal type",
} as const;

/** Differences that may appear when the schemas are compared. */
export const EXCUSED = {
  tags: "constraints and texts of JSDoc tags: the library gets no comments, because it would call require() for paths in them",
  "list port": "optional last elements of a `many` port are omitted, never null",
  variant: "a variant of the output allows no second tag; a TypeScript object type allows further members",
  template:
    "the library's pattern of a template literal type differs: `.` does not match line breaks, a number is only digits",
  "number index": "names like 1.5 and -1 are numbers too; the library's pattern allows only digits",
} as const;

export type DifferenceName = keyof typeof CORRECTED | keyof typeof NOT_COMPARED | keyof typeof EXCUSED;
