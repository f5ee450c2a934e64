/**
 * Decodes checked JSON to typed values in one walk over codec and tape (protocol.md section 5). Checks kinds, ranges
 * and constraints during this walk, so a tool receives exactly the values that were checked. Skips undeclared members.
 */

import { decodeOwnBase64 } from "../base64.js";
import { asBuffer } from "../bytes.js";
import { formatDateTime, parseDateTime } from "../date-time.js";
import { inputFault } from "../fault.js";
import {
  ARRAY,
  after,
  DOUBLE,
  endAt,
  FALSE,
  firstIn,
  hasRepeatedName,
  holdsContainer,
  itemCount,
  type JsonDocument,
  kindAt,
  LARGE_INTEGER,
  NULL,
  OBJECT,
  SMALL_INTEGER,
  startAt,
  TRUE,
  valueCount,
  valueOfKey,
} from "../json/document.js";
import { JsonError } from "../json/error.js";
import { entryKind, scalarOf, stringOf, stringValueOf } from "../json/read.js";
import { parseJson } from "../json/scan.js";
import { plainValueOf, setAbsent, setMember } from "../json/untyped-json.js";
import { bigintRange } from "../kinds.js";
import { repeatedItem } from "./comparable.js";
import { countCheck, type Formats, integerCheck, numberCheck, textCheck } from "./constraints.js";
import type { Codec, CodecOf, Contract } from "./contract.js";
import { type Decode, DecodeContext, type Steps } from "./decode-context.js";
import { Definitions } from "./definitions.js";
import { listCheck, mapTuple, type TupleParts, tuplePart } from "./list-parts.js";
import { MemberNames } from "./member-names.js";
import { literalMismatch, Mismatch } from "./mismatch.js";
import { discriminatorOf } from "./union/discriminator.js";
import { compileIndexes, type Tally } from "./union/union-choice.js";
import { unionDecoder } from "./union/union-decoder.js";

export { type Decode, DecodeContext } from "./decode-context.js";

/** A double that the sender may have rounded from an integer. */
const ROUNDED = "a double beyond +/-(2^53-1): send all digits, in JavaScript a bigint";

export interface DecoderOptions {
  /** Creates the value of a `wrapped` codec, a `WithSerdeErrorPath`; by default the inner value. */
  readonly wrap?: (value: unknown) => unknown;
  /** By default, no format is checked. */
  readonly formats?: Formats;
  /** Whether values are results, which are checked by type only, as servers check them. */
  readonly isResult?: boolean;
}

export class ValueDecoder {
  readonly #decode: Decode;

  constructor(codec: Codec, definitions: Contract["definitions"] = [], options?: DecoderOptions) {
    this.#decode = new DecoderCompiler(definitions, options).compile(codec);
  }

  /**
   * Reads one JSON text.
   *
   * @throws {@link WireFault} `input_deserialization_error` with the member's path
   */
  read(bytes: Uint8Array): unknown {
    const value = this.#decode(readInput("", bytes), 0, new DecodeContext(false));
    if (value instanceof Mismatch) throw inputFault(value.describe());
    return value;
  }
}

/**
 * Parses a text of the input.
 *
 * @param place path of the text, for the error message
 * @throws {@link WireFault} if the text is not JSON
 */
export function readInput(place: string, bytes: Uint8Array): JsonDocument {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    // What curl and browsers send by default.
    const isForm = place === "body" && /^(?:--\S|[\w.%+-]{1,128}=)/.test(asBuffer(bytes).toString("latin1", 0, 200));
    const reason = isForm ? "expected a JSON object, got a form" : error.message;
    throw inputFault(`${place === "" ? "" : `${place}: `}not JSON: ${reason}`);
  }
}

export const missingMember = () => new Mismatch("a value", "nothing");
export const repeatedMember = () => new Mismatch("the member once", "it twice");

/** Compiles codecs to closures, at start-up. */
export class DecoderCompiler {
  /** Whether a compiled codec is a union, so several branches may decode the same value. */
  hasUnion = false;
  readonly #definitions: Definitions<Decode>;

  readonly #options: DecoderOptions;

  constructor(definitions: NonNullable<Contract["definitions"]>, options: DecoderOptions = {}) {
    this.#options = options;
    this.#definitions = new Definitions(definitions);
  }

  /** @param checks whether constraints are checked; inside a union always, because they choose the branch */
  compile(codec: Codec, checks = this.#options.isResult !== true): Decode {
    switch (codec.kind) {
      case "json":
        return this.#json(codec, checks);
      case "null":
        return (document, entry) =>
          kindAt(document, entry) === NULL ? null : new Mismatch("null", entryKind(document, entry));
      case "boolean":
        return (document, entry) => {
          const kind = kindAt(document, entry);
          return kind === TRUE || (kind === FALSE ? false : new Mismatch("a boolean", entryKind(document, entry)));
        };
      case "string": {
        const check = checks ? textCheck(codec, this.#options.formats) : undefined;
        return (document, entry) => {
          const text = stringValueOf(document, entry);
          if (text === undefined) return new Mismatch("a string", entryKind(document, entry));
          return check?.(text) ?? text;
        };
      }
      case "number":
        return this.#number(codec, checks);
      case "literal": {
        const values = new Set<unknown>(codec.values);
        const mismatch = literalMismatch(codec.values);
        return (document, entry) => {
          if (kindAt(document, entry) >= ARRAY) return mismatch(entryKind(document, entry));
          const value = scalarOf(document, entry);
          return values.has(value) ? value : mismatch(entryKind(document, entry));
        };
      }
      case "bigint":
        return this.#bigint(codec, checks);
      case "date":
        return (document, entry) => {
          const text = stringValueOf(document, entry);
          const date = text === undefined ? undefined : parseDateTime(text);
          // With its offset, a date of year 0 or 9999 may be in a year that no result can have.
          if (date !== undefined && formatDateTime(date) !== undefined) return date;
          return new Mismatch(
            "an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z",
            entryKind(document, entry),
          );
        };
      case "bytes":
        return (document, entry) => {
          const text = stringValueOf(document, entry);
          const bytes = text === undefined ? undefined : decodeOwnBase64(text);
          return bytes ?? new Mismatch("standard base64 with padding", entryKind(document, entry));
        };
      case "array":
      case "tuple": {
        const list = this.list(codec, checks);
        return (document, entry, context) => list.decode(document, entry, context);
      }
      case "wrapped": {
        const decode = this.compile(codec.item, checks);
        const { wrap = (value) => value } = this.#options;
        return (document, entry, context) => {
          const value = decode(document, entry, context);
          return value instanceof Mismatch ? value : wrap(value);
        };
      }
      case "object":
        return this.#object(codec, checks);
      case "union":
        return this.#union(codec);
      case "ref":
        return this.#reference(codec.name, checks);
    }
  }

  list(codec: ListCodec, checks = true): ListDecoder {
    return new ListDecoder(codec, (item) => this.compile(item, checks), checks);
  }

  /** Selects the branch of an object by its discriminator, if there is one. Otherwise tries the branches that may fit. */
  #union(codec: CodecOf<"union">): Decode {
    const branches = codec.branches.map((branch) => this.compile(branch, true));
    const { codecOf } = this.#definitions;
    const discriminator = discriminatorOf(codec.branches, codecOf, branches);
    const union = unionDecoder(codec.branches, codecOf, branches);
    if (discriminator === undefined) {
      this.hasUnion = true;
      return union;
    }
    // One branch in `others` is an object. If there are at least two more, several branches may accept the same array.
    if (discriminator.others.length > 2) this.hasUnion = true;
    const { name, branches: branchOf, mismatch } = discriminator;
    const member = new MemberNames([name]);
    return (document, entry, context) => {
      if (kindAt(document, entry) !== OBJECT) return union(document, entry, context);
      let literal = -1;
      const end = after(document, entry);
      for (let key = firstIn(entry); key < end; key = after(document, valueOfKey(key))) {
        if (member.indexOf(document, key, 0) === 0) literal = valueOfKey(key);
      }
      if (literal < 0) return missingMember().within(name);
      const value = kindAt(document, literal) < ARRAY ? scalarOf(document, literal) : undefined;
      const branch = branchOf.get(value);
      if (branch === undefined) return mismatch(entryKind(document, literal)).within(name).asOtherBranch();
      return branch(document, entry, context);
    };
  }

  #json(codec: CodecOf<"json">, checks: boolean): Decode {
    const { except } = codec;
    const checked = checks ? codec : {};
    const checkNumber = numberCheck(checked);
    const checkText = textCheck(checked, undefined);
    const checkCount = countCheck(checked);
    const unique = checks && codec.uniqueItems === true;
    const array = (document: JsonDocument, entry: number) => {
      const mismatch = checkCount?.(itemCount(document, entry));
      if (mismatch !== undefined) return mismatch;
      const items = plainValueOf(document, entry) as unknown[];
      return (unique ? repeatedItem(items) : undefined) ?? items;
    };
    return (document, entry, context) => {
      const kind = kindAt(document, entry);
      if (context.choices > 0) context.steps?.take(valueCount(document, entry));
      if (except === "null" && kind === NULL) return new Mismatch("a value", "null");
      if (except === "primitives" && kind < ARRAY) {
        return new Mismatch("an object or an array", entryKind(document, entry));
      }
      if (kind === ARRAY) return array(document, entry);
      if (kind === OBJECT) return plainValueOf(document, entry);
      const value = scalarOf(document, entry);
      if (typeof value === "string") return checkText?.(value) ?? value;
      return (typeof value === "number" || typeof value === "bigint" ? checkNumber?.(value) : undefined) ?? value;
    };
  }

  #number(codec: CodecOf<"number">, checks: boolean): Decode {
    const integer = codec.integer === true;
    const expected = integer ? "an integer within +/-(2^53-1)" : "a number";
    const check = checks ? numberCheck(codec) : undefined;
    return (document, entry) => {
      const kind = kindAt(document, entry);
      if (kind === LARGE_INTEGER || (kind === DOUBLE && isFarInteger(document, entry))) {
        return new Mismatch("a number within +/-(2^53-1)", "an integer beyond it");
      }
      if (kind !== SMALL_INTEGER && kind !== DOUBLE) return new Mismatch(expected, entryKind(document, entry));
      if (integer && kind === DOUBLE) return new Mismatch(expected, "a number with a point or exponent, such as 1.0");
      const value = scalarOf(document, entry) as number;
      // serde_json accepts some numbers, at the edge of the range, that JavaScript reads as infinite.
      if (!Number.isFinite(value)) return new Mismatch("a number within the range of doubles", "one beyond it");
      return check?.(value) ?? value;
    };
  }

  #bigint(codec: CodecOf<"bigint">, checks: boolean): Decode {
    const { min, max, name } = bigintRange(codec.format);
    const check = checks ? integerCheck(codec) : undefined;
    return (document, entry) => {
      const kind = kindAt(document, entry);
      if (kind === DOUBLE) {
        if (isFarInteger(document, entry)) return new Mismatch(name, "an integer outside its range");
        const isRounded = Math.abs(scalarOf(document, entry) as number) > Number.MAX_SAFE_INTEGER;
        return new Mismatch("an integer", isRounded ? ROUNDED : "a number with a point or exponent, such as 1.0");
      }
      if (kind !== SMALL_INTEGER && kind !== LARGE_INTEGER) {
        return new Mismatch("an integer", entryKind(document, entry));
      }
      const value = BigInt(scalarOf(document, entry) as number | bigint);
      if (value < min || value > max) return new Mismatch(name, "an integer outside its range");
      return check?.(value) ?? value;
    };
  }

  #object(codec: CodecOf<"object">, checks: boolean): Decode {
    const declared = codec.members.map(({ name, optional, codec }) => ({
      name,
      optional: optional === true,
      decode: this.compile(codec, checks),
      literal: codec.kind === "literal",
      inherited: name in Object.prototype,
    }));
    const count = declared.length;
    // Literals are decoded first because a wrong literal rules out this branch of a union.
    const literals = [...declared.keys()].filter((i) => declared[i]?.literal);
    const names = new MemberNames(declared.map(({ name }) => name));
    const decoderOf = compileIndexes(codec, (each) => this.compile(each, checks));
    // Members to visit if they are absent. Other members are visited only if present: a type may have a thousand
    // optional ones.
    const expected = [...declared.keys()].filter((i) => !declared[i]?.optional || declared[i]?.inherited);
    // Reused records of members, one for each level of nesting of this type. A mismatch drops its record.
    const spares: FoundMembers[] = [];
    return (document, entry, context) => {
      if (kindAt(document, entry) !== OBJECT) return new Mismatch("an object", entryKind(document, entry));
      const found = spares.pop() ?? { values: new Array<number>(count).fill(0), present: [] };
      const { values, present } = found;
      let repeated: number[] | undefined;
      const others = decoderOf === undefined ? undefined : new Map<string, number>();
      let undeclaredCount = 0;
      let ordered = true;
      const end = after(document, entry);
      for (let key = firstIn(entry), next = 0; key < end; key = after(document, valueOfKey(key))) {
        if (context.choices > 0) context.steps?.take(1);
        const index = names.indexOf(document, key, next);
        if (index < 0) {
          if (others === undefined) undeclaredCount++;
          else others.set(stringOf(document, key), valueOfKey(key));
          continue;
        }
        if (values[index] === 0) {
          if (index < next) ordered = false;
          present.push(index);
        } else if (context.strict) {
          if (repeated === undefined) repeated = [index];
          else repeated.push(index);
        }
        values[index] = valueOfKey(key);
        next = index + 1;
      }
      if (!ordered) present.sort((one, other) => one - other);
      let wrong: Mismatch | undefined;
      // Counted for `Mismatch.after`, which selects the mismatch that a union reports.
      let right = 0;
      for (const i of literals) {
        const { name, optional, decode } = declared[i] as (typeof declared)[number];
        const member = values[i] as number;
        if (member === 0 || (optional && kindAt(document, member) === NULL)) continue;
        const value = decode(document, member, context);
        if (!(value instanceof Mismatch)) right++;
        else wrong ??= value.within(name);
      }
      if (wrong !== undefined) return wrong.asOtherBranch().after(right);
      const object: Record<string, unknown> = {};
      let fitting = 0;
      for (let at = 0, next = 0; at < present.length || next < expected.length; ) {
        const i = Math.min(present[at] ?? count, expected[next] ?? count);
        if (present[at] === i) at++;
        if (expected[next] === i) next++;
        const { name, optional, decode } = declared[i] as (typeof declared)[number];
        const member = values[i] as number;
        if (repeated?.includes(i)) return repeatedMember().within(name);
        if (member === 0 || (optional && kindAt(document, member) === NULL)) {
          if (!optional) return missingMember().within(name).after(fitting);
          setAbsent(object, name);
          continue;
        }
        const value = decode(document, member, context);
        if (value instanceof Mismatch) return value.within(name).after(fitting);
        fitting++;
        setMember(object, name, value);
      }
      for (const i of present) values[i] = 0;
      present.length = 0;
      spares.push(found);
      if (undeclaredCount > 1 && this.hasUnion && hasRepeatedName(document, entry)) {
        undeclaredCount = distinctUndeclared(document, entry, names);
      }
      context.undeclaredCount += undeclaredCount;
      if (others === undefined) return object;
      for (const [name, member] of others) {
        const decode = decoderOf?.(name);
        if (decode === undefined) return new Mismatch("only declared members", "another");
        const value = decode(document, member, context);
        if (value instanceof Mismatch) return value.within("*");
        setMember(object, name, value);
      }
      return object;
    };
  }

  #reference(name: string, checks: boolean): Decode {
    const definition = this.#definitions.get(name, (codec) => this.compile(codec, checks), `${checks}`);
    return (document, entry, context) =>
      context.choices > 0 && holdsContainer(document, entry)
        ? context.once(definition.id, entry, () => definition.compiled(document, entry, context))
        : definition.compiled(document, entry, context);
  }
}

/** Declared members found in one object. */
interface FoundMembers {
  /** Tape indexes of the values, by member. 0 marks an absent member, because index 0 is the root. */
  readonly values: number[];
  readonly present: number[];
}

type ListCodec = CodecOf<"array" | "tuple">;

/** Maximum number of values in a list, nested ones included, for which the array is allocated at full size. */
const SHORT_LIST = 64;

/** Decodes lists: the items of an array, or the values of a `many` port, each in its own document. */
export class ListDecoder {
  readonly #item: Decode | undefined;
  readonly #tuple: TupleParts<Decode> | undefined;
  /** Number of leading items that are required. */
  readonly #required: number = 0;
  readonly #check: ((count: number) => Mismatch | undefined) | undefined;
  readonly #unique: boolean;

  constructor(codec: ListCodec, compile: (codec: Codec) => Decode, checks: boolean) {
    this.#check = listCheck(codec, checks);
    this.#unique = checks && codec.uniqueItems === true;
    if (codec.kind === "array") {
      this.#item = compile(codec.item);
    } else {
      this.#tuple = mapTuple(codec, compile);
      this.#required = codec.items.length - (codec.optional ?? 0);
    }
  }

  decode(document: JsonDocument, entry: number, context: DecodeContext): unknown {
    if (kindAt(document, entry) !== ARRAY) return new Mismatch("an array", entryKind(document, entry));
    const count = this.#check === undefined ? 0 : itemCount(document, entry);
    const mismatch = this.#check?.(count);
    if (mismatch !== undefined) return mismatch;
    const end = after(document, entry);
    // V8 allocates 17 slots when an array grows from empty, which wastes most of the memory of short lists.
    const values = valueCount(document, entry) <= SHORT_LIST ? new Array<unknown>(itemCount(document, entry)) : [];
    for (let item = firstIn(entry), i = 0; item < end; item = after(document, item), i++) {
      if (context.choices > 0) context.steps?.take(1);
      const value = this.#decodeItem(document, item, context, i, count);
      if (value instanceof Mismatch) return value.within(i);
      values[i] = value;
    }
    return (this.#unique ? repeatedItem(values) : undefined) ?? values;
  }

  /**
   * Decodes one text for each item.
   *
   * @param tally receives the number of undeclared members
   */
  decodeEach(
    texts: readonly { readonly document: JsonDocument; readonly entry: number }[],
    steps: Steps | undefined,
    tally: Tally,
  ): unknown {
    const mismatch = this.#check?.(texts.length);
    if (mismatch !== undefined) return mismatch;
    const values: unknown[] = [];
    for (const [i, { document, entry }] of texts.entries()) {
      const context = new DecodeContext(false, steps);
      const value = this.#decodeItem(document, entry, context, i, texts.length);
      if (value instanceof Mismatch) return value.within(i);
      tally.undeclaredCount += context.undeclaredCount;
      values.push(value);
    }
    return (this.#unique ? repeatedItem(values) : undefined) ?? values;
  }

  #decodeItem(document: JsonDocument, entry: number, context: DecodeContext, i: number, count: number): unknown {
    const tuple = this.#tuple;
    if (tuple === undefined) return (this.#item as Decode)(document, entry, context);
    // `null` for an optional item means absent, as for an optional member.
    if (i >= this.#required && i < tuple.items.length && kindAt(document, entry) === NULL) return undefined;
    return tuplePart(tuple, i, count)(document, entry, context);
  }
}

/** Whether a double's text is an integer outside i64 and u64, which a number would round. False for `-0`. */
function isFarInteger(document: JsonDocument, entry: number): boolean {
  const end = endAt(document, entry);
  // 2^63 has 19 digits.
  if (end - startAt(document, entry) < 19) return false;
  for (let at = startAt(document, entry) + 1; at < end; at++) {
    const byte = document.bytes[at] as number;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return true;
}

function distinctUndeclared(document: JsonDocument, entry: number, names: MemberNames): number {
  const distinct = new Set<string>();
  const end = after(document, entry);
  for (let key = firstIn(entry); key < end; key = after(document, valueOfKey(key))) {
    if (names.indexOf(document, key, -1) < 0) distinct.add(stringOf(document, key));
  }
  return distinct.size;
}
