/** Decodes results and verifies their signatures (protocol.md sections 2 to 4). */

import { isValidPublicKey, prepareVerifyKey } from "#platform/ed25519";
import { readPublicKey } from "../../keys.js";
import { decodeOutput } from "../../wire/bcs/bcs.js";
import type { MetaSchema, RawValue } from "../../wire/bcs/bcs-shapes.js";
import { InlineValue, NexusData, NexusDataError, NexusValue, type WalrusValue } from "../../wire/bcs/data.js";
import { FAILURE, FAILURE_VARIANT } from "../../wire/codec/ports.js";
import { JsonError } from "../../wire/json/error.js";
import { quote } from "../../wire/json/print.js";
import { plainValue } from "../../wire/json/untyped-json.js";
import { MAX_RESULT_BYTES } from "../../wire/protocol.js";
import { VerifyKey } from "../../wire/signature/ed25519-keys.js";
import { outputHash, toolSignatureMessage } from "../../wire/signature/signature.js";
import { engine } from "../engine.js";
import { LeaderError } from "../error.js";
import type { SignedRequest } from "../request/signed-request.js";

/** A public key: prepared, as 32 bytes, or as 64 hex digits. */
export type PublicKey = VerifyKey | Uint8Array | string;

export interface ResultPort {
  readonly name: string;
  readonly many: boolean;
  /** Inline values contain JSON texts; stored values are references that are not fetched or verified yet. */
  readonly values: readonly (InlineValue | WalrusValue)[];
}

/** The result of a call. */
export interface ToolResult {
  /** Variant: a declared one, or `_err_eval`. */
  readonly tag: string;
  readonly ports: readonly ResultPort[];
  /**
   * Ports as a plain object; `many` ports as arrays. Integers beyond ±(2^53−1) are bigints, smaller ones numbers; a
   * stored value is its {@link WalrusValue}.
   */
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Decodes a canonical result and checks it against the ports of the tool (protocol.md sections 2 and 3).
 *
 * @throws {@link LeaderError} `invalid_answer`
 */
export function decodeResult({ outputVariants }: Pick<MetaSchema, "outputVariants">, bcs: Uint8Array): ToolResult {
  if (bcs.length > MAX_RESULT_BYTES) {
    throw new LeaderError("invalid_answer", `result: at most ${MAX_RESULT_BYTES} bytes, got ${bcs.length}`);
  }
  try {
    const { tag, ports } = decodeOutput(bcs);
    const declared = tag === FAILURE_VARIANT ? FAILURE.ports : outputVariants.find(({ name }) => name === tag)?.ports;
    if (declared === undefined) throw new LeaderError("invalid_answer", "result: the tool declares no such variant");
    if (ports.length !== declared.length || declared.some(({ name }, i) => ports[i]?.name !== name)) {
      throw new LeaderError("invalid_answer", `${quote(tag)}: expected exactly the declared ports, in their order`);
    }
    const checked = declared.map(({ name, many }, i) => resultPort(name, many, ports[i]?.values ?? []));
    return { tag, ports: checked, value: Object.fromEntries(checked.map((port) => [port.name, plainPortValue(port)])) };
  } catch (error) {
    if (error instanceof RangeError || error instanceof JsonError) {
      throw new LeaderError("invalid_answer", error.message, { cause: error });
    }
    throw error;
  }
}

function resultPort(name: string, many: boolean, raw: readonly RawValue[]): ResultPort {
  if (!many && raw.length !== 1) throw new NexusDataError(`${quote(name)}: expected one value, got ${raw.length}`);
  const values = raw.map((value) => {
    if (value.kind === "object") throw new NexusDataError(`${quote(name)}: expected data, got an object id`);
    return value.kind === "inline"
      ? new InlineValue(value.bytes)
      : NexusValue.walrus(value.blobId, value.contentDigest);
  });
  // Throws if the number of values or their total size exceeds the limits of a port.
  if (many) NexusData.many(values);
  else NexusData.one(values[0] as InlineValue | WalrusValue);
  return { name, many, values };
}

function plainPortValue({ many, values }: ResultPort): unknown {
  const plain = values.map((value) => (value.kind === "inline" ? plainValue(value.bytes) : value));
  return many ? plain : plain[0];
}

/**
 * Verifies the tool's signature of a result (protocol.md section 4).
 *
 * @param request the request that was sent; its leader signature and nonce are part of the signed message
 * @throws RangeError for a key that no signature can verify against
 */
export function verifyToolSignature(
  toolKey: PublicKey,
  request: Pick<SignedRequest, "leaderSignature" | "nonce">,
  bcs: Uint8Array,
  signature: Uint8Array,
): boolean {
  const message = toolSignatureMessage(request.leaderSignature, request.nonce, outputHash(bcs));
  return engine().verify(publicKey(toolKey), message, signature);
}

/**
 * Prepares a public key.
 *
 * @param name begins the message of an error
 * @throws RangeError if no signature can verify against it
 */
export function publicKey(key: PublicKey, name = "tool key"): VerifyKey {
  if (key instanceof VerifyKey) return key;
  if (typeof key === "string") {
    const reading = readPublicKey(key);
    if ("key" in reading) return reading.key;
    throw new RangeError(`${name}: expected 64 hex digits of a public key, got ${reading.got}`);
  }
  if (!isValidPublicKey(key))
    throw new RangeError(`${name}: expected a valid Ed25519 public key of 32 bytes, got other bytes`);
  return prepareVerifyKey(key);
}
