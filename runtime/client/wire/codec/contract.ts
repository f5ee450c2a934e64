/**
 * The contract that svc-gen derives from a tool class (protocol.md sections 1 and 2).
 *
 * Contracts are plain data: `contracts.ts` imports no tool, and tools import no generated code.
 */

/** Bounds of a number. */
export interface NumberBounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
}

/** Bounds of an exact integer as decimal digits, because they may exceed 2^53. */
export type IntegerBounds = { readonly [Keyword in keyof NumberBounds]: string };

/** Constraints of a text. */
export interface TextConstraints {
  /** In code points. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /**
   * Regular expressions with the flag `u`, from a template literal type and from `@pattern`. A text must match all of
   * them.
   */
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
 * JSON encoding of one TypeScript type, with the constraints of its values. Decoding checks types and constraints.
 * Encoding checks types; it checks constraints only in a union, to choose the branch.
 */
export type Codec =
  /**
   * Any JSON value (`unknown`, `any`, `object`). Integers beyond ±(2^53−1) are bigints. Each constraint applies only to
   * values of its kind: `minimum` to numbers, for example.
   */
  | ({ readonly kind: "json"; readonly except?: "null" | "primitives" } & NumberBounds &
      Omit<TextConstraints, "format"> &
      ListConstraints)
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  | ({ readonly kind: "string" } & TextConstraints)
  /**
   * A JavaScript number. An integer text beyond ±(2^53−1), of any length, is a mismatch. `integer` is set by `@asType
   * integer`.
   */
  | ({ readonly kind: "number"; readonly integer?: boolean } & NumberBounds)
  /** One literal or a union of literals; includes enums. */
  | { readonly kind: "literal"; readonly values: readonly (string | number | boolean | null)[] }
  /** An exact integer: −2^63 to 2^64−1, narrowed by `format`. */
  | ({ readonly kind: "bigint"; readonly format?: "int64" | "uint64" } & IntegerBounds)
  /** A `Date`, as an RFC 3339 date-time string. */
  | { readonly kind: "date" }
  /** A `Uint8Array`, as canonical standard base64 with padding. */
  | { readonly kind: "bytes" }
  | ({ readonly kind: "array"; readonly item: Codec } & ListConstraints)
  /** A `WithSerdeErrorPath`, sent as its value. */
  | { readonly kind: "wrapped"; readonly item: Codec }
  /** The `items`, of which the last `optional` may be missing; then any number of `rest`; then exactly `tail`. */
  | ({
      readonly kind: "tuple";
      readonly items: readonly Codec[];
      readonly optional?: number;
      readonly rest?: Codec;
      readonly tail?: readonly Codec[];
    } & ListConstraints)
  /**
   * Members in declared order, then members of index signatures, sorted by name. `patterns` are the types of members
   * whose name matches; `rest` is the type of all other members. If `patterns` is set, even if empty, and `rest` is
   * not, other members are forbidden.
   */
  | {
      readonly kind: "object";
      readonly members: readonly ContractMember[];
      readonly patterns?: readonly (readonly [pattern: string, codec: Codec])[];
      readonly rest?: Codec;
    }
  /**
   * Uses the branch that the value fits, including its constraints. If several fit, uses the first of those with the
   * fewest undeclared members.
   */
  | { readonly kind: "union"; readonly branches: readonly Codec[] }
  /** Reference to a definition of the contract, for recursive types. */
  | { readonly kind: "ref"; readonly name: string };

/** Codec of one kind, or of several. */
export type CodecOf<Kind extends Codec["kind"]> = Extract<Codec, { readonly kind: Kind }>;

/** One declared member of an object. For an optional member, absent, `null` and `undefined` mean the same. */
export interface ContractMember {
  readonly name: string;
  readonly optional?: boolean;
  readonly codec: Codec;
}

/** One input or output port. The codec of a `many` port describes one of its values. */
export interface Port {
  readonly name: string;
  readonly many: boolean;
  /** Type of the whole list of a `many` port, if it is a tuple or has constraints. */
  readonly list?: CodecOf<"array" | "tuple">;
  /** Whether the member is optional. Such a port is always a `one` port; it is `null` on the wire if absent. */
  readonly optional?: boolean;
  /** Whether an output port accepts references to stored values (`DataRef`). */
  readonly held?: boolean;
  readonly codec: Codec;
}

/**
 * One output variant. `text` is set if it is declared as a string literal: the tool returns `"done"`, not `{done: {}}`.
 */
export interface Variant {
  readonly name: string;
  readonly text?: boolean;
  readonly ports: readonly Port[];
}

/**
 * What a tool does, for hosts that ask a person before some calls. A hint that the class does not give is absent. Hints
 * are neither in the metadata document nor signed.
 */
export interface ToolHints {
  readonly readOnly?: boolean;
  /** Whether a second run with the same input has no further effect. */
  readonly idempotent?: boolean;
  readonly destructive?: boolean;
  /** Whether the tool reaches systems outside its own. */
  readonly openWorld?: boolean;
}

export interface Contract {
  /** Fully qualified name, with its version in the shortest form. */
  readonly fqn: string;
  readonly description: string;
  /** Result of the class's `path()`. */
  readonly path: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** JSON text instead of an object, because the textual order of members is the order of the ports. */
  readonly inputSchema: string;
  readonly outputSchema: string;
  readonly input: readonly Port[];
  /** Whether the input type forbids undeclared members. */
  readonly closedInput?: boolean;
  readonly output: readonly Variant[];
  /** Environment variables from the class's `variables()`. A name that ends in `?` is optional. */
  readonly variables?: readonly (readonly [name: string, description: string])[];
  readonly hints?: ToolHints;
  /** Targets of `ref` codecs, by name. */
  readonly definitions?: readonly (readonly [name: string, codec: Codec])[];
}
