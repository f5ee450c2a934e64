import { decodeBase64, decodeBase64url } from "../../wire/base64.js";
import { asBuffer } from "../../wire/bytes.js";
import { isMemoryName } from "../../wire/replay-memory-header.js";
import type { SignedRequest } from "./signed-request.js";
import { Attempts } from "./signed-request.js";

const VERSION = 1;

/**
 * Signed request as JSON, which another process can read and send. Contains the input with a valid signature: protect
 * it like the input.
 */
export interface StoredRequest {
  readonly version: typeof VERSION;
  /** Tool for which a client signed the request. */
  readonly fqn?: string;
  /** Headers of the request, including signature, nonce and input hash. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body, in base64. */
  readonly body: string;
  /** Earliest possible time of the first attempt, in milliseconds since 1970. */
  readonly since: number;
  /** Name of the tool's replay memory at the time `since`, if known. */
  readonly memory?: string;
}

/**
 * Adds the method `toJSON`. After its first call, another process may send the request.
 *
 * @param memory returns the name of the tool's replay memory
 */
export function storable(request: SignedRequest, memory: () => string | undefined = () => undefined): SignedRequest {
  const toJSON = (): StoredRequest => {
    const { attempts, headers, body } = request;
    attempts.store(memory());
    return {
      version: VERSION,
      ...(request.fqn !== undefined && { fqn: request.fqn }),
      headers,
      body: asBuffer(body).toString("base64"),
      since: Math.round(attempts.since ?? 0),
      ...(attempts.memory !== undefined && { memory: attempts.memory }),
    };
  };
  return Object.defineProperty(request, "toJSON", { value: toJSON, configurable: true });
}

/**
 * Reads a stored request: the text that `JSON.stringify` returned for a signed request, or the parsed value. If a call
 * with it fails, `ran` is never `no`, because the process that stored the request may have sent it.
 *
 * @throws TypeError for any other value
 */
export function readRequest(stored: string | StoredRequest): SignedRequest {
  const { version, fqn, headers, body, since, memory } = parse(stored);
  if (version !== VERSION) {
    throw new TypeError(`stored request: expected version ${VERSION}, got ${JSON.stringify(version) ?? "none"}`);
  }
  const texts = typeof headers === "object" && headers !== null ? Object.entries(headers) : [];
  const bytesOf = (suffix: string, length: number) => {
    const [, text] = texts.find(([name]) => name.endsWith(suffix)) ?? [];
    const bytes = typeof text === "string" ? decodeBase64url(text) : undefined;
    if (bytes?.length === length) return bytes;
    throw new TypeError(`stored request: headers: expected ${suffix.slice(1)} with ${length} bytes in base64url`);
  };
  if (fqn !== undefined && typeof fqn !== "string")
    throw new TypeError("stored request: fqn: expected a string, got another value");
  const bytes = typeof body === "string" ? decodeBase64(body) : undefined;
  if (bytes === undefined) throw new TypeError("stored request: body: expected base64, got another value");
  if (typeof since !== "number" || !Number.isSafeInteger(since) || since < 0) {
    throw new TypeError("stored request: since: expected milliseconds since 1970, got another value");
  }
  if (memory !== undefined && (typeof memory !== "string" || !isMemoryName(memory))) {
    throw new TypeError("stored request: memory: expected the name of a replay memory, got another value");
  }
  return storable({
    headers: Object.fromEntries(texts) as Record<string, string>,
    body: bytes,
    ...(fqn !== undefined && { fqn }),
    inputHash: bytesOf("-Input-Hash", 32),
    leaderSignature: bytesOf("-Leader-Signature", 64),
    nonce: bytesOf("-Nonce", 32),
    attempts: Attempts.stored(memory, since),
  });
}

function parse(stored: unknown): { readonly [Name in keyof StoredRequest]?: unknown } {
  let value = stored;
  if (typeof stored === "string") {
    try {
      value = JSON.parse(stored);
    } catch (cause) {
      throw new TypeError("stored request: expected JSON", { cause });
    }
  }
  if (typeof value === "object" && value !== null) return value;
  throw new TypeError(`stored request: expected an object, got ${value === null ? "null" : typeof value}`);
}
