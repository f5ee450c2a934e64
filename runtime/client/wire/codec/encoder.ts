/** Encodes values to JSON text by their codecs: members in declared order, so that equal results have equal bytes. */

import { asBuffer } from "../bytes.js";
import { formatDateTime } from "../date-time.js";
import { outputFault } from "../fault.js";
import { formatNumber } from "../json/numbers.js";
import { quote } from "../json/print.js";
import { bigintRange, kindOf } from "../kinds.js";
import { MAX_DEPTH } from "../protocol.js";
import { type Formats, integerCheck, numberCheck, repetition, textCheck } from "./constraints.js";
import type { Codec, CodecOf, Contract } from "./contract.js";
import { DefinitionMemo, Definitions } from "./definitions.js";
import { listCheck, mapTuple, tuplePart } from "./list-parts.js";
import { literalMismatch, Mismatch } from "./mismatch.js";
import { discriminatorOf } from "./union/discriminator.js";
import { branchesOverlap, chooseBranch, compileIndexes } from "./union/union-choice.js";

/** Classes whose content is not in their properties, so instances would be encoded as empty objects. */
const OPAQUE_CLASSES = [Date, Map, Set, Promise];

/** Whether a value is an object described by its properties. */
export function hasMembers(value: unknown): value is object {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return !isBytes(value) && !OPAQUE_CLASSES.some((type) => value instanceof type);
}

function isBytes(value: unknown): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** Kind of a value, or the name of an opaque class, for messages. */
export function givenKind(value: unknown): string {
  const type = OPAQUE_CLASSES.find((known) => value instanceof known);
  if (type !== undefined) return `a ${type.name}`;
  return isBytes(value) ? "bytes" : kindOf(value);
}

/** Property of a value or of its class (a getter), but not of `Object.prototype`. */
export function memberOf(object: object, name: string): unknown {
  const value = (object as Record<string, unknown>)[name];
  if (Object.hasOwn(object, name)) return value;
  if (name === "__proto__" || name === "constructor") return undefined;
  return value === (Object.prototype as unknown as Record<string, unknown>)[name] ? undefined : value;
}

/**
 * Writes a value as JSON text, or returns a {@link Mismatch} if it does not fit. `depth` is the number of enclosing
 * levels.
 */
export type Encode = (value: unknown, depth: number, context: DefinitionMemo) => string | Mismatch;

/** Encodes single values by codec. */
export class ValueEncoder {
  readonly #encode: Encode;

  constructor(codec: Codec, definitions: Contract["definitions"] = [], formats?: Formats) {
    this.#encode = new EncoderCompiler(definitions, formats).compile(codec);
  }

  /** @throws {@link WireFault} `output_serialization_error` with the member's path */
  write(value: unknown): string {
    const text = this.#encode(value, 0, new DefinitionMemo());
    if (text instanceof Mismatch) throw outputFault(text.describe());
    return text;
  }
}

const tooDeep = () => new Mismatch(`at most ${MAX_DEPTH} levels of nesting`, "more (or a cycle)");

function encodeString(value: unknown): string | Mismatch {
  if (typeof value !== "string") return new Mismatch("a string", kindOf(value));
  return value.isWellFormed() ? quote(value) : new Mismatch("well-formed text", "a lone surrogate");
}

function encodeNumber(value: unknown): string | Mismatch {
  if (typeof value !== "number") return new Mismatch("a number", kindOf(value));
  return formatNumber(value) ?? new Mismatch("a finite number", String(value));
}

function encodeSafeInteger(value: unknown): string | Mismatch {
  return Number.isSafeInteger(value) ? String(value) : new Mismatch("a safe integer", kindOf(value));
}

/** Encodes `unknown`: any JSON value, and a bigint as an exact integer. */
function encodeAny(value: unknown, depth: number, memo: DefinitionMemo): string | Mismatch {
  switch (typeof value) {
    case "string":
      return encodeString(value);
    case "number":
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) memo.rounded = true;
      return encodeNumber(value);
    case "boolean":
      return String(value);
    case "bigint": {
      const { min, max, name } = bigintRange(undefined);
      return value >= min && value <= max ? String(value) : new Mismatch(name, "one outside its range");
    }
    case "object": {
      if (value === null) return "null";
      const { toJSON } = value as { toJSON?: unknown };
      // Called once, like `JSON.stringify`: ignores `toJSON` of the returned value.
      const given: unknown = typeof toJSON === "function" ? toJSON.call(value) : value;
      return given === value || (typeof given === "object" && given !== null)
        ? encodeAnyObject(given as object, depth, memo)
        : encodeAny(given, depth, memo);
    }
    default:
      return new Mismatch("a JSON value", kindOf(value));
  }
}

function encodeAnyObject(value: object, depth: number, memo: DefinitionMemo): string | Mismatch {
  if (depth === MAX_DEPTH) return tooDeep();
  if (Array.isArray(value)) {
    const texts: string[] = [];
    for (let i = 0; i < value.length; i++) {
      const text = encodeAny(value[i], depth + 1, memo);
      if (text instanceof Mismatch) return text.within(i);
      texts.push(text);
    }
    return `[${texts.join(",")}]`;
  }
  if (!hasMembers(value)) return new Mismatch("a JSON value", givenKind(value));
  const text = undeclaredText(value, NO_NAMES, (member) => encodeAny(member, depth + 1, memo));
  return text instanceof Mismatch ? text : `{${text}}`;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Text of the undeclared own members, sorted by UTF-16 code units (RFC 8785 section 3.2.3) so that the result does not
 * depend on insertion order. Omits a member if `encode` returns undefined. A mismatch does not contain the names: they
 * are data.
 */
function undeclaredText(
  value: object,
  declared: ReadonlySet<string>,
  encode: (member: unknown, name: string) => string | Mismatch | undefined,
): string | Mismatch {
  let text = "";
  for (const name of Object.keys(value).sort()) {
    if (declared.has(name)) continue;
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    const encoded = encode(member, name);
    if (encoded === undefined) continue;
    const key = encodeString(name);
    if (key instanceof Mismatch) return key.within("*");
    if (encoded instanceof Mismatch) return encoded.within("*");
    text += `${text === "" ? "" : ","}${key}:${encoded}`;
  }
  return text;
}

type ListCodec = CodecOf<"array" | "tuple">;

/** Compiles codecs to closures, at start-up. */
export class EncoderCompiler {
  readonly #definitions: Definitions<Encode>;
  /** Whether a compiled codec is a union, so several branches may encode the same value. */
  #hasUnion = false;
  /** Whether several branches of some union may fit the same value; only then are undeclared members counted. */
  #countsUndeclared = false;

  readonly #formats: Formats | undefined;

  /** @param formats without them, no format is checked */
  constructor(definitions: NonNullable<Contract["definitions"]>, formats?: Formats) {
    this.#definitions = new Definitions(definitions);
    this.#formats = formats;
  }

  /** @param inUnion whether the codec is inside a union, where constraints are checked to choose a branch */
  compile(codec: Codec, inUnion = false): Encode {
    switch (codec.kind) {
      case "json":
        return encodeAny;
      case "null":
        return (value) => (value === null || value === undefined ? "null" : new Mismatch("null", kindOf(value)));
      case "boolean":
        return (value) => (typeof value === "boolean" ? String(value) : new Mismatch("a boolean", kindOf(value)));
      case "string": {
        const check = inUnion ? textCheck(codec, this.#formats) : undefined;
        if (check === undefined) return encodeString;
        return (value) => (typeof value === "string" ? check(value) : undefined) ?? encodeString(value);
      }
      case "number": {
        const encode = codec.integer === true ? encodeSafeInteger : encodeNumber;
        const check = inUnion ? numberCheck(codec) : undefined;
        if (check === undefined) return encode;
        return (value) => (typeof value === "number" ? check(value) : undefined) ?? encode(value);
      }
      case "literal": {
        const texts = new Map<unknown, string>(
          codec.values.map((value) => [
            value,
            typeof value === "number" ? (encodeNumber(value) as string) : JSON.stringify(value),
          ]),
        );
        const mismatch = literalMismatch(codec.values);
        return (value) => texts.get(value) ?? mismatch(kindOf(value));
      }
      case "bigint": {
        const { min, max, name } = bigintRange(codec.format);
        const check = inUnion ? integerCheck(codec) : undefined;
        return (value) => {
          if (typeof value !== "bigint") return new Mismatch("a bigint", kindOf(value));
          if (value < min || value > max) return new Mismatch(name, "one outside its range");
          return check?.(value) ?? String(value);
        };
      }
      case "date":
        return encodeDate;
      case "bytes":
        return (value) =>
          value instanceof Uint8Array
            ? `"${asBuffer(value).toString("base64")}"`
            : new Mismatch("a Uint8Array", kindOf(value));
      case "array":
      case "tuple":
        return this.#list(codec, inUnion);
      case "wrapped": {
        const encode = this.compile(codec.item, inUnion);
        return (value, depth, context) =>
          hasMembers(value) && "value" in value
            ? encode(value.value, depth, context)
            : new Mismatch("a WithSerdeErrorPath", kindOf(value));
      }
      case "object":
        return this.#object(codec, inUnion);
      case "union":
        return this.#union(codec);
      case "ref":
        return this.#reference(codec.name, inUnion);
    }
  }

  #union(codec: CodecOf<"union">): Encode {
    const branches = codec.branches.map((branch) => this.compile(branch, true));
    const discriminator = discriminatorOf(codec.branches, this.#definitions.codecOf, branches);
    if (discriminator === undefined) {
      this.#hasUnion = true;
      if (branchesOverlap(codec.branches)) this.#countsUndeclared = true;
      return (value, depth, context) => chooseBranch(branches, context, (branch) => branch(value, depth, context));
    }
    const { name, branches: branchOf, others, mismatch } = discriminator;
    // One branch in `others` is an object. If there are at least two more, several branches may accept the same array.
    if (others.length > 2) {
      this.#hasUnion = true;
      this.#countsUndeclared = true;
    }
    return (value, depth, context) => {
      if (!hasMembers(value)) return chooseBranch(others, context, (branch) => branch(value, depth, context));
      const literal = memberOf(value, name);
      const branch = branchOf.get(literal);
      return branch?.(value, depth, context) ?? mismatch(kindOf(literal)).within(name).asOtherBranch();
    };
  }

  /** Encoder for the item at a place of a list with `count` items, or the mismatch of this length. */
  items(codec: ListCodec, inUnion = false): (count: number) => Mismatch | ((place: number) => Encode) {
    const check = listCheck(codec, inUnion);
    const compile = (item: Codec) => this.compile(item, inUnion);
    if (codec.kind === "array") {
      const encode = compile(codec.item);
      return (count) => check?.(count) ?? (() => encode);
    }
    const tuple = mapTuple(codec, compile);
    return (count) => check?.(count) ?? ((place) => tuplePart(tuple, place, count));
  }

  #list(codec: ListCodec, inUnion: boolean): Encode {
    const items = this.items(codec, inUnion);
    const unique = inUnion && codec.uniqueItems === true;
    const [from, to] =
      codec.kind === "array" ? [0, 0] : [codec.items.length - (codec.optional ?? 0), codec.items.length];
    return (value, depth, context) => {
      if (!Array.isArray(value)) return new Mismatch("an array", kindOf(value));
      if (depth === MAX_DEPTH) return tooDeep();
      const encoderAt = items(value.length);
      if (encoderAt instanceof Mismatch) return encoderAt;
      const texts: string[] = [];
      for (let i = 0; i < value.length; i++) {
        const absent = i >= from && i < to && (value[i] === undefined || value[i] === null);
        const encoded = absent ? "null" : encoderAt(i)(value[i], depth + 1, context);
        if (typeof encoded !== "string") return encoded.within(i);
        texts.push(encoded);
      }
      return (unique ? repetition(texts) : undefined) ?? `[${texts.join(",")}]`;
    };
  }

  #object(codec: CodecOf<"object">, inUnion: boolean): Encode {
    const { members } = codec;
    const declared = members.map(({ name, optional, codec }) => ({
      name,
      key: `${quote(name)}:`,
      optional: optional === true,
      encode: this.compile(codec, inUnion),
      literal: codec.kind === "literal",
    }));
    const literals = declared.filter(({ literal }) => literal);
    const known = new Set(members.map(({ name }) => name));
    const encodeOther = compileIndexes(codec, (each) => this.compile(each, inUnion));
    return (value, depth, context) => {
      if (!hasMembers(value)) return new Mismatch("an object", givenKind(value));
      if (depth === MAX_DEPTH) return tooDeep();
      // Literals are encoded first because a wrong literal rules out this branch of a union.
      for (const { name, optional, encode } of literals) {
        const member = memberOf(value, name);
        if (optional && (member === undefined || member === null)) continue;
        const encoded = encode(member, depth + 1, context);
        if (typeof encoded !== "string") return encoded.within(name).asOtherBranch();
      }
      let text = "";
      for (const { name, key, optional, encode } of declared) {
        const member = memberOf(value, name);
        const absent = optional && (member === undefined || member === null);
        const encoded = absent ? "null" : encode(member, depth + 1, context);
        if (typeof encoded !== "string") return encoded.within(name);
        text += `${text === "" ? "" : ","}${key}${encoded}`;
      }
      if (encodeOther === undefined && !this.#countsUndeclared) return `{${text}}`;
      const others = undeclaredText(value, known, (member, name) => {
        const encode = encodeOther?.(name);
        if (encode === undefined) context.undeclaredCount++;
        return encode?.(member, depth + 1, context);
      });
      if (others instanceof Mismatch) return others;
      return `{${text}${text === "" || others === "" ? "" : ","}${others}}`;
    };
  }

  #reference(name: string, inUnion: boolean): Encode {
    const definition = this.#definitions.get(name, (codec) => this.compile(codec, inUnion), `${inUnion}`);
    return (value, depth, context) => {
      if (!this.#hasUnion || value === null || typeof value !== "object") {
        return definition.compiled(value, depth, context);
      }
      // The depth is part of the cache key: an object may fit at one depth and be nested too deeply at another.
      const id = definition.id * (MAX_DEPTH + 1) + depth;
      return context.once(id, value, () => definition.compiled(value, depth, context));
    };
  }
}

function encodeDate(value: unknown): string | Mismatch {
  if (!(value instanceof Date)) return new Mismatch("a Date", kindOf(value));
  const text = formatDateTime(value);
  const got = Number.isNaN(value.getTime()) ? "an invalid Date" : "another year";
  return text === undefined ? new Mismatch("a Date of the years 0 to 9999", got) : `"${text}"`;
}
