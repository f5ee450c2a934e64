/**
 * Values as the schemas of a tool's metadata say: what a client can know without the contract. Exact integers are
 * `bigint`, dates `Date` and bytes `Uint8Array` where the schema names their format.
 */

import { decodeBase64 } from "../wire/base64.js";
import { parseDateTime } from "../wire/date-time.js";
import { type Path, pathText } from "../wire/fault.js";
import { setMember } from "../wire/untyped-json.js";
import { LeaderError } from "./error.js";

type Schema = Readonly<Record<string, unknown>>;

/** References that are followed without entering a value. A longer chain is a circle. */
const MAX_HOPS = 64;

/** Pairs of schema and value that are judged for one result. Beyond them the values stay as they are. */
const MAX_JUDGEMENTS = 1_000_000;

/** Reads values by one schema document. */
export class SchemaValues {
  readonly #root: Schema;
  /** Whether a value fits a schema, so that no pair is judged twice. A pair that is being judged does not fit. */
  #judged = new Map<Schema, Map<unknown, boolean>>();
  #judgements = 0;
  readonly #hasIntegers: boolean;

  /** @param text a schema of the metadata; it was parsed before */
  constructor(text: string) {
    this.#root = asSchema(JSON.parse(text));
    this.#hasIntegers = text.includes('"integer"');
  }

  /**
   * A result by the schema of the output. A value that does not fit its schema stays as it is.
   *
   * @param value the ports of the result, with plain values
   */
  output(tag: string, value: Readonly<Record<string, unknown>>): unknown {
    const variants = listOf(this.#root.oneOf);
    if (variants.some((variant) => variant.const === tag)) return tag;
    const schema = variants.map((variant) => memberOf(variant.properties, tag)).find((found) => found !== undefined);
    const output: Record<string, unknown> = {};
    setMember(output, tag, schema === undefined ? value : this.#revive(schema, value, 0));
    this.#judged = new Map();
    this.#judgements = 0;
    return output;
  }

  /**
   * Checks the integers of an input.
   *
   * @param input has a JSON form, so it has no circles
   * @throws {@link LeaderError} `invalid_input` for a number beyond ±(2^53−1) in place of an integer, whose last digits are lost
   */
  checkInput(input: object): void {
    if (!this.#hasIntegers) return;
    for (const [name, value] of Object.entries(input)) {
      const schema = memberOf(this.#root.properties, name);
      if (schema !== undefined) this.#check(schema, value, [name], 0);
    }
  }

  #check(schema: Schema, value: unknown, path: Path, hops: number): void {
    const target = this.#target(schema, hops);
    if (typeof value === "number") {
      const types = typesOf(target);
      const wantsInteger = types.includes("integer") && !types.includes("number");
      if (!wantsInteger || !Number.isInteger(value) || Number.isSafeInteger(value)) return;
      const got = "expected an integer, got a number beyond ±(2^53-1), which has lost digits";
      throw new LeaderError("invalid_input", `${pathText(path)}: ${got}: give a bigint, such as 2n ** 60n`);
    }
    if (Array.isArray(value)) {
      for (const [i, item] of value.entries()) this.#check(itemSchema(target, i), item, [...path, i], 0);
    } else if (isPlain(value)) {
      for (const [name, member] of Object.entries(value)) {
        const own = memberOf(target.properties, name) ?? asSchema(target.additionalProperties);
        this.#check(own, member, [...path, name], 0);
      }
    }
  }

  #revive(schema: Schema, value: unknown, hops: number): unknown {
    const target = this.#target(schema, hops);
    const branches = listOf(target.anyOf);
    if (branches.length > 0) {
      if (this.#judgements > MAX_JUDGEMENTS) return value;
      const branch = hops < MAX_HOPS ? branches.find((each) => this.#fits(each, value)) : undefined;
      return branch === undefined ? value : this.#revive(branch, value, hops + 1);
    }
    if (typeof value === "number" || typeof value === "bigint") {
      const isExact = target.format === "int64" || target.format === "uint64";
      return isExact && isInteger(value) ? BigInt(value) : value;
    }
    if (typeof value === "string") {
      if (target.contentEncoding === "base64") return bytesOf(value) ?? value;
      return target.format === "date-time" ? (parseDateTime(value) ?? value) : value;
    }
    if (Array.isArray(value)) return value.map((item, i) => this.#revive(itemSchema(target, i), item, 0));
    if (!isPlain(value)) return value;
    const required = Array.isArray(target.required) ? setOf(target.required) : undefined;
    const members: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const own = memberOf(target.properties, name);
      // An absent optional member is sent as null.
      if (member === null && own !== undefined && required?.has(name) !== true) continue;
      setMember(members, name, this.#revive(own ?? otherMember(target), member, 0));
    }
    return members;
  }

  #fits(schema: Schema, value: unknown): boolean {
    let judged = this.#judged.get(schema);
    if (judged === undefined) {
      judged = new Map();
      this.#judged.set(schema, judged);
    }
    const known = judged.get(value);
    if (known !== undefined) return known;
    if (++this.#judgements > MAX_JUDGEMENTS) return false;
    judged.set(value, false);
    const fits = this.#judge(this.#target(schema, 0), value);
    judged.set(value, fits);
    return fits;
  }

  #judge(schema: Schema, value: unknown): boolean {
    if (Object.hasOwn(schema, "const") && schema.const !== value) return false;
    if (Array.isArray(schema.enum) && !setOf(schema.enum).has(value)) return false;
    const types = typesOf(schema);
    if (types.length > 0 && !types.some((type) => hasType(type, value))) return false;
    const branches = listOf(schema.anyOf);
    if (branches.length > 0 && !branches.some((branch) => this.#fits(branch, value))) return false;
    if (typeof value === "string") {
      if (schema.contentEncoding === "base64" && bytesOf(value) === undefined) return false;
      return schema.format !== "date-time" || parseDateTime(value) !== undefined;
    }
    if (Array.isArray(value)) return value.every((item, i) => this.#fits(itemSchema(schema, i), item));
    if (!isPlain(value)) return true;
    const members = Object.entries(value);
    const required = Array.isArray(schema.required) ? setOf(schema.required) : NO_NAMES;
    if (required.size > members.length) return false;
    for (const name of required) if (typeof name === "string" && !Object.hasOwn(value, name)) return false;
    return members.every(([name, member]) => {
      const own = memberOf(schema.properties, name);
      if (own === undefined && schema.additionalProperties === false) return false;
      return this.#fits(own ?? otherMember(schema), member);
    });
  }

  /** The schema behind references. */
  #target(schema: Schema, hops: number): Schema {
    let target = schema;
    for (let left = MAX_HOPS - hops; typeof target.$ref === "string"; left--) {
      const name = /^#\/\$defs\/(.+)$/.exec(target.$ref)?.[1];
      const next = name === undefined ? undefined : memberOf(this.#root.$defs, name);
      if (next === undefined || left <= 0) return NOTHING;
      target = next;
    }
    return target;
  }
}

/** A schema that says nothing. */
const NOTHING: Schema = {};

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : NOTHING;
}

const NO_NAMES: ReadonlySet<unknown> = new Set();

// Metadata of a stranger may have lists of a hundred thousand items, and a result as many values: no list is walked for
// every value.
const lists = new WeakMap<readonly unknown[], readonly Schema[]>();
const sets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

function listOf(value: unknown): readonly Schema[] {
  if (!Array.isArray(value)) return [];
  const list = lists.get(value) ?? value.map(asSchema);
  lists.set(value, list);
  return list;
}

function setOf(values: readonly unknown[]): ReadonlySet<unknown> {
  const set = sets.get(values) ?? new Set(values);
  sets.set(values, set);
  return set;
}

function memberOf(members: unknown, name: string): Schema | undefined {
  return typeof members === "object" && members !== null && Object.hasOwn(members, name)
    ? asSchema((members as Schema)[name])
    : undefined;
}

/** The schema of a member that is not declared. Patterns are not read: they are a tool's, and may be slow. */
function otherMember({ patternProperties, additionalProperties }: Schema): Schema {
  const patterns = Object.values(asSchema(patternProperties));
  return patterns.length === 1 ? asSchema(patterns[0]) : asSchema(additionalProperties);
}

function itemSchema({ prefixItems, items }: Schema, i: number): Schema {
  return Array.isArray(prefixItems) && i < prefixItems.length ? asSchema(prefixItems[i]) : asSchema(items);
}

function typesOf({ type }: Schema): readonly unknown[] {
  return type === undefined ? [] : [type].flat();
}

function hasType(type: unknown, value: unknown): boolean {
  switch (type) {
    case "integer":
      return isInteger(value);
    case "number":
      return typeof value === "number" || typeof value === "bigint";
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value));
}

/** Whether a value is an object of plain JSON, not a reference to a stored value. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function bytesOf(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes && Uint8Array.from(bytes);
}
