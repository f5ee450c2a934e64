/**
 * Encodes the result of a tool to the bytes that are signed (protocol.md sections 2, 3 and 7): the tag, then the ports
 * in schema order.
 */

import type { RawOutput } from "svc-client/internal/wire/bcs/bcs-shapes";
import { encodeOutput, nexusDataSize } from "svc-client/internal/wire/bcs/bcs-writer";
import {
  InlineValue,
  isNexusValue,
  NexusDataError,
  type NexusValue,
  OffchainToolOutput,
  valueJson,
} from "svc-client/internal/wire/bcs/data";
import { asBuffer } from "svc-client/internal/wire/bytes";
import type { Codec, Contract, Port, Variant } from "svc-client/internal/wire/codec/contract";
import { type Decode, DecodeContext, DecoderCompiler } from "svc-client/internal/wire/codec/decoder";
import { DefinitionMemo } from "svc-client/internal/wire/codec/definitions";
import { type Encode, EncoderCompiler, givenKind, hasMembers, memberOf } from "svc-client/internal/wire/codec/encoder";
import { listCheck, mapTuple, tuplePart } from "svc-client/internal/wire/codec/list-parts";
import { Mismatch } from "svc-client/internal/wire/codec/mismatch";
import { FAILURE, FAILURE_PORT, FAILURE_VARIANT } from "svc-client/internal/wire/codec/ports";
import { outputFault, type Path, pathText } from "svc-client/internal/wire/fault";
import { type JsonDocument, kindAt, NULL } from "svc-client/internal/wire/json/document";
import { JsonError } from "svc-client/internal/wire/json/error";
import { quote } from "svc-client/internal/wire/json/print";
import { parseJson } from "svc-client/internal/wire/json/scan";
import { kindOf } from "svc-client/internal/wire/kinds";
import {
  MAX_INLINE_BYTES,
  MAX_PORT_BYTES,
  MAX_RESULT_BYTES,
  MAX_VALUES,
  OUTPUT_BUDGET,
} from "svc-client/internal/wire/protocol";
import { formats } from "./formats.js";

/** A result of the reserved failure variant `_err_eval`, with its single port `reason`. */
export class ErrEval {
  constructor(readonly reason: string) {}
}

export interface EncodedOutput extends RawOutput {
  /** Set if the variant is declared as a string literal. */
  readonly text?: boolean | undefined;
  readonly ports: readonly { readonly name: string; readonly many: boolean; readonly values: readonly NexusValue[] }[];
}

export class OutputEncoder {
  readonly #variants: ReadonlyMap<string, VariantEncoder>;
  /** Decoders that check the inline values of explicit ports; created on demand. */
  readonly #decoders = new Map<Codec, Decode>();
  readonly #decoderCompiler: DecoderCompiler;

  constructor(contract: Contract) {
    this.#decoderCompiler = new DecoderCompiler(contract.definitions ?? [], { formats, isResult: true });
    const encoders = new EncoderCompiler(contract.definitions ?? [], formats);
    this.#variants = new Map(
      [...contract.output, FAILURE].map((variant) => [
        variant.name,
        {
          variant,
          ports: variant.ports.map((port) => ({
            port,
            encode: encoders.compile(port.codec),
            items: encoders.items(port.list ?? { kind: "array", item: port.codec }),
          })),
        },
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
    if (total > OUTPUT_BUDGET) throw outputFault(`result: at most ${OUTPUT_BUDGET} bytes over all ports, got ${total}`);
    return output;
  }

  /**
   * JSON text of one value of a port, without a length limit.
   *
   * @throws {@link WireFault} `output_serialization_error`
   */
  text(tag: string, name: string, value: unknown): string {
    const found = this.#variants.get(tag)?.ports.find(({ port }) => port.name === name);
    if (found === undefined) throw outputFault(`${pathText([tag, name])}: the tool has no such output port`);
    const { port, encode } = found;
    const text =
      port.optional && (value === undefined || value === null) ? "null" : encode(value, 0, new DefinitionMemo());
    if (text instanceof Mismatch) throw outputFault(text.describe([tag, name]));
    return text;
  }

  #variantOf(result: unknown): VariantEncoder {
    if (result instanceof ErrEval) return this.#variants.get(FAILURE_VARIANT) as VariantEncoder;
    let tag: string;
    if (typeof result === "string") {
      tag = result;
    } else {
      if (!hasMembers(result)) {
        throw outputFault(`result: expected an object with one variant, got ${givenKind(result)}`);
      }
      const names = Object.keys(result).filter((name) => (result as Record<string, unknown>)[name] !== undefined);
      if (names.length !== 1) throw outputFault(`result: expected exactly one variant, got ${names.length}`);
      tag = names[0] as string;
    }
    const found = this.#variants.get(tag);
    if (found === undefined || tag === FAILURE_VARIANT) {
      throw outputFault(`result: expected one of the variants ${this.#names()}, got another`);
    }
    if ((typeof result === "string") !== (found.variant.text === true)) {
      throw outputFault(`${tag}: expected ${found.variant.text ? "the string alone" : "an object with its ports"}`);
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
    { variant, ports }: VariantEncoder,
    result: unknown,
    onRounded: ((port: string) => void) | undefined,
  ): EncodedOutput {
    const tag = variant.name;
    if (variant.text) return { tag, ports: [], text: true };
    const payload: unknown =
      result instanceof ErrEval ? { [FAILURE_PORT]: result.reason } : (result as Record<string, unknown>)[tag];
    if (!hasMembers(payload)) {
      throw outputFault(`${pathText([tag])}: expected an object with its ports, got ${givenKind(payload)}`);
    }
    return {
      tag,
      ports: ports.map((compiled) => {
        const { port } = compiled;
        const memo = new DefinitionMemo();
        const values = encodePort(tag, compiled, memberOf(payload, port.name), memo);
        if (memo.rounded) onRounded?.(pathText([tag, port.name]));
        return { name: port.name, many: port.many, values };
      }),
    };
  }

  #explicit({ tag, ports }: OffchainToolOutput): EncodedOutput {
    const declared = this.#variants.get(tag)?.variant;
    if (declared === undefined) throw outputFault(`result: expected one of the variants ${this.#names()}, got another`);
    if (ports.length !== declared.ports.length) {
      throw outputFault(`${pathText([tag])}: expected ${declared.ports.length} ports, got ${ports.length}`);
    }
    return {
      tag,
      ...(declared.text && { text: true }),
      ports: ports.map(([name, data], i) => {
        const port = declared.ports[i] as Port;
        const place = pathText([tag, port.name]);
        if (name !== port.name) throw outputFault(`${place}: expected this port at place ${i + 1}, got another`);
        if (!port.many && data.values.length !== 1) {
          throw outputFault(`${place}: expected one value, got ${data.values.length}`);
        }
        if (data.kind !== "data") throw outputFault(`${place}: expected data, got object ids`);
        if (tag === FAILURE_VARIANT && data.values[0]?.kind !== "inline") {
          throw outputFault(`${place}: expected inline data, got a reference`);
        }
        const { list } = port;
        const wrong = list && listCheck(list, false)?.(data.values.length);
        if (wrong !== undefined) throw outputFault(wrong.describe([tag, name]));
        const parts = list?.kind === "tuple" ? mapTuple(list, (codec) => codec) : undefined;
        for (const [at, value] of data.values.entries()) {
          const codec = parts === undefined ? port.codec : tuplePart(parts, at, data.values.length);
          if (value.kind === "inline") this.#checkType(codec, port, value, port.many ? [tag, name, at] : [tag, name]);
        }
        return { name, many: port.many, values: data.values };
      }),
    };
  }

  /** @throws {@link WireFault} if an explicit inline value does not have the type of its port */
  #checkType(codec: Codec, port: Port, { bytes }: InlineValue, path: Path): void {
    let decode = this.#decoders.get(codec);
    if (decode === undefined) {
      decode = this.#decoderCompiler.compile(codec);
      this.#decoders.set(codec, decode);
    }
    let document: JsonDocument;
    try {
      document = parseJson(bytes);
    } catch (error) {
      if (error instanceof JsonError) throw outputFault(`${pathText(path)}: not JSON: ${error.message}`);
      throw error;
    }
    if (port.optional && kindAt(document, 0) === NULL) return;
    const value = decode(document, 0, new DecodeContext(true));
    if (value instanceof Mismatch) throw outputFault(value.describe(path));
  }
}

interface CompiledPort {
  readonly port: Port;
  readonly encode: Encode;
  /** Encoders of the items of a `many` port. */
  readonly items: ReturnType<EncoderCompiler["items"]>;
}

interface VariantEncoder {
  readonly variant: Variant;
  readonly ports: readonly CompiledPort[];
}

/**
 * BCS of a valid result.
 *
 * @throws {@link WireFault} if it is longer than {@link MAX_RESULT_BYTES}
 */
export function resultBytes(output: EncodedOutput): Buffer {
  const bytes = encodeOutput(output);
  if (bytes.length > MAX_RESULT_BYTES) {
    throw outputFault(`result: at most ${MAX_RESULT_BYTES} bytes of BCS, got ${bytes.length}`);
  }
  return bytes;
}

/**
 * Result as `{"<tag>":{"<port>":value,…}}`, or `"<tag>"` for a variant that is declared as a string literal, with stored
 * values as items of NexusData (protocol.md sections 3 and 6).
 */
export function resultJson({ tag, ports, text }: EncodedOutput): string {
  if (text) return quote(tag);
  const members = ports.map(({ name, many, values }) => {
    const texts = values.map((value) =>
      value.kind === "inline" ? asBuffer(value.bytes).toString("utf8") : valueJson(value),
    );
    return `${quote(name)}:${many ? `[${texts.join(",")}]` : texts[0]}`;
  });
  return `{${quote(tag)}:{${members.join(",")}}}`;
}

function encodePort(
  tag: string,
  { port, encode, items }: CompiledPort,
  value: unknown,
  memo: DefinitionMemo,
): NexusValue[] {
  const place = () => pathText([tag, port.name]);
  let values: NexusValue[];
  if (port.many) {
    if (!Array.isArray(value)) throw outputFault(`${place()}: expected an array, got ${kindOf(value)}`);
    const count = sentCount(value, port, items);
    if (count < 1 || count > MAX_VALUES) {
      throw outputFault(`${place()}: expected 1 to ${MAX_VALUES} values, got ${count}`);
    }
    const encoderAt = items(count);
    if (encoderAt instanceof Mismatch) throw outputFault(encoderAt.describe([tag, port.name]));
    values = [];
    for (let i = 0; i < count; i++) {
      values.push(portValue(port, encoderAt(i), value[i], [tag, port.name, i], memo));
    }
  } else if (port.optional && (value === undefined || value === null)) {
    values = [inlineValue("null", [tag, port.name])];
  } else {
    values = [portValue(port, encode, value, [tag, port.name], memo)];
  }
  const size = nexusDataSize(values, port.many);
  if (size > MAX_PORT_BYTES) throw outputFault(`${place()}: at most ${MAX_PORT_BYTES} bytes in a port, got ${size}`);
  return values;
}

/** Number of items to send. Absent optional items at the end of a tuple are not sent, if their types do not allow null. */
function sentCount(value: readonly unknown[], { list }: Port, items: CompiledPort["items"]): number {
  let count = value.length;
  if (list?.kind !== "tuple" || count > list.items.length) return count;
  const required = list.items.length - (list.optional ?? 0);
  for (; count > required; count--) {
    const item = value[count - 1];
    const encoderAt = items(count);
    const isAbsent = (item === undefined || item === null) && !(encoderAt instanceof Mismatch);
    if (!isAbsent || !(encoderAt(count - 1)(item, 0, new DefinitionMemo()) instanceof Mismatch)) break;
  }
  return count;
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
    if (error instanceof NexusDataError) throw outputFault(`${pathText(path)}: ${error.message}`);
    throw error;
  }
  if (!isNexusValue(referred)) throw outputFault(`${pathText(path)}: expected nexusValue() to give a NexusValue`);
  if (referred.kind === "object") throw outputFault(`${pathText(path)}: expected data, got an object id`);
  return referred;
}

/** Whether a value is a reference: it has a function as a member, which JSON data cannot have. */
function isReference(value: unknown): value is NexusValue | { nexusValue(): unknown } {
  if (value === null || typeof value !== "object") return false;
  return isNexusValue(value) || typeof (value as { nexusValue?: unknown }).nexusValue === "function";
}

function inlineValue(text: string | Mismatch, path: (string | number)[], held = false): InlineValue {
  if (text instanceof Mismatch) throw outputFault(text.describe(path));
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_INLINE_BYTES) {
    const what = `at most ${MAX_INLINE_BYTES} bytes in a value, got ${bytes.length}`;
    throw outputFault(
      `${pathText(path)}: ${what}${held ? ": store it and return its reference" : ": declare the port as DataRef<T> and store the value"}`,
    );
  }
  return new InlineValue(bytes);
}
