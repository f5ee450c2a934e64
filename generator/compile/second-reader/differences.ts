/**
 * Known differences between the schemas of svc-gen and typescript-json-schema; all other differences are errors.
 * Notation is not listed: draft 7 or 2020-12, `definitions`, the order of members and alternatives, `anyOf` or `oneOf`,
 * `const` or an `enum` with one value.
 */

/**
 * Types that are replaced before the library reads them, because it cannot know the wire format or misreads the type.
 */
export const CORRECTED = {
  bigint: "an integer on the wire; the library reads a number with properties",
  bytes: "a Uint8Array is base64 text on the wire; the library reads a list of numbers",
  "data reference": "DataRef<T> has the schema of T; the library reads the class of the reference",
  wrapper: "WithSerdeErrorPath<T> has the schema of T; the library reads the class",
  "object types": "`object` takes lists and `{}` takes all but null; the library reads both as JSON objects",
  never: "no value; the library throws",
  "mapped strings": "Uppercase<string> and its kind are text; the library reads a list of strings",
  "type parameter": "a parameter of the class has its default type; the library reads an empty object",
  brand: "a branded type has the schema of its base; the library also wants an object",
  "list interface": "an interface that extends Array is a list; the library reads an object with Array's members",
  "computed enum": "an enum with computed members is a number; the library leaves the computed ones out",
  intersection: "one object with the members of all parts; the library takes the parts one by one, closed ones too",
  "index signature":
    "the library reads the syntax: it loses those of mapped types, throws for templates, reads T of a generic interface, and lets patterns judge declared members",
  "undefined in a union": "`a: T | undefined` may be absent; the library requires it unless the type is instantiated",
  "absent member": "`a?: never` and `a?: undefined` may be null; the library leaves the member out, so takes any value",
  "absent value": "an `undefined` in a list of a result is written as null; the library leaves it out",
  "optional null": "an optional member, or the optional item of a tuple, may be null on the wire",
  "symbol member": "a member with a symbol as its name is none in JSON; the library reads an internal name",
  "member __proto__": "the library assigns a member of this name as the prototype of its object",
  "tuple with a tail": "the library takes the last element of [...A[], B] for the repeated one",
  "alias by name":
    "the library takes an alias called Readonly or Mutable for its argument, and one called integer for integers",
} as const;

/** Differences that may appear when the schemas are compared. */
export const EXCUSED = {
  tags: "constraints and texts of JSDoc tags: no comment is given to the library, which would run require() in it",
  "list port": "the last items of a list port are left out, never null",
  variant: "a variant of the output takes no second tag; in TypeScript an object type takes further members",
  template: "the library's pattern of a template type is looser: `.` takes no line break, numbers are digits",
  "number index": "names like 1.5 and -1 are numbers too; the library's pattern has digits alone",
} as const;

export type DifferenceName = keyof typeof CORRECTED | keyof typeof EXCUSED;
