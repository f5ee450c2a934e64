/**
 * What generated code hands over: the contract that svc-gen derives from one tool class (protocol.md sections 1 and 2).
 *
 * A contract is plain ordered data. Nothing here depends on the tool class, so `contracts.ts` of a
 * project imports no tool, and a tool imports no generated code.
 */

/** Bounds of a number. */
export interface NumberBounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/** Bounds of an exact integer, as decimal digits: they may be beyond 2^53. */
export type IntegerBounds = { readonly [Keyword in keyof NumberBounds]: string };

/** Constraints of a text. */
export interface TextConstraints {
  /** In code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Regular expressions with the flag `u`, all of which match: that of a template literal type, that of `@pattern`. */
  readonly patterns?: readonly string[];
  /** A name that {@link formats} knows. */
  readonly format?: string;
}

/** Constraints of a list. */
export interface ListConstraints {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
}

/**
 * How one TypeScript type is written to JSON and read back, with the constraints of its values. Reading checks all of it;
 * writing checks the types everywhere, and constraints where a union chooses by them.
 */
export type Codec =
  /**
   * Any JSON value as it stands (`unknown`, `any`, `object`). Integers beyond ±(2^53−1) are bigints in it. Each constraint
   * is for the values of its own kind.
   */
  | ({ readonly kind: "json"; readonly except?: "null" | "primitives" } & NumberBounds &
      Omit<TextConstraints, "format"> &
      ListConstraints)
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  | ({ readonly kind: "string" } & TextConstraints)
  /** A JavaScript number; an integer text beyond ±(2^53−1) is refused. `integer`: declared with `@asType integer`. */
  | ({ readonly kind: "number"; readonly integer?: boolean } & NumberBounds)
  /** A union of literals (or one), enums included. */
  | { readonly kind: "literal"; readonly values: readonly (string | number | boolean | null)[] }
  /** An exact integer: −2^63 to 2^64−1, narrowed by `format`. */
  | ({ readonly kind: "bigint"; readonly format?: "int64" | "uint64" } & IntegerBounds)
  /** A `Date`, as an RFC 3339 date-time string. */
  | { readonly kind: "date" }
  /** A `Uint8Array`, as canonical standard base64 with padding. */
  | { readonly kind: "bytes" }
  | ({ readonly kind: "array"; readonly item: Codec } & ListConstraints)
  /** `items` of which the last `optional` may be missing, then any number of `rest`, then exactly `tail`. */
  | ({
      readonly kind: "tuple";
      readonly items: readonly Codec[];
      readonly optional?: number;
      readonly rest?: Codec;
      readonly tail?: readonly Codec[];
    } & ListConstraints)
  /**
   * Members in declared order, then those of index signatures, sorted by name. `patterns` are the types of members whose
   * names match, `rest` that of every other member; with patterns (or an empty list of them) and no `rest` the type
   * forbids any other member.
   */
  | {
      readonly kind: "object";
      readonly members: readonly Member[];
      readonly patterns?: readonly (readonly [pattern: string, codec: Codec])[];
      readonly rest?: Codec;
    }
  /** Of the branches that the value fits with their constraints, the first of those that leave the fewest members out. */
  | { readonly kind: "union"; readonly branches: readonly Codec[] }
  /** A definition of the contract, by name: for types that contain themselves. */
  | { readonly kind: "ref"; readonly name: string };

/** One declared member of an object: absent, `null` and `undefined` mean the same when it is optional. */
export interface Member {
  readonly name: string;
  readonly optional?: boolean;
  readonly codec: Codec;
}

/** One port, in schema order. The codec of a `many` port is that of one of its values. */
export interface Port {
  readonly name: string;
  readonly many: boolean;
  /** Of a `many` input: the type of the whole list, where it says more than that of one value (a tuple, constraints). */
  readonly list?: Extract<Codec, { readonly kind: "array" | "tuple" }>;
  /** An optional member of the type: always a `one`, `null` on the wire when absent. */
  readonly optional?: boolean;
  /** Of an output: a value may be held elsewhere, and a reference stand for it (`DataRef`). */
  readonly held?: boolean;
  readonly codec: Codec;
}

/** One output variant. `text`: declared as a string literal, written by the tool as `"done"` instead of `{done: {}}`. */
export interface Variant {
  readonly name: string;
  readonly text?: boolean;
  readonly ports: readonly Port[];
}

/** Everything that svc-gen knows about one tool. */
export interface Contract {
  /** With the version in shortest form. */
  readonly fqn: string;
  readonly description: string;
  /** As the class's `path()` says. */
  readonly path: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** JSON texts, because the textual order of members is the order of the ports. */
  readonly inputSchema: string;
  readonly outputSchema: string;
  readonly input: readonly Port[];
  /** True when the input type forbids members that it does not declare. */
  readonly closedInput?: boolean;
  readonly output: readonly Variant[];
  /** What `ref` codecs name. */
  readonly definitions?: readonly (readonly [name: string, codec: Codec])[];
}
