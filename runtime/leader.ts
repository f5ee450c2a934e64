/**
 * svc-runtime/leader: the client of the protocol, for leaders, authors and tests. Reads a tool's metadata, derives its
 * ports, builds, signs and sends requests, verifies and decodes results (protocol.md sections 2 to 7).
 */

import { HttpClient } from "#platform/http-client";
import { LeaderError } from "./leader/error.js";
import type { HttpResponse, TlsOptions } from "./leader/http-messages.js";
import { readMetadata, type ToolMetadata } from "./leader/metadata.js";
import { OutputReader } from "./leader/output-reader.js";
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
import { responseError } from "./leader/response.js";
import { decodeResult, type PublicKey, publicKey, type ToolResult, verifyToolSignature } from "./leader/result.js";
import type { OutputOf, SentInput, ToolType, UntypedTool } from "./leader/tool-types.js";
import type { ReadOptions } from "./storage/read-budget.js";
import { decodeBase64url } from "./wire/base64.js";
import type { MetaSchema } from "./wire/bcs-shapes.js";
import type { Contract } from "./wire/contract.js";
import type { VerifyKey } from "./wire/ed25519-keys.js";
import { RESULT_CONTENT_TYPE, SignatureHeaders } from "./wire/http-names.js";
import { MAX_RESULT_BYTES } from "./wire/output.js";
import { derivePorts, PortError } from "./wire/ports.js";
import { InputHasher, outputHash, SIGNATURE_VERSION } from "./wire/signature.js";

export { prepareSigningKey, prepareVerifyKey, publicKeyOf } from "#platform/ed25519";
export { type KeyReading, readPrivateKey } from "./config/keys.js";
export { LeaderError, type LeaderFault } from "./leader/error.js";
export type { TlsOptions } from "./leader/http-messages.js";
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
export type { ErrEvalOutput, InputOf, OutputOf, SentInput, ToolType, UntypedTool } from "./leader/tool-types.js";
export type { Invocation } from "./wire/bcs.js";
export type { MetaSchema, PortShape, VariantShape } from "./wire/bcs-shapes.js";
export { InlineValue, WalrusValue } from "./wire/data.js";
export { SigningKey, VerifyKey } from "./wire/ed25519-keys.js";
export type { ErrorCode } from "./wire/error-codes.js";
export { invocationNonce } from "./wire/nonce.js";
export { derivePorts } from "./wire/ports.js";
export { InputHasher, outputHash } from "./wire/signature.js";

/** Milliseconds added to the tool's own timeout, so that the tool's 504 still arrives. */
export const TIMEOUT_MARGIN_MS = 5_000;
/** Timeout of reading the metadata, in milliseconds. */
const META_TIMEOUT_MS = 10_000;
/** Limit of an answer to a call, in bytes: four times the largest result. */
export const MAX_ANSWER_BYTES = 4 * MAX_RESULT_BYTES;
/** Limit of a metadata document, in bytes. */
const MAX_META_BYTES = 4 * 1024 * 1024;

/** Options of a client. */
export interface LeaderOptions {
  /** The signer; without it only unsigned calls are possible. */
  readonly leader?: Leader;
  /** The tool's public key. With it the result of a signed call is refused unless the tool signed it. */
  readonly toolKey?: PublicKey;
  /** The expected tool; metadata of another tool is refused. */
  readonly fqn?: string;
  /** `X-Svc-` by default, `X-Nexus-` for tools that serve older leaders. */
  readonly headerPrefix?: string;
  readonly tls?: TlsOptions;
  /** Fetches the references of results: a `WalrusReader` of svc-runtime/storage. */
  readonly reader?: ValueReader;
  /**
   * Generated contracts, with the tool's among them: `contracts` of `src/generated/contracts.ts`. They decode `output`;
   * without them a result has `value` only.
   */
  readonly contracts?: readonly Contract[];
}

/** Options of one call. */
export interface CallOptions {
  /** Timeout of the complete answer, in milliseconds: by default the tool's timeout and 5 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * - `verified`: signed by the tool's key
 * - `unverified`: signed, but the client has no key to verify it
 * - `unsigned`: no signature, hence no proof that the tool made the result
 */
export type SignatureState = "verified" | "unverified" | "unsigned";

/** The result of a call, with its signature. */
export interface CallResult<Tool extends ToolType = UntypedTool> extends ToolResult {
  /**
   * The result as the tool's class has it: `{ ok: { sum: 3n } }`, a variant without ports as its name. A `bigint` is
   * always a bigint, a `Date` a `Date` and bytes a `Uint8Array`; absent optional members are absent. Not enumerable.
   * Undefined without {@link LeaderOptions.contracts}.
   */
  readonly output: OutputOf<Tool>;
  readonly signature: SignatureState;
  /** The canonical result as received. */
  readonly bcs: Uint8Array;
  /** 32 bytes: the hash of the result that the tool's signature covers. */
  readonly outputHash: Uint8Array;
  /** 64 bytes; absent when the result is unsigned. */
  readonly toolSignature?: Uint8Array;
}

/**
 * A client of one tool. With the tool's class as type argument and its contract, inputs and outputs have its types; the
 * class itself is not loaded.
 *
 * @example
 * ```ts
 * import { LeaderClient, type LeaderOptions } from "svc-runtime/leader";
 * import { contracts } from "./generated/contracts.js";
 * import type { Sum } from "./sum.js";
 *
 * export async function add(options: LeaderOptions) {
 *   const client = await LeaderClient.connect<typeof Sum>("https://tools.example/sum", { ...options, contracts });
 *   const { output } = await client.invoke({ a: 1n, b: 2n, label: "three", tags: ["x"] });
 *   return "ok" in output ? output.ok.sum : undefined;
 * }
 * ```
 */
export class LeaderClient<Tool extends ToolType = UntypedTool> {
  /** The address of the tool, without a trailing slash. */
  readonly url: string;
  /** The tool's metadata. */
  readonly metadata: ToolMetadata;
  /** The ports, derived from the schemas. */
  readonly ports: MetaSchema;
  private readonly hasher: InputHasher;
  private readonly headerPrefix: string;
  private readonly headers: SignatureHeaders;
  private readonly leader: Leader | undefined;
  private readonly toolKey: VerifyKey | undefined;
  private readonly reader: ValueReader | undefined;
  private readonly outputReader: OutputReader | undefined;

  private constructor(
    metadata: ToolMetadata,
    url: string,
    private readonly http: HttpClient,
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
    this.outputReader = options.contracts && new OutputReader(contractIn(options.contracts, metadata.fqn));
  }

  /**
   * Reads the metadata of the tool at an address. The tool's class as type argument requires its contract.
   *
   * @param url the tool's address: the part before `/invoke`. Calls are sent here, not to the address in the document
   * @throws {@link LeaderError}; RangeError, TypeError for invalid options
   */
  static connect<Tool extends ToolType = UntypedTool>(
    url: string | URL,
    options: LeaderOptions & CallOptions & { readonly contracts: readonly Contract[] },
  ): Promise<LeaderClient<Tool>>;
  static connect(url: string | URL, options?: LeaderOptions & CallOptions): Promise<LeaderClient>;
  static async connect(url: string | URL, options: LeaderOptions & CallOptions = {}): Promise<LeaderClient> {
    const base = baseUrl(String(url));
    const http = new HttpClient(base.startsWith("https:"), options.tls);
    try {
      const { status, headers, body } = await http.send({
        method: "GET",
        url: new URL(`${base}/meta`),
        headers: { Accept: "application/json" },
        timeoutMs: options.timeoutMs ?? META_TIMEOUT_MS,
        maxBytes: MAX_META_BYTES,
        signal: options.signal,
        idempotent: true,
      });
      if (status !== 200) throw notThere(base, "meta", { status, headers, body });
      return new LeaderClient(readMetadata(body, options.fqn), base, http, options);
    } catch (error) {
      http.close();
      throw error;
    }
  }

  /**
   * Makes a client from a metadata document: an answer of `/meta`, or the list in a `meta.json`. The tool's class as type
   * argument requires its contract.
   *
   * @param options who calls; `url` is the tool's address, by default the one in the document
   * @throws {@link LeaderError} `invalid_metadata`; RangeError, TypeError for invalid options
   */
  static fromMetadata<Tool extends ToolType = UntypedTool>(
    document: string | Uint8Array,
    options: LeaderOptions & { readonly url?: string | URL; readonly contracts: readonly Contract[] },
  ): LeaderClient<Tool>;
  static fromMetadata(
    document: string | Uint8Array,
    options?: LeaderOptions & { readonly url?: string | URL },
  ): LeaderClient;
  static fromMetadata(
    document: string | Uint8Array,
    options: LeaderOptions & { readonly url?: string | URL } = {},
  ): LeaderClient {
    const metadata = readMetadata(document, options.fqn);
    const base = baseUrl(String(options.url ?? metadata.url));
    return new LeaderClient(metadata, base, new HttpClient(base.startsWith("https:"), options.tls), options);
  }

  /**
   * Calls the tool: {@link sign} and {@link send}.
   *
   * @param input a member for each port: plain values (bigints exact, `Date`, `Uint8Array`), or {@link JsonText}s
   * @throws {@link LeaderError}
   */
  async invoke(
    input: SentInput<Tool>,
    options: CallOptions & Pick<SignOptions, "nonce"> = {},
  ): Promise<CallResult<Tool>> {
    return this.send(this.sign(input, options), options);
  }

  /**
   * Builds and signs a request without sending it.
   *
   * @throws {@link LeaderError} `invalid_input`; TypeError when the client has no leader
   */
  sign(input: SentInput<Tool>, options: Pick<SignOptions, "nonce"> = {}): SignedRequest {
    if (this.leader === undefined) throw new TypeError("sign: no leader: give the client `leader: { id, keyId, key }`");
    const envelope = buildEnvelope(this.ports.inputPorts, input, this.hasher);
    return signRequest(envelope, this.leader, { ...options, headerPrefix: this.headerPrefix });
  }

  /**
   * Sends a signed request. Sending the same request again is an exact retry: while the tool remembers it, the tool
   * returns the same result without running again (protocol.md section 8).
   *
   * @throws {@link LeaderError}; with a `toolKey` also `unsigned_result` and `wrong_signature`
   */
  async send(request: SignedRequest, options: CallOptions = {}): Promise<CallResult<Tool>> {
    const answer = await this.post(request.headers, request.body, options, true);
    const bcs = resultBody(this.url, answer);
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
    return this.result(bcs, { signature, ...(toolSignature !== undefined && { toolSignature }) });
  }

  /**
   * Calls a tool that does not require signatures, with plain JSON (protocol.md section 6). The result is never signed,
   * so `toolKey` is not used.
   *
   * @throws {@link LeaderError}
   */
  async invokeUnsigned(input: SentInput<Tool>, options: CallOptions = {}): Promise<CallResult<Tool>> {
    const body = buildUnsignedBody(this.ports.inputPorts, input);
    const bcs = resultBody(this.url, await this.post({ "Content-Type": "application/json" }, body, options, false));
    return this.result(bcs, { signature: "unsigned" });
  }

  /**
   * Fetches the content of a result's references and verifies it by digest: at most 8 MiB over all ports, or the
   * reader's budget.
   *
   * @example
   * ```ts
   * import type { LeaderClient } from "svc-runtime/leader";
   *
   * export async function renderAndCheck(render: LeaderClient, check: LeaderClient) {
   *   const { texts } = await render.resolve(await render.invoke({ account: "A-1" }));
   *   await check.invoke({ report: texts.report }); // exactly what is stored
   * }
   * ```
   *
   * @throws {@link LeaderError} `invalid_answer` for a stored value that is not JSON; `StorageError` for one that
   * cannot be fetched or verified; TypeError when there are references and the client has no reader
   */
  resolve(result: ToolResult, options: ReadOptions = {}): Promise<ResolvedResult> {
    return resolveResult(result, this.reader, options);
  }

  /** The status of the tool's `/health`. */
  async health(options: CallOptions = {}): Promise<number> {
    const { status } = await this.http.send({
      method: "GET",
      url: new URL(`${this.url}/health`),
      headers: {},
      timeoutMs: options.timeoutMs ?? this.metadata.timeout + TIMEOUT_MARGIN_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: options.signal,
      idempotent: true,
    });
    return status;
  }

  /** Closes idle connections. Optional, since they do not keep the process alive. */
  close(): void {
    this.http.close();
  }

  private post(
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    options: CallOptions,
    idempotent: boolean,
  ): Promise<HttpResponse> {
    return this.http.send({
      method: "POST",
      url: new URL(`${this.url}/invoke`),
      headers: { ...headers, Accept: `${RESULT_CONTENT_TYPE}, application/json;q=0.5` },
      body,
      timeoutMs: options.timeoutMs ?? this.metadata.timeout + TIMEOUT_MARGIN_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: options.signal,
      idempotent,
    });
  }

  private result(bcs: Uint8Array, signature: Pick<CallResult, "signature" | "toolSignature">): CallResult<Tool> {
    const decoded = decodeResult(this.ports, bcs);
    const facts = { ...decoded, ...signature, bcs, outputHash: outputHash(bcs) };
    const output = this.outputReader?.read(decoded) as OutputOf<Tool>;
    // Not enumerable: JSON.stringify of a whole result would fail on its bigints.
    return Object.defineProperty(facts, "output", { value: output }) as typeof facts & {
      readonly output: OutputOf<Tool>;
    };
  }

  private signatureOf({ headers }: HttpResponse): Uint8Array | undefined {
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

/** @throws TypeError when the tool's contract is not among them */
function contractIn(contracts: readonly Contract[], fqn: string): Contract {
  const found = contracts.find((contract) => contract.fqn === fqn);
  if (found !== undefined) return found;
  const names = contracts.map((contract) => contract.fqn).join(", ") || "none";
  throw new TypeError(`contracts: expected one of ${fqn}, got ${names}`);
}

/** The address without query, fragment and trailing slashes. */
function baseUrl(text: string): string {
  if (!URL.canParse(text)) throw new TypeError("url: expected an absolute URL, such as https://tools.example/sum");
  const { protocol, host, pathname } = new URL(text);
  let end = pathname.length;
  while (pathname[end - 1] === "/") end--;
  if (protocol !== "https:" && protocol !== "http:") throw new TypeError("url: expected https or http");
  return `${protocol}//${host}${pathname.slice(0, end)}`;
}

function resultBody(base: string, answer: HttpResponse): Uint8Array {
  if (answer.status !== 200) throw notThere(base, "invoke", answer);
  if (answer.headers["content-type"] === RESULT_CONTENT_TYPE) return answer.body;
  throw new LeaderError("invalid_answer", `expected a result of type ${RESULT_CONTENT_TYPE}, got another`);
}

/** An error answer with the address that was asked, when nothing is there. */
function notThere(base: string, endpoint: string, answer: HttpResponse): LeaderError {
  const error = responseError(answer);
  if (answer.status !== 404) return error;
  const { code, details = "nothing is there" } = error;
  const end = /^(.*)(\/(?:invoke|meta|health))$/.exec(base);
  const hint = end === null ? "" : `; the url ends in ${end[2]}: give the tool's address, ${end[1]}`;
  return new LeaderError(code, `${details}; asked ${base}/${endpoint}${hint}`, { status: 404 });
}
