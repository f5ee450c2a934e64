/**
 * What generated code hands over: the contract that svc-gen derives from one tool class (protocol.md sections 1 and 2).
 *
 * A contract is plain ordered data and one validator. Nothing here depends on the tool class, so `contracts.ts` of a
 * project imports no tool, and a tool imports no generated code.
 */

/**
 * How one TypeScript type is written to JSON and read back. Everything that JSON cannot say by itself (exact integers,
 * dates, bytes, declared order, optional members) is here; the rest of the type is left to the schema validator.
 */
export type Codec =
  /** Any JSON value as it stands (`unknown`, `any`, `object`). Integers beyond ±(2^53−1) are bigints in it. */
  | { readonly kind: "json" }
  | { readonly kind: "null" }
  | { readonly kind: "boolean" }
  /** `pattern`: of a template literal type, where a union chooses by it (the validator checks it anyway). */
  | { readonly kind: "string"; readonly pattern?: string }
  /** A JavaScript number; an integer text beyond ±(2^53−1) is refused. `integer`: declared with `@asType integer`. */
  | { readonly kind: "number"; readonly integer?: boolean }
  /** A union of literals (or one), enums included. */
  | { readonly kind: "literal"; readonly values: readonly (string | number | boolean | null)[] }
  /** An exact integer: −2^63 to 2^64−1, narrowed by `format`. */
  | { readonly kind: "bigint"; readonly format?: "int64" | "uint64" }
  /** A `Date`, as an RFC 3339 date-time string. */
  | { readonly kind: "date" }
  /** A `Uint8Array`, as canonical standard base64 with padding. */
  | { readonly kind: "bytes" }
  | { readonly kind: "array"; readonly item: Codec }
  /** `items` of which the last `optional` may be missing, then any number of `rest`, then exactly `tail`. */
  | {
      readonly kind: "tuple";
      readonly items: readonly Codec[];
      readonly optional?: number;
      readonly rest?: Codec;
      readonly tail?: readonly Codec[];
    }
  /**
   * Members in declared order, then those of index signatures, sorted by name. `patterns` are the types of members whose
   * names match, `rest` that of every other member; with patterns and no `rest` there are no others. Without patterns
   * names are left to the validator: patterns are here where a codec has to tell members or branches apart by names.
   */
  | {
      readonly kind: "object";
      readonly members: readonly Member[];
      readonly patterns?: readonly (readonly [pattern: string, codec: Codec])[];
      readonly rest?: Codec;
    }
  /** Of the branches that the value fits, the first of those that leave the fewest of its members out. */
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

/** One complaint of a validator, in ajv's form. */
export interface ValidatorError {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  readonly schemaPath?: string;
}

/**
 * A precompiled check of a whole input (ajv standalone code): an object with one member per port, before conversion, so
 * that bigints, dates and bytes are still what JSON had. Sets `errors` when it returns false.
 */
export interface Validator {
  (input: unknown): boolean;
  errors?: readonly ValidatorError[] | null;
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
  readonly validateInput: Validator;
}
