/**
 * The contract that svc-gen derives from one tool class (protocol.md sections 1 and 2).
 *
 * A contract is plain ordered data and independent of the tool class: a project's `contracts.ts` imports no tool, and a
 * tool imports no generated code.
 */

/** Bounds of a number. */
export interface NumberBounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/** Bounds of an exact integer, as decimal digits, since they may exceed 2^53. */
export type IntegerBounds = { readonly [Keyword in keyof NumberBounds]: string };

/** Constraints of a text. */
export interface TextConstraints {
  /** In code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Regular expressions with the flag `u`, all required: those of a template literal type and of `@pattern`. */
  readonly patterns?: readonly string[];
  /** A key of `formats`. */
  readonly format?: string;
}

/** Constraints of a list. */
export interface ListConstraints {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
}

/**
 * JSON encoding of one TypeScript type, with the constraints of its values. Decoding checks types and constraints;
 * encoding checks types, and constraints only where a union chooses a branch by them.
 */
export type Codec =
  /**
   * Any JSON value (`unknown`, `any`, `object`). Integers beyond ±(2^53−1) are bigints. Each constraint applies to
   * values of its own kind.
   */
  | ({ readonly kind: "json"; readonly except?: "null" | "primitives" } & NumberBounds &
      Omit<TextConstraints, "format"> &
      ListConstraints)
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  | ({ readonly kind: "string" } & TextConstraints)
  /**
   * A JavaScript number. An integer text beyond ±(2^53−1), of any length, is refused. `integer`: declared with `@asType
   * integer`.
   */
  | ({ readonly kind: "number"; readonly integer?: boolean } & NumberBounds)
  /** One literal or a union of literals, enums included. */
  | { readonly kind: "literal"; readonly values: readonly (string | number | boolean | null)[] }
  /** An exact integer: −2^63 to 2^64−1, narrowed by `format`. */
  | ({ readonly kind: "bigint"; readonly format?: "int64" | "uint64" } & IntegerBounds)
  /** A `Date`, as an RFC 3339 date-time string. */
  | { readonly kind: "date" }
  /** A `Uint8Array`, as canonical standard base64 with padding. */
  | { readonly kind: "bytes" }
  | ({ readonly kind: "array"; readonly item: Codec } & ListConstraints)
  /** A `WithSerdeErrorPath`, as its value. */
  | { readonly kind: "wrapped"; readonly item: Codec }
  /** `items`, of which the last `optional` may be missing, then any number of `rest`, then exactly `tail`. */
  | ({
      readonly kind: "tuple";
      readonly items: readonly Codec[];
      readonly optional?: number;
      readonly rest?: Codec;
      readonly tail?: readonly Codec[];
    } & ListConstraints)
  /**
   * Members in declared order, then members of index signatures, sorted by name. `patterns` are the types of members by
   * matching name, `rest` is the type of every other member. With `patterns`, even empty, and no `rest`, the type
   * forbids other members.
   */
  | {
      readonly kind: "object";
      readonly members: readonly ContractMember[];
      readonly patterns?: readonly (readonly [pattern: string, codec: Codec])[];
      readonly rest?: Codec;
    }
  /**
   * A value uses the branch that it fits, including constraints. If several fit, it uses the first of those with the
   * fewest undeclared members.
   */
  | { readonly kind: "union"; readonly branches: readonly Codec[] }
  /** A definition of the contract, by name, for recursive types. */
  | { readonly kind: "ref"; readonly name: string };

/** One declared member of an object. An optional member may be absent, `null` or `undefined`, with the same meaning. */
export interface ContractMember {
  readonly name: string;
  readonly optional?: boolean;
  readonly codec: Codec;
}

/** One port, in schema order. The codec of a `many` port describes one of its values. */
export interface Port {
  readonly name: string;
  readonly many: boolean;
  /** The type of the whole list of a `many` input, present when the list is a tuple or has constraints of its own. */
  readonly list?: Extract<Codec, { readonly kind: "array" | "tuple" }>;
  /** Whether the member is optional: a `one` port, `null` on the wire when absent. */
  readonly optional?: boolean;
  /** Whether an output port accepts references to stored values (`DataRef`). */
  readonly held?: boolean;
  readonly codec: Codec;
}

/** One output variant. `text`: declared as a string literal, so the tool returns `"done"` instead of `{done: {}}`. */
export interface Variant {
  readonly name: string;
  readonly text?: boolean;
  readonly ports: readonly Port[];
}

/** Everything that svc-gen derives from one tool. */
export interface Contract {
  /** Fully qualified name, with its version in the shortest form. */
  readonly fqn: string;
  readonly description: string;
  /** The class's `path()`. */
  readonly path: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** JSON text, because the textual order of members is the order of the ports. */
  readonly inputSchema: string;
  readonly outputSchema: string;
  readonly input: readonly Port[];
  /** Whether the input type forbids undeclared members. */
  readonly closedInput?: boolean;
  readonly output: readonly Variant[];
  /** The environment variables of the class's `variables()`. A name that ends in `?` is optional. */
  readonly variables?: readonly (readonly [name: string, description: string])[];
  /** Targets of `ref` codecs. */
  readonly definitions?: readonly (readonly [name: string, codec: Codec])[];
}
