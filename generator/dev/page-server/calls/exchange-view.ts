/** Data of an exchange for the page: bytes, hashes, signatures, result or error. */

import { createHash } from "node:crypto";
import { prettyJson, RESULT_CONTENT_TYPE, SignatureHeaders } from "svc-runtime/internal/generator";
import { commitmentsOf, createReceipt } from "svc-runtime/internal/inspect";
import {
  decodeResult,
  InputHasher,
  JsonText,
  LeaderError,
  type MetaSchema,
  outputHash,
  type PortShape,
  type SignedRequest,
  type ToolResult,
  verifyToolSignature,
} from "svc-runtime/leader";
import { type HttpExchange, headerOf } from "../../../http/exchange.js";
import type { PortTexts } from "../../../invoke/port-texts.js";
import { resultText } from "../../../invoke/result-text.js";
import type { BytesView, ExchangeView } from "../page-api.js";
import { errorView, type FailedCall } from "./advice.js";
import { hasSecret, withoutSecrets } from "./hidden-secrets.js";

/** A request and its parts. */
export interface Prepared {
  readonly body: Uint8Array;
  /** Values whose hash is signed. */
  readonly signedTexts: PortTexts;
  /** Values of the body. */
  readonly sentTexts: PortTexts;
  /** Texts to hide in the request and the answer. */
  readonly secrets: readonly string[];
  readonly signed?: SignedRequest;
  /** Public key of the leader that signed. */
  readonly leaderKey?: Buffer;
}

interface ViewOptions {
  readonly fqn: string;
  readonly requestId: string;
  readonly ports: MetaSchema;
  readonly call: FailedCall;
  readonly toolKey: string | undefined;
}

/** Maximum number of bytes of a body that are shown. */
const MAX_SHOWN_BYTES = 16 * 1024;
/** Maximum number of values of a port that are shown. */
const MAX_SHOWN_VALUES = 300;

export function exchangeView(done: HttpExchange, prepared: Prepared, options: ViewOptions): ExchangeView {
  const { requestId, ports, call } = options;
  const { secrets } = prepared;
  const { response } = done;
  const isResult = response?.status === 200 && headerOf(response, "content-type") === RESULT_CONTENT_TYPE;
  const decoded = isResult ? readResult(ports, response.body) : undefined;
  const signature = toolSignature(done, prepared, options);
  return {
    requestId,
    request: { line: done.line, headers: done.headers, body: bytesView(prepared.body, secrets) },
    response: response
      ? { status: response.status, headers: response.headers, body: bytesView(response.body, secrets, !isResult) }
      : null,
    failure: done.failure?.message ?? (typeof decoded === "string" ? decoded : null),
    phases: done.phases,
    result:
      typeof decoded === "object"
        ? { variant: decoded.tag, json: withoutSecrets(prettyJson(resultText(decoded)), secrets) }
        : null,
    error:
      response !== undefined && !isResult
        ? errorView(Buffer.from(withoutSecrets(response.body.toString(), secrets)), call)
        : null,
    signed: signedFacts(done, prepared, options),
    signature,
    receipt: signature === "verified" ? receiptText(done, prepared, options) : null,
  };
}

/** Receipt of a result with a verified signature. */
function receiptText(
  { response }: HttpExchange,
  { signed, signedTexts, leaderKey, secrets }: Prepared,
  { fqn, ports, toolKey, call: { headerPrefix } }: ViewOptions,
): string | null {
  if (!signed || !leaderKey || toolKey === undefined || !response || hasSecret(response.body, secrets)) return null;
  const names = new SignatureHeaders(headerPrefix);
  const receipt = createReceipt({
    ...signed,
    fqn,
    time: new Date(),
    headerPrefix,
    leaderId: signed.headers[names.leaderId] as string,
    leaderKeyId: signed.headers[names.leaderKeyId] as string,
    leaderPublicKey: leaderKey,
    ports: ports.inputPorts,
    commitments: commitmentsOf(valuesOf(ports.inputPorts, signedTexts)),
    bcs: response.body,
    toolSignature: Buffer.from(headerOf(response, names.toolSignature) as string, "base64url"),
    toolPublicKey: Buffer.from(toolKey, "hex"),
  });
  return JSON.stringify(receipt);
}

function bytesView(bytes: Uint8Array, secrets: readonly string[], isText = true): BytesView {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const hides = hasSecret(whole, secrets);
  const cut = (hides ? Buffer.from(withoutSecrets(whole.toString(), secrets)) : whole).subarray(0, MAX_SHOWN_BYTES);
  return { length: whole.length, hex: hides ? "" : cut.toString("hex"), text: isText ? cut.toString("utf8") : null };
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Result, or the reason why it cannot be read. */
function readResult(ports: MetaSchema, body: Buffer): ToolResult | string {
  try {
    return decodeResult(ports, body);
  } catch (error) {
    if (error instanceof LeaderError) return error.message;
    throw error;
  }
}

/** What was signed: hashes, the nonce, and the keys that verify the signatures. */
function signedFacts(
  { response }: HttpExchange,
  { signed, leaderKey, signedTexts, sentTexts, secrets }: Prepared,
  { ports: { inputPorts }, toolKey }: ViewOptions,
): (readonly [string, string])[] {
  if (signed === undefined || leaderKey === undefined) return [];
  const values = valuesOf(inputPorts, signedTexts);
  const commitments = inputPorts.flatMap(({ name, many }, i) =>
    (values[i] ?? []).slice(0, MAX_SHOWN_VALUES).map((bytes, item) => {
      const text = withoutSecrets(Buffer.from(bytes).toString("utf8"), secrets).slice(0, 2000);
      return [`SHA-256 of ${many ? `${name}[${item}]` : name}`, `${hex(sha256(bytes))} of ${text}`] as const;
    }),
  );
  const bodyHash = hex(hashOf(inputPorts, sentTexts));
  const isChanged = bodyHash !== hex(signed.inputHash);
  return [
    ["input hash", hex(signed.inputHash)],
    ...(isChanged ? [["hash of the values in the body", bodyHash] as const] : []),
    ...commitments,
    ["nonce", hex(signed.nonce)],
    ["public key of the leader", leaderKey.toString("hex")],
    ...(response?.status === 200 ? [["output hash", hex(outputHash(response.body))] as const] : []),
    ...(toolKey === undefined ? [] : [["public key of the tool", toolKey] as const]),
  ];
}

/**
 * Input hash. Also computed for invalid input, such as several values for a `one` port or a single value for a `many`
 * port.
 */
export function hashOf(ports: readonly PortShape[], texts: PortTexts): Uint8Array {
  return new InputHasher(ports).hash(valuesOf(ports, texts).map((values) => values.map(sha256)));
}

function valuesOf(ports: readonly PortShape[], texts: PortTexts): Uint8Array[][] {
  return ports.map(({ name }) => {
    const value = Object.hasOwn(texts, name) ? texts[name] : undefined;
    return [value ?? new JsonText("null")].flat().map(({ bytes }) => bytes);
  });
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

function toolSignature(
  { response }: HttpExchange,
  { signed }: Prepared,
  { call: { headerPrefix }, toolKey }: ViewOptions,
): ExchangeView["signature"] {
  if (signed === undefined || response?.status !== 200) return null;
  const given = headerOf(response, new SignatureHeaders(headerPrefix).toolSignature);
  if (given === undefined) return "absent";
  if (toolKey === undefined) return "no key to verify it";
  return isOfTool(toolKey, signed, response.body, given) ? "verified" : "not verified";
}

function isOfTool(key: string, signed: SignedRequest, body: Buffer, header: string): boolean {
  const signature = Buffer.from(header, "base64url");
  return signature.length === 64 && verifyToolSignature(key, signed, body, signature);
}
