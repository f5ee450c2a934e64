/** Builds requests from inputs: body, input hash, signature, headers (protocol.md sections 4 to 6). */

import { Buffer, base64url, randomBytes } from "#platform/bytes";
import { type Ed25519Engine, prepareSigningKey } from "#platform/ed25519";
import { sha256 } from "#platform/hash";
import { readSigningKey } from "../../keys.js";
import type { Invocation } from "../../wire/bcs/bcs.js";
import type { PortShape } from "../../wire/bcs/bcs-shapes.js";
import { exactBytes } from "../../wire/bcs/bcs-writer.js";
import { shareBrand } from "../../wire/brand.js";
import { asBuffer } from "../../wire/bytes.js";
import type { JsonDocument } from "../../wire/json/document.js";
import { quote, textOf } from "../../wire/json/print.js";
import { foldTape } from "../../wire/json/read.js";
import { parseJson } from "../../wire/json/scan.js";
import { PlainValueError, plainText } from "../../wire/json/untyped-json.js";
import { kindOf } from "../../wire/kinds.js";
import {
  isLeaderId,
  MAX_DEPTH,
  MAX_INLINE_BYTES,
  MAX_U64,
  MAX_VALUES,
  SIGNATURE_VERSION,
  SignatureHeaders,
} from "../../wire/protocol.js";
import { SigningKey } from "../../wire/signature/ed25519-keys.js";
import { InputHasher } from "../../wire/signature/input-hash.js";
import { invocationNonce } from "../../wire/signature/nonce.js";
import { engine } from "../engine.js";
import { LeaderError } from "../error.js";
import { Attempts, type Envelope, type SignedRequest } from "./signed-request.js";
import { storable } from "./stored-request.js";

/**
 * JSON text that is sent unchanged, as the value of a `one` port or an item of a `many` port. Text that is not
 * canonical is sent as base64 `bytes`, so that its formatting is signed too.
 */
export class JsonText {
  readonly bytes: Uint8Array;
  /** Makes `plainText` reject a JsonText inside a value, which would be sent as an object with its bytes. */
  get [Symbol.toStringTag]() {
    return "JsonText";
  }
  constructor(text: string | Uint8Array) {
    this.bytes = typeof text === "string" ? Buffer.from(text) : Buffer.from(text);
  }
}

shareBrand(JsonText, "JsonText");

/** The signer of requests (protocol.md section 5). */
export interface Leader {
  /** Id in the tool's allow-list: visible ASCII characters. */
  readonly id: string;
  /** Id of the leader's key: a u64. */
  readonly keyId: bigint | number;
  /** Private key: prepared, as 32 bytes, or as text in any format that the configuration accepts. */
  readonly key: SigningKey | Uint8Array | string;
}

/**
 * Builds the body of a signed request and its hash (protocol.md sections 4 and 5). A value is sent as `data` if its
 * text is canonical, at most 61,440 bytes long and not nested too deeply inside the envelope; otherwise as `bytes`.
 *
 * @param ports the tool's input ports in schema order
 * @param input a member for each port: plain values (bigints exact) or {@link JsonText}s. A missing `one` port is sent
 * as null
 * @param hasher hasher of the same ports, to reuse it for many inputs
 * @throws {@link LeaderError} `invalid_input`
 */
export function buildEnvelope(
  ports: readonly PortShape[],
  input: object,
  hasher: InputHasher = new InputHasher(ports),
): Envelope {
  const texts = inputTexts(ports, input);
  const members = ports.map(({ name, many }, i) => envelopePort(name, many, texts[i] as Uint8Array[]));
  return { body: envelopeBody(members), inputHash: hasher.hash(texts.map((items) => items.map(sha256))) };
}

/** Port of an envelope with the texts of its values. */
export function envelopePort(name: string, many: boolean, texts: readonly Uint8Array[]): string {
  // Number of nesting levels around a value in the envelope.
  const depth = many ? 6 : 5;
  const items = texts.map((text) => itemText(text, depth));
  return `{"port_name":${quote(name)},"value":${many ? `{"many":[${items.join(",")}]}` : `{"one":${items[0]}}`}}`;
}

export function envelopeBody(ports: readonly string[]): Buffer {
  return Buffer.from(`{"ports":[${ports.join(",")}]}`);
}

/**
 * Builds the body of an unsigned request: the input as plain JSON, without undefined members (protocol.md section 6).
 *
 * @throws {@link LeaderError} `invalid_input`
 */
export function buildUnsignedBody(ports: readonly PortShape[], input: object): Uint8Array {
  requireKnown(ports, input);
  const present = ports.filter(({ name, many }) => many || ownMember(input, name) !== undefined);
  const texts = inputTexts(present, pick(input, present));
  const parts: Uint8Array[] = [Buffer.from("{")];
  for (const [i, { name, many }] of present.entries()) {
    parts.push(Buffer.from(`${i === 0 ? "" : ","}${quote(name)}:${many ? "[" : ""}`));
    for (const [j, text] of (texts[i] as Uint8Array[]).entries()) parts.push(Buffer.from(j === 0 ? "" : ","), text);
    if (many) parts.push(Buffer.from("]"));
  }
  return Buffer.concat([...parts, Buffer.from("}")]);
}

function inputTexts(ports: readonly PortShape[], input: object): Uint8Array[][] {
  requireKnown(ports, input);
  return ports.map(({ name, many }) => {
    const value = ownMember(input, name);
    if (!many) return [valueText(value === undefined ? null : value, [name])];
    if (!Array.isArray(value) || value.length < 1 || value.length > MAX_VALUES) {
      const got = Array.isArray(value) ? `${value.length}` : "none";
      throw new LeaderError(
        "invalid_input",
        `${quote(name)}: expected an array of 1 to ${MAX_VALUES} values, got ${got}`,
      );
    }
    return Array.from(value, (item: unknown, i) => valueText(item, [name, i]));
  });
}

function ownMember(input: object, name: string): unknown {
  return Object.hasOwn(input, name) ? (input as Record<string, unknown>)[name] : undefined;
}

function pick(input: object, ports: readonly PortShape[]): object {
  return Object.fromEntries(ports.map(({ name }) => [name, ownMember(input, name)]));
}

/** @throws {@link LeaderError} if the input is not an object */
export function requireObject(input: unknown): object {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return input;
  throw new LeaderError("invalid_input", `expected an object with the input ports, got ${kindOf(input)}`);
}

function requireKnown(ports: readonly PortShape[], input: unknown): void {
  const unknown = Object.keys(requireObject(input)).find((name) => !ports.some((port) => port.name === name));
  if (unknown === undefined) return;
  const known = ports.map(({ name }) => quote(name)).join(", ");
  throw new LeaderError("invalid_input", `the tool has no input port ${quote(unknown)}: it has ${known || "none"}`);
}

/** @throws {@link LeaderError} `invalid_input` for a value without a JSON form */
export function valueText(value: unknown, path: (string | number)[]): Uint8Array {
  if (value instanceof JsonText) return value.bytes;
  try {
    return Buffer.from(plainText(value, path));
  } catch (error) {
    if (error instanceof PlainValueError) throw new LeaderError("invalid_input", error.message);
    throw error;
  }
}

/** Item of a value in an envelope: inline if its text is canonical and short, otherwise as `bytes`. */
function itemText(text: Uint8Array, depth: number): string {
  return fitsInline(text, depth)
    ? `{"kind":"data","data":${asBuffer(text).toString("utf8")}}`
    : `{"kind":"data","bytes":"${asBuffer(text).toString("base64")}"}`;
}

function fitsInline(text: Uint8Array, depth: number): boolean {
  if (text.length > MAX_INLINE_BYTES) return false;
  let document: JsonDocument;
  try {
    document = parseJson(text);
  } catch {
    return false;
  }
  if (document.spaced || !textOf(document, 0, "canonical").equals(document.bytes)) return false;
  const room = MAX_DEPTH - depth;
  return text.length <= 2 * room || nestingDepth(document) <= room;
}

function nestingDepth(document: JsonDocument): number {
  const above = (depths: readonly number[]) => 1 + depths.reduce((max, depth) => Math.max(max, depth), 0);
  const object = (members: readonly [string, number][]) => above(members.map(([, depth]) => depth));
  return foldTape<number>(document, 0, { scalar: () => 0, array: above, object });
}

export interface SignOptions {
  /**
   * 32 bytes, or the invocation from which the nonce is derived (protocol.md section 4); random by default. If two
   * calls have the same nonce and input, the second gets the answer of the first.
   */
  readonly nonce?: Uint8Array | Invocation;
  /** `X-Svc-` by default. */
  readonly headerPrefix?: string;
  /** By default, the fastest available engine. */
  readonly engine?: Ed25519Engine;
}

/**
 * Signs a body and creates the headers of the request (protocol.md section 5). The signature covers only the inputs,
 * not the nonce, the leader's id, the tool or the time: send the request over authenticated HTTPS.
 *
 * @throws RangeError, TypeError for an invalid leader
 */
export function signRequest(envelope: Envelope, leader: Leader, options: SignOptions = {}): SignedRequest {
  const { id, keyId, key } = prepareLeader(leader);
  const names = new SignatureHeaders(options.headerPrefix);
  const nonce = nonceOf(options.nonce);
  const leaderSignature = (options.engine ?? engine()).sign(key, envelope.inputHash);
  return storable({
    attempts: new Attempts(),
    body: envelope.body,
    inputHash: envelope.inputHash,
    leaderSignature,
    nonce,
    headers: {
      "Content-Type": "application/json",
      [names.version]: SIGNATURE_VERSION,
      [names.leaderId]: id,
      [names.leaderKeyId]: String(keyId),
      [names.inputHash]: base64url(asBuffer(envelope.inputHash)),
      [names.leaderSignature]: base64url(leaderSignature),
      [names.nonce]: base64url(asBuffer(nonce)),
    },
  });
}

function nonceOf(nonce: Uint8Array | Invocation | undefined): Uint8Array {
  if (nonce === undefined) return randomBytes(32);
  return nonce instanceof Uint8Array ? Buffer.from(exactBytes("nonce", nonce, 32)) : invocationNonce(nonce);
}

export interface PreparedLeader extends Leader {
  readonly keyId: bigint;
  readonly key: SigningKey;
}

/**
 * Checks a leader and prepares its key.
 *
 * @throws RangeError, TypeError for an invalid leader
 */
export function prepareLeader({ id, keyId, key }: Leader): PreparedLeader {
  if (typeof id !== "string" || !isLeaderId(id)) {
    const got = typeof id === "string" ? (id === "" ? "an empty string" : "other characters") : typeof id;
    throw new RangeError(`leader id: expected visible ASCII characters, got ${got}`);
  }
  if (!(typeof keyId === "bigint" || Number.isSafeInteger(keyId)) || keyId < 0 || keyId > MAX_U64) {
    throw new RangeError(`leader keyId: expected an integer from 0 to 2^64-1, got ${kindOf(keyId)}`);
  }
  return { id, keyId: BigInt(keyId), key: privateKey(key) };
}

function privateKey(key: Leader["key"]): SigningKey {
  if (key instanceof Uint8Array) return prepareSigningKey(key);
  if (key instanceof SigningKey) return key;
  const wanted = "leader key: expected a 32-byte private key in hex, base64 or base64url";
  if (typeof key !== "string") throw new TypeError(`${wanted}, got ${typeof key}`);
  const reading = readSigningKey(key);
  if ("key" in reading) return reading.key;
  throw new RangeError(`${wanted}, got ${reading.got}`);
}
