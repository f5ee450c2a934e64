/**
 * svc-runtime/leader: the other end of the wire, for leaders, authors and tests. Reads a tool's metadata, derives its
 * ports, builds and signs requests, sends them, verifies and decodes what comes back (protocol.md sections 2 to 7).
 */

import { LeaderError } from "./leader/error.js";
import { Connections, type Incoming, type TlsOptions } from "./leader/exchange.js";
import { readMetadata, type ToolMetadata } from "./leader/metadata.js";
import {
  buildEnvelope,
  buildUnsignedBody,
  type Leader,
  prepareLeader,
  type SignedRequest,
  type SignOptions,
  signRequest,
} from "./leader/request.js";
import { type ResolvedResult, resolveResult, type ValueReader } from "./leader/resolve.js";
import { decodeResult, type PublicKey, publicKey, type ToolResult, verifyToolSignature } from "./leader/result.js";
import type { ReadOptions } from "./storage/walrus-reader.js";
import { decodeBase64url } from "./wire/base64.js";
import type { MetaSchema } from "./wire/bcs-shapes.js";
import type { VerifyKey } from "./wire/ed25519-keys.js";
import { RESULT_CONTENT_TYPE, SignatureHeaders } from "./wire/http-names.js";
import { JsonError } from "./wire/json-error.js";
import { MAX_RESULT_BYTES } from "./wire/output.js";
import { derivePorts, PortError } from "./wire/ports.js";
import { InputHasher, outputHash, SIGNATURE_VERSION } from "./wire/signature.js";
import { plainValue } from "./wire/untyped-json.js";

export { LeaderError, type LeaderFault } from "./leader/error.js";
export type { TlsOptions } from "./leader/exchange.js";
export { readMetadata, type ToolMetadata } from "./leader/metadata.js";
export {
  buildEnvelope,
  buildUnsignedBody,
  type Envelope,
  JsonText,
  type Leader,
  type SignedRequest,
  type SignOptions,
  signRequest,
} from "./leader/request.js";
export type { ResolvedResult, ValueReader } from "./leader/resolve.js";
export {
  decodeResult,
  type PublicKey,
  type ResultPort,
  type ToolResult,
  verifyToolSignature,
} from "./leader/result.js";
export type { Invocation } from "./wire/bcs.js";
export type { MetaSchema, PortShape, VariantShape } from "./wire/bcs-shapes.js";
export { InlineValue, WalrusValue } from "./wire/data.js";
export { prepareSigningKey, prepareVerifyKey, publicKeyOf } from "./wire/ed25519.js";
export { SigningKey, VerifyKey } from "./wire/ed25519-keys.js";
export { invocationNonce } from "./wire/nonce.js";
export { derivePorts, FAILURE_VARIANT } from "./wire/ports.js";
export { InputHasher, outputHash } from "./wire/signature.js";

/** Milliseconds that a call may take beyond the tool's own timeout, so that the tool's 504 still arrives. */
export const TIMEOUT_MARGIN_MS = 5_000;
/** Milliseconds for reading the metadata. */
export const META_TIMEOUT_MS = 10_000;
/** Bytes of an answer to a call: four times the largest result. */
export const MAX_ANSWER_BYTES = 4 * MAX_RESULT_BYTES;
/** Bytes of a metadata document. */
export const MAX_META_BYTES = 4 * 1024 * 1024;

/** What a client is given once. */
export interface LeaderOptions {
  /** Who signs; without it only unsigned calls can be made. */
  readonly leader?: Leader;
  /** The tool's public key. With it every signed call's result must carry the tool's signature, else it is refused. */
  readonly toolKey?: PublicKey;
  /** The tool that is expected; another one's metadata is refused. */
  readonly fqn?: string;
  /** `X-Svc-` by default, `X-Nexus-` for tools that serve older leaders. */
  readonly headerPrefix?: string;
  readonly tls?: TlsOptions;
  /** Fetches the values that results refer to: a `WalrusReader` of svc-runtime/storage. */
  readonly reader?: ValueReader;
}

/** What can be said for one call. */
export interface CallOptions {
  /** Milliseconds until the whole answer is there; the tool's timeout and 5 s by default. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * - `verified`: signed by the tool's key
 * - `unverified`: signed, but no key was given to check it with
 * - `unsigned`: no signature; nothing proves that the tool made the result
 */
export type SignatureState = "verified" | "unverified" | "unsigned";

/** The answer to a call that gave a result. */
export interface CallResult extends ToolResult {
  readonly signature: SignatureState;
  /** The canonical result, as it came. */
  readonly bcs: Buffer;
  /** 32 bytes: what the tool's signature covers of the result. */
  readonly outputHash: Buffer;
  /** 64 bytes; absent when the result is unsigned. */
  readonly toolSignature?: Buffer;
}

/**
 * A client of one tool.
 *
 * ```ts
 * const client = await LeaderClient.connect("https://tools.example/sum", { leader, toolKey });
 * const { tag, value } = await client.invoke({ a: 1n, b: 2n, label: "three", tags: ["x"] });
 * ```
 */
export class LeaderClient {
  /** Where the tool is, without a slash at the end. */
  readonly url: string;
  /** What the tool says about itself. */
  readonly metadata: ToolMetadata;
  /** Its ports, derived from the schemas. */
  readonly ports: MetaSchema;
  private readonly hasher: InputHasher;
  private readonly headerPrefix: string;
  private readonly headers: SignatureHeaders;
  private readonly leader: Leader | undefined;
  private readonly toolKey: VerifyKey | undefined;
  private readonly reader: ValueReader | undefined;

  private constructor(
    metadata: ToolMetadata,
    url: string,
    private readonly connections: Connections,
    options: LeaderOptions,
  ) {
    this.metadata = metadata;
    this.url = url;
    this.ports = portsOf(metadata);
    this.hasher = new InputHasher(this.ports.inputPorts);
    this.headerPrefix = options.headerPrefix ?? "X-Svc-";
    this.headers = new SignatureHeaders(this.headerPrefix);
    this.leader = options.leader && prepareLeader(options.leader);
    this.toolKey = options.toolKey === undefined ? undefined : publicKey(options.toolKey);
    this.reader = options.reader;
  }

  /**
   * Reads the metadata of the tool at an address.
   *
   * @param url where the tool is: what stands before `/invoke`. Calls go here, whatever the document says
   * @throws {@link LeaderError}; RangeError, TypeError for options that cannot be
   */
  static async connect(url: string | URL, options: LeaderOptions & CallOptions = {}): Promise<LeaderClient> {
    const base = baseUrl(String(url));
    const connections = new Connections(base.startsWith("https:"), options.tls);
    try {
      const { status, headers, body } = await connections.exchange({
        method: "GET",
        url: new URL(`${base}/meta`),
        headers: { Accept: "application/json" },
        timeoutMs: options.timeoutMs ?? META_TIMEOUT_MS,
        maxBytes: MAX_META_BYTES,
        signal: options.signal,
        repeatable: true,
      });
      if (status !== 200) throw refusal({ status, headers, body });
      return new LeaderClient(readMetadata(body, options.fqn), base, connections, options);
    } catch (error) {
      connections.close();
      throw error;
    }
  }

  /**
   * Makes a client from a metadata document: one that `/meta` answered, or the list of a `meta.json`.
   *
   * @param url where the tool is; by default what the document says
   * @throws {@link LeaderError} `invalid_metadata`; RangeError, TypeError for options that cannot be
   */
  static fromMetadata(
    document: string | Uint8Array,
    options: LeaderOptions & { readonly url?: string | URL } = {},
  ): LeaderClient {
    const metadata = readMetadata(document, options.fqn);
    const base = baseUrl(String(options.url ?? metadata.url));
    return new LeaderClient(metadata, base, new Connections(base.startsWith("https:"), options.tls), options);
  }

  /**
   * Calls the tool: {@link sign} and {@link send}.
   *
   * @param input a member for each port: plain values (bigints exact, `Date`, `Uint8Array`), or {@link JsonText}s
   * @throws {@link LeaderError}
   */
  async invoke(input: object, options: CallOptions & Pick<SignOptions, "nonce"> = {}): Promise<CallResult> {
    return this.send(this.sign(input, options), options);
  }

  /**
   * Builds and signs a request without sending it.
   *
   * @throws {@link LeaderError} `invalid_input`; TypeError when the client was given no leader
   */
  sign(input: object, options: Pick<SignOptions, "nonce"> = {}): SignedRequest {
    if (this.leader === undefined) throw new TypeError("sign: no leader: give the client `leader: { id, keyId, key }`");
    const envelope = buildEnvelope(this.ports.inputPorts, input, this.hasher);
    return signRequest(envelope, this.leader, { ...options, headerPrefix: this.headerPrefix });
  }

  /**
   * Sends a signed request. The same request sent again is an exact retry: while the tool remembers it, it gives the
   * same result and does not run again (protocol.md section 8).
   *
   * @throws {@link LeaderError}; with a `toolKey` also `unsigned_result` and `wrong_signature`
   */
  async send(request: SignedRequest, options: CallOptions = {}): Promise<CallResult> {
    const answer = await this.post(request.headers, request.body, options, true);
    const bcs = resultBody(answer);
    const toolSignature = this.signatureOf(answer);
    if (this.toolKey !== undefined) {
      if (toolSignature === undefined) {
        throw new LeaderError("unsigned_result", "the tool's key was given, but the result carries no signature");
      }
      if (!verifyToolSignature(this.toolKey, request, bcs, toolSignature)) {
        throw new LeaderError("wrong_signature", "the signature is not the tool's signature of this result");
      }
    }
    const signature = this.toolKey !== undefined ? "verified" : toolSignature === undefined ? "unsigned" : "unverified";
    return {
      ...decodeResult(this.ports, bcs),
      signature,
      bcs,
      outputHash: outputHash(bcs),
      ...(toolSignature !== undefined && { toolSignature }),
    };
  }

  /**
   * Calls a tool that does not require signatures, with plain JSON (protocol.md section 6). Its result is never signed,
   * so a `toolKey` plays no part.
   *
   * @throws {@link LeaderError}
   */
  async invokeUnsigned(input: object, options: CallOptions = {}): Promise<CallResult> {
    const body = buildUnsignedBody(this.ports.inputPorts, input);
    const bcs = resultBody(await this.post({ "Content-Type": "application/json" }, body, options, false));
    return { ...decodeResult(this.ports, bcs), signature: "unsigned", bcs, outputHash: outputHash(bcs) };
  }

  /**
   * Fetches what the references of a result stand for and verifies it by its digest: 8 MiB over all ports, or what the
   * reader's budget says.
   *
   * ```ts
   * const { value, texts } = await render.resolve(await render.invoke(input));
   * await check.invoke({ report: texts.report }); // exactly what is stored
   * ```
   *
   * @throws {@link LeaderError} `invalid_answer` for a stored value that is not JSON; `StorageError` for one that cannot
   * be had; TypeError when there are references and the client was given no reader
   */
  resolve(result: ToolResult, options: ReadOptions = {}): Promise<ResolvedResult> {
    return resolveResult(result, this.reader, options);
  }

  /** The status that the tool's `/health` answers. */
  async health(options: CallOptions = {}): Promise<number> {
    const { status } = await this.connections.exchange({
      method: "GET",
      url: new URL(`${this.url}/health`),
      headers: {},
      timeoutMs: options.timeoutMs ?? this.metadata.timeout + TIMEOUT_MARGIN_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: options.signal,
      repeatable: true,
    });
    return status;
  }

  /** Closes idle connections. They do not keep the process alive, so that this may be left out. */
  close(): void {
    this.connections.close();
  }

  private post(
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    options: CallOptions,
    repeatable: boolean,
  ): Promise<Incoming> {
    return this.connections.exchange({
      method: "POST",
      url: new URL(`${this.url}/invoke`),
      headers: { ...headers, Accept: `${RESULT_CONTENT_TYPE}, application/json;q=0.5` },
      body,
      timeoutMs: options.timeoutMs ?? this.metadata.timeout + TIMEOUT_MARGIN_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: options.signal,
      repeatable,
    });
  }

  private signatureOf({ headers }: Incoming): Buffer | undefined {
    const text = headers[this.headers.toolSignature.toLowerCase()];
    if (text === undefined) return undefined;
    const signature = typeof text === "string" ? decodeBase64url(text) : undefined;
    const version = headers[this.headers.version.toLowerCase()];
    if (version !== SIGNATURE_VERSION || signature?.length !== 64) {
      throw new LeaderError("wrong_signature", "expected a signature of version 3: base64url of 64 bytes");
    }
    return signature;
  }
}

function portsOf({ inputSchema, outputSchema }: ToolMetadata): MetaSchema {
  try {
    return derivePorts(inputSchema, outputSchema);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    throw new LeaderError("invalid_metadata", error.message, { cause: error });
  }
}

/** An address without query, fragment and final slashes. */
function baseUrl(text: string): string {
  if (!URL.canParse(text)) throw new TypeError("url: expected an absolute URL, such as https://tools.example/sum");
  const { protocol, host, pathname } = new URL(text);
  let end = pathname.length;
  while (pathname[end - 1] === "/") end--;
  if (protocol !== "https:" && protocol !== "http:") throw new TypeError("url: expected https or http");
  return `${protocol}//${host}${pathname.slice(0, end)}`;
}

function resultBody(answer: Incoming): Buffer {
  if (answer.status !== 200) throw refusal(answer);
  if (answer.headers["content-type"] === RESULT_CONTENT_TYPE) return answer.body;
  throw new LeaderError("invalid_answer", `expected a result of type ${RESULT_CONTENT_TYPE}, got another`);
}

/** The server's own words, where they are of the protocol's form. */
function refusal({ status, headers, body }: Incoming): LeaderError {
  const { error: code, details } = errorMembers(body);
  if (typeof code !== "string" || !/^[a-z_]{1,64}$/.test(code)) {
    return new LeaderError("invalid_answer", "neither a result nor an error of the protocol", { status });
  }
  // What a stranger wrote must not reach a terminal as control characters.
  const text = typeof details === "string" ? details.slice(0, 1000).replace(/\p{Cc}/gu, "\ufffd") : undefined;
  const after = headers["retry-after"];
  const retryAfter = after !== undefined && /^\d{1,9}$/.test(after) ? { retryAfter: Number(after) } : {};
  return new LeaderError(code, text, { status, ...retryAfter });
}

function errorMembers(body: Buffer): { error?: unknown; details?: unknown } {
  try {
    const value = plainValue(body);
    return value !== null && typeof value === "object" ? value : {};
  } catch (error) {
    if (error instanceof JsonError) return {};
    throw error;
  }
}
