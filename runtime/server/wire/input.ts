/**
 * Decodes the typed input of a tool, port by port, from the committed texts of a signed request or from the members of
 * an unsigned body (protocol.md sections 2, 5 and 6).
 */

import type { Contract, Port } from "svc-client/internal/wire/codec/contract";
import {
  type Decode,
  DecodeContext,
  DecoderCompiler,
  type ListDecoder,
  missingMember,
  readInput,
  repeatedMember,
} from "svc-client/internal/wire/codec/decoder";
import { MemberNames } from "svc-client/internal/wire/codec/member-names";
import { Mismatch } from "svc-client/internal/wire/codec/mismatch";
import { WithSerdeErrorPath } from "svc-client/internal/wire/codec/with-error-path";
import type { CommittedText } from "svc-client/internal/wire/envelope/committed-texts";
import { inputFault, type Path, pathText, type WireFault } from "svc-client/internal/wire/fault";
import {
  ARRAY,
  after,
  firstIn,
  itemCount,
  type JsonDocument,
  kindAt,
  NULL,
  OBJECT,
  valueCount,
  valueOfKey,
} from "svc-client/internal/wire/json/document";
import { setAbsent, setMember } from "svc-client/internal/wire/json/untyped-json";
import { MAX_VALUES } from "svc-client/internal/wire/protocol";
import { formats } from "./formats.js";
import { UnionSteps } from "./union-steps.js";

interface CompiledPort {
  readonly port: Port;
  readonly decode: Decode;
  /** Only for a `many` port. */
  readonly list: ListDecoder | undefined;
}

export class InputDecoder {
  readonly #ports: readonly CompiledPort[];
  readonly #names: MemberNames;
  readonly #closed: boolean;
  readonly #hasUnion: boolean;

  constructor({ input, definitions = [], closedInput = false }: Contract) {
    const compiler = new DecoderCompiler(definitions, { wrap: WithSerdeErrorPath.of, formats });
    this.#ports = input.map((port) => {
      const list = port.many ? compiler.list(port.list ?? { kind: "array", item: port.codec }) : undefined;
      return { port, list, decode: list?.decode.bind(list) ?? compiler.compile(port.codec) };
    });
    this.#names = new MemberNames(input.map(({ name }) => name));
    this.#closed = closedInput;
    this.#hasUnion = compiler.hasUnion;
  }

  /**
   * Decodes the committed texts of a signed request.
   *
   * @param values the texts whose hash matched, by port in schema order
   * @param onUndeclared called with the name of each port that contains an undeclared member, which is ignored
   * @throws {@link WireFault} `input_deserialization_error` with the path of the failing member
   */
  decodeSigned(
    values: readonly (readonly CommittedText[])[],
    onUndeclared: (place: string) => void = () => {},
  ): Record<string, unknown> {
    const input: Record<string, unknown> = {};
    const steps = this.#hasUnion ? new UnionSteps(countValues(values)) : undefined;
    for (let i = 0; i < this.#ports.length; i++) {
      const { port, decode, list } = this.#ports[i] as CompiledPort;
      const { name } = port;
      const texts = values[i] as readonly CommittedText[];
      const context = new DecodeContext(false, steps);
      let value: unknown;
      if (list !== undefined) {
        value = list.decodeEach(
          texts.map((text, j) => readText(text, [name, j])),
          steps,
          context,
        );
      } else {
        const { document, entry } = readText(texts[0] as CommittedText, [name]);
        if (port.optional && kindAt(document, entry) === NULL) {
          setAbsent(input, name);
          continue;
        }
        value = decode(document, entry, context);
        if (value instanceof Mismatch) throw portFault(name, value, kindAt(document, entry));
      }
      if (value instanceof Mismatch) throw inputFault(value.describe([name]));
      if (context.undeclaredCount > 0) onUndeclared(name);
      setMember(input, name, value);
    }
    return input;
  }

  /**
   * Decodes the body of an unsigned request: plain JSON of the input type.
   *
   * @param document the body, if it has been parsed
   * @param onUndeclared as for {@link decodeSigned}; also called with `the input` for an undeclared member of the body
   * @throws {@link WireFault} `input_deserialization_error` with the path of the failing member
   */
  decodeUnsigned(
    body: Uint8Array,
    document = readInput("body", body),
    onUndeclared: (place: string) => void = () => {},
  ): Record<string, unknown> {
    if (kindAt(document, 0) !== OBJECT) throw inputFault("body: expected an object");
    const members = new Array<number>(this.#ports.length).fill(0);
    const repeated = new Set<number>();
    let undeclared = false;
    const end = after(document, 0);
    for (let key = firstIn(0), next = 0; key < end; key = after(document, valueOfKey(key))) {
      const index = this.#names.indexOf(document, key, next);
      if (index < 0) {
        undeclared = true;
        continue;
      }
      if (members[index] !== 0) repeated.add(index);
      members[index] = valueOfKey(key);
      next = index + 1;
    }
    const input: Record<string, unknown> = {};
    const context = new DecodeContext(true, this.#hasUnion ? new UnionSteps(valueCount(document)) : undefined);
    for (const [i, { port, decode, list }] of this.#ports.entries()) {
      const { name, optional } = port;
      const member = members[i] as number;
      if (repeated.has(i)) throw inputFault(repeatedMember().describe([name]));
      if (member === 0 || (optional && kindAt(document, member) === NULL)) {
        if (!optional) throw portFault(name);
        setAbsent(input, name);
        continue;
      }
      if (list !== undefined && kindAt(document, member) === ARRAY) {
        const count = itemCount(document, member);
        if (count < 1 || count > MAX_VALUES) {
          throw inputFault(`${pathText([name])}: expected 1 to ${MAX_VALUES} values, got ${count}`);
        }
      }
      const before = context.undeclaredCount;
      const value = decode(document, member, context);
      if (value instanceof Mismatch) throw portFault(name, value, kindAt(document, member));
      if (context.undeclaredCount > before) onUndeclared(name);
      setMember(input, name, value);
    }
    if (this.#closed && undeclared) throw inputFault("expected only declared members, got another");
    if (undeclared) onUndeclared("the input");
    return input;
  }
}

/**
 * Error of a port. A missing port is sent as null in a signed call, so null and an absent port have the same message.
 */
function portFault(name: string, mismatch?: Mismatch, kind?: number): WireFault {
  const isMissing = mismatch === undefined || kind === NULL;
  return inputFault((isMissing ? missingMember() : mismatch).describe([name]));
}

function countValues(values: readonly (readonly CommittedText[])[]): number {
  const documents = new Set(values.flatMap((texts) => texts.flatMap(({ document }) => document ?? [])));
  return [...documents].reduce((count, document) => count + valueCount(document), 0);
}

/** Returns a committed text as an entry of a parsed document; parses it if necessary. */
function readText(text: CommittedText, path: Path): { readonly document: JsonDocument; readonly entry: number } {
  return text.document === undefined ? { document: readInput(pathText(path), text.bytes), entry: 0 } : text;
}
