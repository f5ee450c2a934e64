/** Data of an exchange for the page: bytes, hashes, signatures, result or error. */

import { createHash } from "node:crypto";
import { DOMAINS, prettyJson, RESULT_CONTENT_TYPE, SignatureHeaders } from "svc-runtime/internal/generator";
import { commitmentsOf, createReceipt, engine } from "svc-runtime/internal/inspect";
import {
  decodeResult,
  InputHasher,
  JsonText,
  LeaderError,
  type MetaSchema,
  outputHash,
  type PortShape,
  type PublicKey,
  type SignedRequest,
  type ToolResult,
  verifyToolSignature,
} from "svc-runtime/leader";
import { type HttpExchange, headerOf } from "../../../http/exchange.js";
import type { PortTexts } from "../../../invoke/port-texts.js";
import { resultText } from "../../../invoke/result-text.js";
import type { BytesView, ExchangeView, HashView, SignatureView, StoredView } from "../page-api.js";
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
  /** Public key that the allow-list should contain for this leader. */
  readonly leaderKey?: Buffer;
}

interface ViewOptions {
  readonly fqn: string;
  readonly requestId: string;
  readonly ports: MetaSchema;
  readonly call: FailedCall;
  readonly toolKey?: PublicKey | undefined;
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
  const signed = signatures(done, prepared, options);
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
        ? {
            variant: decoded.tag,
            json: withoutSecrets(prettyJson(resultText(decoded)), secrets),
            stored: storedViews(decoded),
          }
        : null,
    error:
      response !== undefined && !isResult
        ? errorView(Buffer.from(withoutSecrets(response.body.toString(), secrets)), call)
        : null,
    inputHash: prepared.signed === undefined ? null : hashView(ports.inputPorts, prepared, prepared.signed),
    nonce: prepared.signed === undefined ? null : hex(prepared.signed.nonce),
    signatures: signed,
    receipt: signed.some(({ by }) => by === "tool") ? receiptText(done, prepared, options, signed) : null,
  };
}

/** Receipt of a result whose signatures are both verified. */
function receiptText(
  { response }: HttpExchange,
  { signed, signedTexts, secrets }: Prepared,
  { fqn, ports, call: { headerPrefix } }: ViewOptions,
  [leader, tool]: readonly SignatureView[],
): string | null {
  const isVerified = leader?.verdict === "verified" && tool?.verdict === "verified";
  if (!isVerified || !signed || !response || hasSecret(response.body, secrets)) return null;
  const names = new SignatureHeaders(headerPrefix);
  const receipt = createReceipt({
    ...signed,
    fqn,
    time: new Date(),
    headerPrefix,
    leaderId: signed.headers[names.leaderId] as string,
    leaderKeyId: signed.headers[names.leaderKeyId] as string,
    leaderPublicKey: Buffer.from(leader.key as string, "hex"),
    ports: ports.inputPorts,
    commitments: commitmentsOf(valuesOf(ports.inputPorts, signedTexts)),
    bcs: response.body,
    toolSignature: Buffer.from(headerOf(response, names.toolSignature) as string, "base64url"),
    toolPublicKey: Buffer.from(tool.key as string, "hex"),
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

function storedViews({ ports }: ToolResult): StoredView[] {
  return ports.flatMap(({ name, values }) =>
    values.flatMap((value) =>
      value.kind === "walrus"
        ? [{ port: name, blobId: Buffer.from(value.blobId).toString("latin1"), sha256: hex(value.contentDigest) }]
        : [],
    ),
  );
}

function hashView(
  ports: readonly PortShape[],
  { signedTexts, sentTexts, secrets }: Prepared,
  signed: SignedRequest,
): HashView {
  const values = valuesOf(ports, signedTexts);
  const bodyHash = hashOf(ports, sentTexts);
  return {
    hash: hex(signed.inputHash),
    bodyHash: hex(bodyHash),
    ports: ports.map(({ name, many }, i) => ({
      name,
      many,
      values: (values[i] ?? []).slice(0, MAX_SHOWN_VALUES).map((text) => ({
        text: withoutSecrets(Buffer.from(text).toString("utf8"), secrets).slice(0, 2000),
        commitment: sha256(text).toString("hex"),
      })),
    })),
  };
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

function signatures(
  { response }: HttpExchange,
  { signed, leaderKey }: Prepared,
  options: ViewOptions,
): SignatureView[] {
  if (signed === undefined || leaderKey === undefined) return [];
  const names = new SignatureHeaders(options.call.headerPrefix);
  const isLeaders = engine().verify(leaderKey, signed.inputHash, signed.leaderSignature);
  const leader: SignatureView = {
    by: "leader",
    header: names.leaderSignature,
    covers: [{ name: "input hash", hex: hex(signed.inputHash) }],
    verdict: isLeaders ? "verified" : "not verified",
    key: leaderKey.toString("hex"),
  };
  if (response?.status !== 200) return [leader];
  const given = headerOf(response, names.toolSignature);
  const { toolKey } = options;
  const tool: SignatureView = {
    by: "tool",
    header: names.toolSignature,
    covers: [
      { name: "domain", hex: Buffer.from(DOMAINS.toolResponse).toString("hex") },
      { name: "leader signature", hex: hex(signed.leaderSignature) },
      { name: "nonce", hex: hex(signed.nonce) },
      { name: "output hash", hex: hex(outputHash(response.body)) },
    ],
    verdict:
      given === undefined
        ? "absent"
        : toolKey === undefined
          ? "no key to verify it"
          : isOfTool(toolKey, signed, response.body, given)
            ? "verified"
            : "not verified",
    key: typeof toolKey === "string" ? toolKey : null,
  };
  return [leader, tool];
}

function isOfTool(key: PublicKey, signed: SignedRequest, body: Buffer, header: string): boolean {
  const signature = Buffer.from(header, "base64url");
  return signature.length === 64 && verifyToolSignature(key, signed, body, signature);
}
