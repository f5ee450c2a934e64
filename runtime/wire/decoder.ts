/**
 * From checked JSON to typed values: one walk over codec and tape (protocol.md section 5). It checks kinds, ranges and
 * constraints and makes the value in the same step, so that what a tool gets is what was checked. What no type asks for is
 * passed over and never made. Each pair of codec and value is judged at most once.
 */

import { decodeBase64 } from "./base64.js";
import { repeatedItem } from "./comparable.js";
import { countCheck, integerCheck, numberCheck, textCheck } from "./constraints.js";
import type { Codec, Contract } from "./contract.js";
import { parseDateTime } from "./date-time.js";
import { WireFault } from "./fault.js";
import {
  ARRAY,
  DOUBLE,
  ESCAPED_STRING,
  FALSE,
  hasRepeatedName,
  isStringOf,
  type JsonDocument,
  LARGE_INTEGER,
  NULL,
  OBJECT,
  parseJson,
  SMALL_INTEGER,
  STRIDE,
  STRING,
  scalarOf,
  stringOf,
  TRUE,
} from "./json.js";
import { JsonError } from "./json-error.js";
import { bigintRange, literalMismatch, Mismatch } from "./mismatch.js";
import { chooseBranch, compileIndexes, type Tally } from "./union-choice.js";
import { plainValueOf, setMember } from "./untyped-json.js";

/** Makes the tool's value of an entry, or says why it cannot. */
export type Decode = (document: JsonDocument, entry: number, reading: Reading) => unknown;

/** What one reading of one document knows beside its values. */
export class Reading implements Tally {
  passedOver = 0;
  private readonly decoded = new Map<Decode, Map<number, Decoded>>();

  /** @param strict whether a declared member that is repeated is a fault; else its last value counts */
  constructor(readonly strict: boolean) {}

  /**
   * What a definition made of an entry before: branches of a union that try the same one share the work. What a literal
   * refused is not kept, since that is found again at once, and a body may hold millions.
   */
  once(decode: Decode, entry: number, make: () => unknown): unknown {
    let known = this.decoded.get(decode);
    if (known === undefined) {
      known = new Map();
      this.decoded.set(decode, known);
    }
    const before = this.passedOver;
    let made = known.get(entry);
    if (made === undefined) {
      const value = make();
      if (value instanceof Mismatch && value.isOfAnotherBranch) return value;
      made = { value, passedOver: this.passedOver - before };
      known.set(entry, made);
    }
    this.passedOver = before + made.passedOver;
    return made.value instanceof Mismatch ? made.value.copy() : made.value;
  }
}

/** What was made of an entry, and how many members were passed over in it. */
interface Decoded {
  readonly value: unknown;
  readonly passedOver: number;
}

/** Decodes single values by codec. */
export class ValueDecoder {
  private readonly decode: Decode;

  constructor(codec: Codec, definitions: Contract["definitions"] = []) {
    this.decode = new DecoderCompiler(definitions).compile(codec);
  }

  /**
   * Reads one JSON text.
   *
   * @throws {@link WireFault} `input_deserialization_error` with the member's path
   */
  read(bytes: Uint8Array): unknown {
    const value = this.decode(readInput("", bytes), 0, new Reading(false));
    if (value instanceof Mismatch) throw inputFault(value.describe());
    return value;
  }
}

export const inputFault = (details: string) => new WireFault("input_deserialization_error", details);

/** Checks a text; one that is no JSON is a fault of its place. */
export function readInput(place: string, bytes: Uint8Array): JsonDocument {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) throw inputFault(`${place === "" ? "" : `${place}: `}not JSON: ${error.message}`);
    throw error;
  }
}

const KINDS: Readonly<Record<number, string>> = {
  [NULL]: "null",
  [FALSE]: "a boolean",
  [TRUE]: "a boolean",
  [SMALL_INTEGER]: "a number",
  [LARGE_INTEGER]: "an integer",
  [DOUBLE]: "a number",
  [STRING]: "a string",
  [ESCAPED_STRING]: "a string",
  [ARRAY]: "an array",
  [OBJECT]: "an object",
};

/** What an entry is, in words. */
export function kindOfEntry({ tape }: JsonDocument, entry: number): string {
  return KINDS[tape[entry] as number] as string;
}

/** The text of a string entry; undefined for any other. */
function textOfEntry(document: JsonDocument, entry: number): string | undefined {
  const kind = document.tape[entry];
  return kind === STRING || kind === ESCAPED_STRING ? stringOf(document, entry) : undefined;
}

export const repeatedMember = () => new Mismatch("the member once", "it twice");

/** The names of an object's members, compared as bytes: a text is made of a name with escapes only. */
export class MemberNames {
  private readonly bytes: readonly Buffer[];
  private readonly byLength = new Map<number, number[]>();
  private readonly byName: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.bytes = names.map((name) => Buffer.from(name));
    this.byName = new Map(names.map((name, index) => [name, index]));
    for (const [index, { length }] of this.bytes.entries()) {
      const known = this.byLength.get(length);
      if (known === undefined) this.byLength.set(length, [index]);
      else known.push(index);
    }
  }

  /** The index of the name that a key has, −1 when it has none. `expected`: the one that comes next in declared order. */
  indexOf(document: JsonDocument, key: number, expected: number): number {
    const next = this.bytes[expected];
    if (next !== undefined && isStringOf(document, key, next)) return expected;
    const { tape } = document;
    if (tape[key] === ESCAPED_STRING) return this.byName.get(stringOf(document, key)) ?? -1;
    const candidates = this.byLength.get((tape[key + 2] as number) - (tape[key + 1] as number) - 2);
    if (candidates === undefined) return -1;
    if (candidates.length > MANY_NAMES) return this.byName.get(stringOf(document, key)) ?? -1;
    for (const index of candidates) if (isStringOf(document, key, this.bytes[index] as Buffer)) return index;
    return -1;
  }
}

/** Names of one length up to which comparing each of them is faster than making a text. */
const MANY_NAMES = 8;

/** Turns codecs into closures, once, at start-up. */
export class DecoderCompiler {
  /** Whether a value may be tried against several branches. */
  private unions = false;
  private readonly definitions: ReadonlyMap<string, Codec>;
  private readonly compiled = new Map<string, Decode>();

  constructor(definitions: NonNullable<Contract["definitions"]>) {
    this.definitions = new Map(definitions);
  }

  compile(codec: Codec): Decode {
    switch (codec.kind) {
      case "json":
        return this.json(codec);
      case "null":
        return (document, entry) =>
          document.tape[entry] === NULL ? null : new Mismatch("null", kindOfEntry(document, entry));
      case "boolean":
        return (document, entry) => {
          const kind = document.tape[entry];
          return kind === TRUE || (kind === FALSE ? false : new Mismatch("a boolean", kindOfEntry(document, entry)));
        };
      case "string": {
        const check = textCheck(codec);
        return (document, entry) => {
          const text = textOfEntry(document, entry);
          if (text === undefined) return new Mismatch("a string", kindOfEntry(document, entry));
          return check?.(text) ?? text;
        };
      }
      case "number":
        return this.number(codec);
      case "literal": {
        const values = new Set<unknown>(codec.values);
        const mismatch = literalMismatch(codec.values);
        return (document, entry) => {
          if ((document.tape[entry] as number) >= ARRAY) return mismatch(kindOfEntry(document, entry));
          const value = scalarOf(document, entry);
          return values.has(value) ? value : mismatch(kindOfEntry(document, entry));
        };
      }
      case "bigint":
        return this.bigint(codec);
      case "date":
        return (document, entry) => {
          const text = textOfEntry(document, entry);
          const date = text === undefined ? undefined : parseDateTime(text);
          return date ?? new Mismatch("an RFC 3339 date-time", kindOfEntry(document, entry));
        };
      case "bytes":
        return (document, entry) => {
          const text = textOfEntry(document, entry);
          const bytes = text === undefined ? undefined : decodeBase64(text);
          return bytes === undefined
            ? new Mismatch("standard base64 with padding", kindOfEntry(document, entry))
            : ownBytes(bytes);
        };
      case "array":
      case "tuple": {
        const list = this.list(codec);
        return (document, entry, reading) => list.decode(document, entry, reading);
      }
      case "object":
        return this.object(codec);
      case "union": {
        this.unions = true;
        const branches = codec.branches.map((branch) => this.compile(branch));
        return (document, entry, reading) =>
          chooseBranch(branches, reading, (branch) => branch(document, entry, reading));
      }
      case "ref":
        return this.reference(codec.name);
    }
  }

  list(codec: ListCodec): ListDecoder {
    return new ListDecoder(codec, (item) => this.compile(item));
  }

  private json(codec: Extract<Codec, { kind: "json" }>): Decode {
    const { except } = codec;
    const checkNumber = numberCheck(codec);
    const checkText = textCheck(codec);
    const checkCount = countCheck(codec);
    const unique = codec.uniqueItems === true;
    const array = (document: JsonDocument, entry: number) => {
      const wrong = checkCount?.(itemCount(document, entry));
      if (wrong !== undefined) return wrong;
      const items = plainValueOf(document, entry) as unknown[];
      return (unique ? repeatedItem(items) : undefined) ?? items;
    };
    return (document, entry) => {
      const kind = document.tape[entry] as number;
      if (except === "null" && kind === NULL) return new Mismatch("a value", "null");
      if (except === "primitives" && kind < ARRAY) {
        return new Mismatch("an object or an array", kindOfEntry(document, entry));
      }
      if (kind === ARRAY) return array(document, entry);
      if (kind === OBJECT) return plainValueOf(document, entry);
      const value = scalarOf(document, entry);
      if (typeof value === "string") return checkText?.(value) ?? value;
      return (typeof value === "number" || typeof value === "bigint" ? checkNumber?.(value) : undefined) ?? value;
    };
  }

  private number(codec: Extract<Codec, { kind: "number" }>): Decode {
    const integer = codec.integer === true;
    const expected = integer ? "an integer within ±(2^53-1)" : "a number";
    const check = numberCheck(codec);
    return (document, entry) => {
      const kind = document.tape[entry];
      if (kind === LARGE_INTEGER) return new Mismatch("a number within ±(2^53-1)", "an integer beyond it");
      if (kind !== SMALL_INTEGER && kind !== DOUBLE) return new Mismatch(expected, kindOfEntry(document, entry));
      if (integer && kind === DOUBLE) return new Mismatch(expected, "a number that is no integer");
      const value = scalarOf(document, entry) as number;
      // serde's reading is not JavaScript's: at the edge of the range it has numbers that a double has not.
      if (!Number.isFinite(value)) return new Mismatch("a number within the range of doubles", "one beyond it");
      return check?.(value) ?? value;
    };
  }

  private bigint(codec: Extract<Codec, { kind: "bigint" }>): Decode {
    const { min, max, name } = bigintRange(codec.format);
    const check = integerCheck(codec);
    return (document, entry) => {
      const kind = document.tape[entry];
      if (kind === DOUBLE) return new Mismatch("an integer", "a number that is no integer");
      if (kind !== SMALL_INTEGER && kind !== LARGE_INTEGER) {
        return new Mismatch("an integer", kindOfEntry(document, entry));
      }
      const value = BigInt(scalarOf(document, entry) as number | bigint);
      if (value < min || value > max) return new Mismatch(name, "an integer outside its range");
      return check?.(value) ?? value;
    };
  }

  private object(codec: Extract<Codec, { kind: "object" }>): Decode {
    const declared = codec.members.map(({ name, optional, codec }) => ({
      name,
      optional: optional === true,
      decode: this.compile(codec),
      literal: codec.kind === "literal",
    }));
    const count = declared.length;
    // First what tells the branches of a union apart.
    const literals = [...declared.keys()].filter((i) => declared[i]?.literal && !declared[i]?.optional);
    const names = new MemberNames(declared.map(({ name }) => name));
    const decoderOf = compileIndexes(codec, (each) => this.compile(each));
    return (document, entry, reading) => {
      const { tape } = document;
      if (tape[entry] !== OBJECT) return new Mismatch("an object", kindOfEntry(document, entry));
      // The root is no member, so 0 is that of an absent one.
      const values = new Array<number>(count).fill(0);
      const repeated: number[] = [];
      const others = decoderOf === undefined ? undefined : new Map<string, number>();
      let passedOver = 0;
      const end = tape[entry + 3] as number;
      for (let key = entry + STRIDE, next = 0; key < end; key = tape[key + STRIDE + 3] as number) {
        const index = names.indexOf(document, key, next);
        if (index < 0) {
          if (others === undefined) passedOver++;
          else others.set(stringOf(document, key), key + STRIDE);
          continue;
        }
        if (reading.strict && values[index] !== 0) repeated.push(index);
        values[index] = key + STRIDE;
        next = index + 1;
      }
      for (const i of literals) {
        if (values[i] === 0) continue;
        const { name, decode } = declared[i] as (typeof declared)[number];
        const value = decode(document, values[i] as number, reading);
        if (value instanceof Mismatch) return value.within(name).asAnotherBranch();
      }
      const object: Record<string, unknown> = {};
      let fitting = 0;
      for (let i = 0; i < count; i++) {
        const { name, optional, decode } = declared[i] as (typeof declared)[number];
        const member = values[i] as number;
        if (repeated.includes(i)) return repeatedMember().within(name);
        if (member === 0 || (optional && tape[member] === NULL)) {
          if (!optional) return new Mismatch("a value", "nothing").within(name).after(fitting);
          continue;
        }
        const value = decode(document, member, reading);
        if (value instanceof Mismatch) return value.within(name).after(fitting);
        fitting++;
        setMember(object, name, value);
      }
      if (passedOver > 1 && this.unions && hasRepeatedName(document, entry)) {
        passedOver = distinctUndeclared(document, entry, names);
      }
      reading.passedOver += passedOver;
      if (others === undefined) return object;
      for (const [name, member] of others) {
        const decode = decoderOf?.(name);
        if (decode === undefined) return new Mismatch("only declared members", "another");
        const value = decode(document, member, reading);
        if (value instanceof Mismatch) return value.within("*");
        setMember(object, name, value);
      }
      return object;
    };
  }

  private reference(name: string): Decode {
    const codec = this.definitions.get(name);
    if (codec === undefined)
      throw new RangeError(`contract: a codec refers to ${JSON.stringify(name)}, which it lacks`);
    const known = this.compiled.get(name);
    if (known !== undefined) return known;
    // Registered before it is compiled, because the definition may contain itself.
    const decode: Decode = (document, entry, reading) =>
      this.unions && holdsContainer(document, entry)
        ? reading.once(decode, entry, () => target(document, entry, reading))
        : target(document, entry, reading);
    this.compiled.set(name, decode);
    const target = this.compile(codec);
    return decode;
  }
}

type ListCodec = Extract<Codec, { readonly kind: "array" | "tuple" }>;

/** Decodes lists; their items stand in one array, or each in a document of its own as the values of a `many` port do. */
export class ListDecoder {
  private readonly item: Decode | undefined;
  private readonly fixed: readonly Decode[] = [];
  private readonly tail: readonly Decode[] = [];
  /** Before which of the fixed items none may be missing. */
  private readonly required: number = 0;
  private readonly check: ((count: number) => Mismatch | undefined) | undefined;
  private readonly unique: boolean;

  constructor(codec: ListCodec, compile: (codec: Codec) => Decode) {
    const check = countCheck(codec);
    this.unique = codec.uniqueItems === true;
    if (codec.kind === "array") {
      this.item = compile(codec.item);
      this.check = check;
      return;
    }
    const { items, optional = 0, rest, tail = [] } = codec;
    this.fixed = items.map(compile);
    this.tail = tail.map(compile);
    this.item = rest === undefined ? undefined : compile(rest);
    this.required = items.length - optional;
    const least = this.required + tail.length;
    const most = rest === undefined ? items.length + tail.length : Number.POSITIVE_INFINITY;
    const range = most === least ? least : rest === undefined ? `${least} to ${most}` : `${least} or more`;
    this.check = (count) =>
      count < least || count > most ? new Mismatch(`an array of ${range} items`, `${count} items`) : check?.(count);
  }

  /** Decodes an array. */
  decode(document: JsonDocument, entry: number, reading: Reading): unknown {
    const { tape } = document;
    if (tape[entry] !== ARRAY) return new Mismatch("an array", kindOfEntry(document, entry));
    const count = this.check === undefined ? 0 : itemCount(document, entry);
    const wrong = this.check?.(count);
    if (wrong !== undefined) return wrong;
    const values: unknown[] = [];
    const end = tape[entry + 3] as number;
    for (let item = entry + STRIDE, i = 0; item < end; item = tape[item + 3] as number, i++) {
      const value = this.decodeItem(document, item, reading, i, count);
      if (value instanceof Mismatch) return value.within(i);
      values.push(value);
    }
    return (this.unique ? repeatedItem(values) : undefined) ?? values;
  }

  /** Decodes texts of one document each. */
  decodeEach(texts: readonly { readonly document: JsonDocument; readonly entry: number }[]): unknown {
    const wrong = this.check?.(texts.length);
    if (wrong !== undefined) return wrong;
    const values: unknown[] = [];
    for (const [i, { document, entry }] of texts.entries()) {
      const value = this.decodeItem(document, entry, new Reading(false), i, texts.length);
      if (value instanceof Mismatch) return value.within(i);
      values.push(value);
    }
    return (this.unique ? repeatedItem(values) : undefined) ?? values;
  }

  private decodeItem(document: JsonDocument, entry: number, reading: Reading, i: number, count: number): unknown {
    const { fixed, tail } = this;
    if (fixed.length === 0 && tail.length === 0) return (this.item as Decode)(document, entry, reading);
    // An optional item that is null is absent, like an optional member.
    if (i >= this.required && i < fixed.length && document.tape[entry] === NULL) return undefined;
    const fromEnd = count - i;
    const decode = fromEnd <= tail.length ? tail[tail.length - fromEnd] : (fixed[i] ?? this.item);
    return (decode as Decode)(document, entry, reading);
  }
}

/** Whether a container holds another: only then may branches of a union try one thing again and again. */
function holdsContainer({ tape }: JsonDocument, entry: number): boolean {
  const end = tape[entry + 3] as number;
  for (let inner = entry + STRIDE; inner < end; inner += STRIDE) if ((tape[inner] as number) >= ARRAY) return true;
  return false;
}

/** The names of undeclared members, each once: of a repeated one only the last counts. */
function distinctUndeclared(document: JsonDocument, entry: number, names: MemberNames): number {
  const { tape } = document;
  const distinct = new Set<string>();
  const end = tape[entry + 3] as number;
  for (let key = entry + STRIDE; key < end; key = tape[key + STRIDE + 3] as number) {
    if (names.indexOf(document, key, -1) < 0) distinct.add(stringOf(document, key));
  }
  return distinct.size;
}

function itemCount({ tape }: JsonDocument, array: number): number {
  let count = 0;
  const end = tape[array + 3] as number;
  for (let item = array + STRIDE; item < end; item = tape[item + 3] as number) count++;
  return count;
}

/** Bytes with a buffer of their own: small Buffers share one with the rest of the process. */
function ownBytes(bytes: Buffer): Uint8Array {
  return bytes.buffer.byteLength === bytes.length ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}
