import type { WalrusValue } from "../../wire/bcs/data.js";
import type { Contract } from "../../wire/codec/contract.js";
import { type Decode, DecodeContext, DecoderCompiler, readInput } from "../../wire/codec/decoder.js";
import { Mismatch } from "../../wire/codec/mismatch.js";
import { FAILURE } from "../../wire/codec/ports.js";
import { WithSerdeErrorPath } from "../../wire/codec/with-error-path.js";
import { WireFault } from "../../wire/fault.js";
import { kindAt, NULL } from "../../wire/json/document.js";
import { setAbsent, setMember } from "../../wire/json/untyped-json.js";
import { LeaderError } from "../error.js";
import type { ResultPort } from "./result.js";

/** Port of a result. Its stored values may already have been fetched. */
export interface ReadablePort extends Pick<ResultPort, "name" | "many"> {
  readonly values: readonly ({ readonly kind: "inline"; readonly bytes: Uint8Array } | WalrusValue)[];
}

interface PortDecoder {
  readonly optional: boolean;
  readonly decode: Decode;
}

/**
 * Decodes results to the values that the tool returned: `bigint`, `Date` and `Uint8Array` as in the class; absent
 * optional members stay absent. Stored values stay references. Constraints are not checked, as servers do not check
 * them either.
 */
export class OutputReader {
  /** Decoders of each variant's ports. */
  readonly #variants: ReadonlyMap<string, ReadonlyMap<string, PortDecoder>>;

  constructor({ output, definitions = [] }: Pick<Contract, "output" | "definitions">) {
    const compiler = new DecoderCompiler(definitions, { wrap: WithSerdeErrorPath.of, isResult: true });
    this.#variants = new Map(
      [...output, FAILURE].map(({ name, ports }) => {
        const compiled = ports.map(({ name, optional = false, codec }) => {
          return [name, { optional, decode: compiler.compile(codec) }] as const;
        });
        return [name, new Map(compiled)];
      }),
    );
  }

  /**
   * @returns the values of the ports
   * @throws {@link LeaderError} `invalid_answer` if the result does not match the contract
   */
  read({ tag, ports }: { readonly tag: string; readonly ports: readonly ReadablePort[] }): Record<string, unknown> {
    const variant = this.#variants.get(tag);
    if (variant === undefined) throw misfit(`the contract has no variant ${JSON.stringify(tag)}`);
    const members: Record<string, unknown> = {};
    for (const port of ports) {
      const known = variant.get(port.name);
      if (known === undefined) throw misfit(`${tag} has no port ${JSON.stringify(port.name)} in the contract`);
      const values = port.values.map((value, i) =>
        value.kind === "walrus" ? value : readValue(known, value.bytes, valuePath(tag, port, i)),
      );
      const value = port.many ? values : values[0];
      if (value === ABSENT) setAbsent(members, port.name);
      else setMember(members, port.name, value);
    }
    return members;
  }
}

const ABSENT = Symbol("absent");

function valuePath(tag: string, { name, many }: ReadablePort, i: number): (string | number)[] {
  return many ? [tag, name, i] : [tag, name];
}

function readValue({ optional, decode }: PortDecoder, bytes: Uint8Array, path: (string | number)[]): unknown {
  try {
    const document = readInput("", bytes);
    if (optional && kindAt(document, 0) === NULL) return ABSENT;
    const value = decode(document, 0, new DecodeContext(false));
    if (value instanceof Mismatch) throw misfit(value.describe(path));
    return value;
  } catch (error) {
    if (error instanceof WireFault) throw misfit(error.details);
    throw error;
  }
}

function misfit(details: string): LeaderError {
  return new LeaderError("invalid_answer", `the result does not match the given contract: ${details}`);
}
