/**
 * Encodes the result of a tool to the bytes that are signed (protocol.md sections 2, 3 and 7): the tag, then the ports
 * in schema order.
 */

import { Buffer } from "#platform/bytes";
import type { RawOutput } from "./bcs/bcs-shapes.js";
import { encodeOutput, nexusDataSize } from "./bcs/bcs-writer.js";
import {
  InlineValue,
  isNexusValue,
  NexusDataError,
  type NexusValue,
  OffchainToolOutput,
  valueJson,
} from "./bcs/data.js";
import { asBuffer } from "./bytes.js";
import type { Codec, Contract, ListConstraints, Port, Variant } from "./contract.js";
import { formatDateTime } from "./date-time.js";
import { countCheck, integerCheck, numberCheck, repetition, textCheck } from "./decode/constraints.js";
import { type Decode, DecodeContext } from "./decode/decoder.js";
import { bigintRange, kindOf, literalMismatch, Mismatch } from "./decode/mismatch.js";
import { ResultDecoderCompiler } from "./decode/result-decoder.js";
import { discriminatorOf } from "./decode/union/discriminator.js";
import { branchesOverlap, chooseBranch, compileIndexes } from "./decode/union/union-choice.js";
import { DefinitionMemo, Definitions } from "./definitions.js";
import { type Path, pathText, WireFault } from "./fault.js";
import { type JsonDocument, kindAt, NULL } from "./json/document.js";
import { JsonError } from "./json/error.js";
import { formatNumber } from "./json/numbers.js";
import { quote } from "./json/print.js";
import { parseJson } from "./json/scan.js";
import { FAILURE, FAILURE_PORT, FAILURE_VARIANT } from "./ports.js";
import {
  MAX_DEPTH,
  MAX_INLINE_BYTES,
  MAX_PORT_BYTES,
  MAX_RESULT_BYTES,
  MAX_VALUES,
  OUTPUT_BUDGET,
} from "./protocol.js";

const fault = (details: string) => new WireFault("output_serialization_error", details);

/** A result of the reserved failure variant `_err_eval`, with its single port `reason`. */
export class ErrEval {
  constructor(readonly reason: string) {}
}

export interface EncodedOutput extends RawOutput {
  readonly ports: readonly { readonly name: string; readonly many: boolean; readonly values: readonly NexusValue[] }[];
}

export class OutputEncoder {
  readonly #variants: ReadonlyMap<string, CompiledVariant>;
  /** Decoders of ports, for explicit ports; created on demand. */
  readonly #decoders = new Map<Port, Decode>();
  readonly #decoderCompiler: ResultDecoderCompiler;

  constructor(contract: Contract) {
    this.#decoderCompiler = new ResultDecoderCompiler(contract.definitions);
    const encoders = new EncoderCompiler(contract.definitions ?? []);
    this.#variants = new Map(
      [...contract.output, FAILURE].map((variant) => [
        variant.name,
        { variant, ports: variant.ports.map((port) => ({ port, encode: encoders.compile(port.codec) })) },
      ]),
    );
  }

  /**
   * Encodes the value returned by the tool's `invoke` or `encodeOutput`.
   *
   * @param onRounded called with the path of a port that contains a number of type `unknown` that may have lost
   * precision
   * @throws {@link WireFault} `output_serialization_error` with port and reason
   */
  encode(result: unknown, onRounded?: (port: string) => void): EncodedOutput {
    const output =
      result instanceof OffchainToolOutput
        ? this.#explicit(result)
        : this.#inline(this.#variantOf(result), result, onRounded);
    let total = 0;
    for (const { values } of output.ports) {
      for (const value of values) {
        if (value.kind === "inline") total += value.bytes.length;
        else total += value.kind === "object" ? 32 : (value.size ?? 0);
      }
    }
    if (total > OUTPUT_BUDGET) throw fault(`result: at most ${OUTPUT_BUDGET} bytes over all ports, got ${total}`);
    return output;
  }

  /**
   * JSON text of one value of a port, without a length limit.
   *
   * @throws {@link WireFault} `output_serialization_error`
   */
  text(tag: string, name: string, value: unknown): string {
    const found = this.#variants.get(tag)?.ports.find(({ port }) => port.name === name);
    if (found === undefined) throw fault(`${pathText([tag, name])}: the tool has no such output port`);
    const { port, encode } = found;
    const text =
      port.optional && (value === undefined || value === null) ? "null" : encode(value, 0, new DefinitionMemo());
    if (text instanceof Mismatch) throw fault(text.describe([tag, name]));
    return text;
  }

  #variantOf(result: unknown): CompiledVariant {
    if (result instanceof ErrEval) return this.#variants.get(FAILURE_VARIANT) as CompiledVariant;
    let tag: string;
    if (typeof result === "string") {
      tag = result;
    } else {
      if (!hasMembers(result)) {
        throw fault(`result: expected an object with one variant, got ${givenKind(result)}`);
      }
      const names = Object.keys(result).filter((name) => (result as Record<string, unknown>)[name] !== undefined);
      if (names.length !== 1) throw fault(`result: expected exactly one variant, got ${names.length}`);
      tag = names[0] as string;
    }
    const found = this.#variants.get(tag);
    if (found === undefined || tag === FAILURE_VARIANT) {
      throw fault(`result: expected one of the variants ${this.#names()}, got another`);
    }
    if ((typeof result === "string") !== (found.variant.text === true)) {
      throw fault(`${tag}: expected ${found.variant.text ? "the string alone" : "an object with its ports"}`);
    }
    return found;
  }

  #names(): string {
    return [...this.#variants.keys()]
      .filter((name) => name !== FAILURE_VARIANT)
      .map((name) => JSON.stringify(name))
      .join(", ");
  }

  #inline(
    { variant, ports }: CompiledVariant,
    result: unknown,
    onRounded: ((port: string) => void) | undefined,
  ): EncodedOutput {
    const tag = variant.name;
    if (variant.text) return { tag, ports: [] };
    const payload: unknown =
      result instanceof ErrEval ? { [FAILURE_PORT]: result.reason } : (result as Record<string, unknown>)[tag];
    if (!hasMembers(payload)) {
      throw fault(`${pathText([tag])}: expected an object with its ports, got ${givenKind(payload)}`);
    }
    return {
      tag,
      ports: ports.map(({ port, encode }) => {
        const memo = new DefinitionMemo();
        const values = encodePort(tag, port, encode, memberOf(payload, port.name), memo);
        if (memo.rounded) onRounded?.(pathText([tag, port.name]));
        return { name: port.name, many: port.many, values };
      }),
    };
  }

  #explicit({ tag, ports }: OffchainToolOutput): EncodedOutput {
    const declared = this.#variants.get(tag)?.variant;
    if (declared === undefined) throw fault(`result: expected one of the variants ${this.#names()}, got another`);
    if (ports.length !== declared.ports.length) {
      throw fault(`${pathText([tag])}: expected ${declared.ports.length} ports, got ${ports.length}`);
    }
    return {
      tag,
      ports: ports.map(([name, data], i) => {
        const port = declared.ports[i] as Port;
        const place = pathText([tag, port.name]);
        if (name !== port.name) throw fault(`${place}: expected this port at place ${i + 1}, got another`);
        if (!port.many && data.values.length !== 1) {
          throw fault(`${place}: expected one value, got ${data.values.length}`);
        }
        if (data.kind !== "data") throw fault(`${place}: expected data, got object ids`);
        if (tag === FAILURE_VARIANT && data.values[0]?.kind !== "inline") {
          throw fault(`${place}: expected inline data, got a reference`);
        }
        for (const [at, value] of data.values.entries()) {
          if (value.kind === "inline") this.#checkType(port, value, port.many ? [tag, name, at] : [tag, name]);
        }
        return { name, many: port.many, values: data.values };
      }),
    };
  }

  /** @throws {@link WireFault} if an explicit inline value does not have the type of its port */
  #checkType(port: Port, { bytes }: InlineValue, path: Path): void {
    let decode = this.#decoders.get(port);
    if (decode === undefined) {
      decode = this.#decoderCompiler.compile(port.codec);
      this.#decoders.set(port, decode);
    }
    let document: JsonDocument;
    try {
      document = parseJson(bytes);
    } catch (error) {
      if (error instanceof JsonError) throw fault(`${pathText(path)}: not JSON: ${error.message}`);
      throw error;
    }
    if (port.optional && kindAt(document, 0) === NULL) return;
    const value = decode(document, 0, new DecodeContext(true));
    if (value instanceof Mismatch) throw fault(value.describe(path));
  }
}

interface CompiledVariant {
  readonly variant: Variant;
  readonly ports: readonly { readonly port: Port; readonly encode: Encode }[];
}

/** Classes whose content is not in their properties, so instances would be encoded as empty objects. */
const OPAQUE_CLASSES = [Date, Map, Set, Promise];

/** Whether a value is an object described by its properties. */
function hasMembers(value: unknown): value is object {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return !isBytes(value) && !OPAQUE_CLASSES.some((type) => value instanceof type);
}

function isBytes(value: unknown): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer;
}

/** Kind of a value, or the name of an opaque class, for messages. */
function givenKind(value: unknown): string {
  const type = OPAQUE_CLASSES.find((known) => value instanceof known);
  if (type !== undefined) return `a ${type.name}`;
  return isBytes(value) ? "bytes" : kindOf(value);
}

/** Property of a value or of its class (a getter), but not of `Object.prototype`. */
function memberOf(object: object, name: string): unknown {
  const value = (object as Record<string, unknown>)[name];
  if (Object.hasOwn(object, name)) return value;
  if (name === "__proto__" || name === "constructor") return undefined;
  return value === (Object.prototype as unknown as Record<string, unknown>)[name] ? undefined : value;
}

/**
 * BCS of a valid result.
 *
 * @throws {@link WireFault} if it is longer than {@link MAX_RESULT_BYTES}
 */
export function resultBytes(output: EncodedOutput): Buffer {
  const bytes = encodeOutput(output);
  if (bytes.length > MAX_RESULT_BYTES) {
    throw fault(`result: at most ${MAX_RESULT_BYTES} bytes of BCS, got ${bytes.length}`);
  }
  return bytes;
}

/**
 * Result as `{"<tag>":{"<port>":value,…}}`, with stored values as items of NexusData (protocol.md sections 3 and 6).
 */
export function resultJson({ tag, ports }: EncodedOutput): string {
  const members = ports.map(({ name, many, values }) => {
    const texts = values.map((value) =>
      value.kind === "inline" ? asBuffer(value.bytes).toString("utf8") : valueJson(value),
    );
    return `${quote(name)}:${many ? `[${texts.join(",")}]` : texts[0]}`;
  });
  return `{${quote(tag)}:{${members.join(",")}}}`;
}

function encodePort(tag: string, port: Port, encode: Encode, value: unknown, memo: DefinitionMemo): NexusValue[] {
  const place = () => pathText([tag, port.name]);
  let values: NexusValue[];
  if (port.many) {
    if (!Array.isArray(value)) throw fault(`${place()}: expected an array, got ${kindOf(value)}`);
    if (value.length < 1 || value.length > MAX_VALUES) {
      throw fault(`${place()}: expected 1 to ${MAX_VALUES} values, got ${value.length}`);
    }
    values = [];
    for (let i = 0; i < value.length; i++) values.push(portValue(port, encode, value[i], [tag, port.name, i], memo));
  } else if (port.optional && (value === undefined || value === null)) {
    values = [inlineValue("null", [tag, port.name])];
  } else {
    values = [portValue(port, encode, value, [tag, port.name], memo)];
  }
  const size = nexusDataSize(values, port.many);
  if (size > MAX_PORT_BYTES) throw fault(`${place()}: at most ${MAX_PORT_BYTES} bytes in a port, got ${size}`);
  return values;
}

/** Value of a port: a reference if the port accepts references, otherwise inline data. */
function portValue(
  port: Port,
  encode: Encode,
  value: unknown,
  path: (string | number)[],
  memo: DefinitionMemo,
): NexusValue {
  if (port.held !== true || !isReference(value)) return inlineValue(encode(value, 0, memo), path, port.held);
  let referred: unknown;
  try {
    referred = isNexusValue(value) ? value : value.nexusValue();
  } catch (error) {
    if (error instanceof NexusDataError) throw fault(`${pathText(path)}: ${error.message}`);
    throw error;
  }
  if (!isNexusValue(referred)) throw fault(`${pathText(path)}: expected nexusValue() to give a NexusValue`);
  if (referred.kind === "object") throw fault(`${pathText(path)}: expected data, got an object id`);
  return referred;
}

/** Whether a value is a reference: it has a function as a member, which JSON data cannot have. */
function isReference(value: unknown): value is NexusValue | { nexusValue(): unknown } {
  if (value === null || typeof value !== "object") return false;
  return isNexusValue(value) || typeof (value as { nexusValue?: unknown }).nexusValue === "function";
}

function inlineValue(text: string | Mismatch, path: (string | number)[], held = false): InlineValue {
  if (text instanceof Mismatch) throw fault(text.describe(path));
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_INLINE_BYTES) {
    const what = `at most ${MAX_INLINE_BYTES} bytes in a value, got ${bytes.length}`;
    throw fault(`${pathText(path)}: ${what}${held ? ": store it and return its reference" : ""}`);
  }
  return new InlineValue(bytes);
}

/**
 * Writes a value as JSON text, or returns a {@link Mismatch} if it does not fit. `depth` is the number of enclosing
 * levels.
 */
type Encode = (value: unknown, depth: number, context: DefinitionMemo) => string | Mismatch;

/** Encodes single values by codec. */
export class ValueEncoder {
  readonly #encode: Encode;

  constructor(codec: Codec, definitions: Contract["definitions"] = []) {
    this.#encode = new EncoderCompiler(definitions).compile(codec);
  }

  /** @throws {@link WireFault} `output_serialization_error` with the member's path */
  write(value: unknown): string {
    const text = this.#encode(value, 0, new DefinitionMemo());
    if (text instanceof Mismatch) throw fault(text.describe());
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
  const text = undeclaredMembers(value, NO_NAMES, (member) => encodeAny(member, depth + 1, memo));
  return text instanceof Mismatch ? text : `{${text}}`;
}

const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Text of the undeclared own members, sorted by UTF-16 code units (RFC 8785 section 3.2.3) so that the result does not
 * depend on insertion order. Omits a member if `encode` returns undefined. A mismatch does not contain the names: they
 * are data.
 */
function undeclaredMembers(
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

/** Compiles codecs to closures, at start-up. */
class EncoderCompiler {
  readonly #definitions: Definitions<Encode>;
  /** Whether a compiled codec is a union, so several branches may encode the same value. */
  #hasUnion = false;
  /** Whether several branches of some union may fit the same value; only then are undeclared members counted. */
  #countsUndeclared = false;

  constructor(definitions: NonNullable<Contract["definitions"]>) {
    this.#definitions = new Definitions(definitions);
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
        const check = inUnion ? textCheck(codec) : undefined;
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
      case "array": {
        const encode = this.compile(codec.item, inUnion);
        const list = inUnion ? codec : {};
        return (value, depth, context) => {
          if (!Array.isArray(value)) return new Mismatch("an array", kindOf(value));
          return encodeItems(value, depth, context, () => encode, list);
        };
      }
      case "wrapped": {
        const encode = this.compile(codec.item, inUnion);
        return (value, depth, context) =>
          hasMembers(value) && "value" in value
            ? encode(value.value, depth, context)
            : new Mismatch("a WithSerdeErrorPath", kindOf(value));
      }
      case "tuple":
        return this.#tuple(codec, inUnion);
      case "object":
        return this.#object(codec, inUnion);
      case "union":
        return this.#union(codec);
      case "ref":
        return this.#reference(codec.name, inUnion);
    }
  }

  #union(codec: Extract<Codec, { kind: "union" }>): Encode {
    const branches = codec.branches.map((branch) => this.compile(branch, true));
    const discriminator = discriminatorOf(codec.branches, this.#definitions.codecOf, branches);
    if (discriminator === undefined) {
      this.#hasUnion = true;
      if (branchesOverlap(codec.branches)) this.#countsUndeclared = true;
      return (value, depth, context) => chooseBranch(branches, context, (branch) => branch(value, depth, context));
    }
    const { name, branches: branchOf, others, mismatch } = discriminator;
    // `others` has one object branch. With two more, several branches may accept an array.
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

  #tuple(codec: Extract<Codec, { kind: "tuple" }>, inUnion: boolean): Encode {
    const { items, optional = 0, rest, tail = [] } = codec;
    const list = inUnion ? codec : {};
    const fixed = items.map((item) => this.compile(item, inUnion));
    const last = tail.map((item) => this.compile(item, inUnion));
    const between = rest === undefined ? undefined : this.compile(rest, inUnion);
    const min = fixed.length - optional + last.length;
    return (value, depth, context) => {
      if (!Array.isArray(value)) return new Mismatch("an array", kindOf(value));
      if (value.length < min || (between === undefined && value.length > fixed.length + last.length)) {
        return new Mismatch(`an array of at least ${min} items as declared`, `${value.length} items`);
      }
      const encoderAt = (i: number) => {
        const fromEnd = value.length - i;
        const encode = fromEnd <= last.length ? last[last.length - fromEnd] : (fixed[i] ?? between);
        const mayMiss = i < fixed.length && i >= fixed.length - optional;
        return mayMiss && (value[i] === undefined || value[i] === null) ? () => "null" : (encode as Encode);
      };
      return encodeItems(value, depth, context, encoderAt, list);
    };
  }

  #object(codec: Extract<Codec, { kind: "object" }>, inUnion: boolean): Encode {
    const { members } = codec;
    const declared = members.map(({ name, optional, codec }) => ({
      name,
      key: `${quote(name)}:`,
      optional: optional === true,
      encode: this.compile(codec, inUnion),
      literal: codec.kind === "literal",
    }));
    const literals = declared.filter(({ optional, literal }) => literal && !optional);
    const known = new Set(members.map(({ name }) => name));
    const encodeOther = compileIndexes(codec, (each) => this.compile(each, inUnion));
    return (value, depth, context) => {
      if (!hasMembers(value)) return new Mismatch("an object", givenKind(value));
      if (depth === MAX_DEPTH) return tooDeep();
      // Literals are encoded first because a wrong literal rules out this branch of a union.
      for (const { name, encode } of literals) {
        const encoded = encode(memberOf(value, name), depth + 1, context);
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
      const others = undeclaredMembers(value, known, (member, name) => {
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

function encodeItems(
  values: readonly unknown[],
  depth: number,
  context: DefinitionMemo,
  encoderOf: (i: number) => Encode,
  constraints: ListConstraints,
): string | Mismatch {
  if (depth === MAX_DEPTH) return tooDeep();
  const wrong = countCheck(constraints)?.(values.length);
  if (wrong !== undefined) return wrong;
  const texts: string[] = [];
  for (let i = 0; i < values.length; i++) {
    const encoded = encoderOf(i)(values[i], depth + 1, context);
    if (typeof encoded !== "string") return encoded.within(i);
    texts.push(encoded);
  }
  return (constraints.uniqueItems ? repetition(texts) : undefined) ?? `[${texts.join(",")}]`;
}

function encodeDate(value: unknown): string | Mismatch {
  if (!(value instanceof Date)) return new Mismatch("a Date", kindOf(value));
  const text = formatDateTime(value);
  const got = Number.isNaN(value.getTime()) ? "an invalid Date" : "another";
  return text === undefined ? new Mismatch("a Date of the years 0 to 9999", got) : `"${text}"`;
}
