import { HttpClient } from "#platform/http-client";
import { checkNames } from "../check-names.js";
import { checkedInteger } from "../checked-integer.js";
import { decodeBase64url } from "../wire/base64.js";
import type { MetaSchema } from "../wire/bcs/bcs-shapes.js";
import type { Contract } from "../wire/codec/contract.js";
import { derivePorts, PortError } from "../wire/codec/ports.js";
import {
  DEFAULT_HEADER_PREFIX,
  DEFAULT_REPLAY_CACHE_TTL_MS,
  MAX_TIMEOUT_MS,
  RESULT_CONTENT_TYPE,
  SIGNATURE_VERSION,
  SignatureHeaders,
} from "../wire/protocol.js";
import type { Receipt } from "../wire/receipt.js";
import { isMemoryName } from "../wire/replay-memory-header.js";
import type { VerifyKey } from "../wire/signature/ed25519-keys.js";
import { InputHasher } from "../wire/signature/input-hash.js";
import { outputHash } from "../wire/signature/signature.js";
import { type Address, Addresses } from "./addresses.js";
import {
  beforeAttempt,
  type CallState,
  exchange,
  get,
  getMeta,
  inTime,
  MAX_ANSWER_BYTES,
  newCall,
  resultBody,
} from "./call.js";
import { listChanges } from "./contract-changes.js";
import { LeaderError } from "./error.js";
import { readMetadata, type ToolMetadata } from "./metadata.js";
import {
  addressOf,
  CALL_OPTIONS,
  type CallEnd,
  type CallOptions,
  type CloseOptions,
  checkTrust,
  contractIn,
  INVOKE_OPTIONS,
  type InvokeOptions,
  LEADER_OPTIONS,
  type LeaderOptions,
} from "./options.js";
import { type ReceiptOptions, receiptMaker } from "./receipt/result-receipt.js";
import { isRepeatable, repeatUntil } from "./repeat.js";
import {
  buildEnvelope,
  buildUnsignedBody,
  type PreparedLeader,
  prepareLeader,
  type SignOptions,
  signRequest,
} from "./request/request.js";
import { Attempts, type SignedRequest } from "./request/signed-request.js";
import { storable } from "./request/stored-request.js";
import { OutputReader } from "./result/output-reader.js";
import { type ReadOptions, type ResolvedResult, resolveResult, type ValueReader } from "./result/resolve.js";
import { decodeResult, type ResultPort, type ToolResult, verifyToolSignature } from "./result/result.js";
import { toolKeyRing } from "./tool-keys.js";
import type { ByVariant, OutputOf, SentInput, ToolType, UntypedTool } from "./tool-types.js";
import type { HttpResponse, Transport } from "./transport/transport.js";

/** Milliseconds added to the tool's own timeout, so that the tool's 504 can arrive. */
export const TIMEOUT_MARGIN_MS = 5_000;
/** Time limit for reading the metadata, in milliseconds. */
const META_TIMEOUT_MS = 10_000;
/**
 * Default time, in milliseconds, during which a call is repeated: the default lifetime of a server's replay entries.
 */
const REPEAT_MS = DEFAULT_REPLAY_CACHE_TTL_MS;
/** Default time for which `close` waits for running calls, in milliseconds. */
const CLOSE_MS = 30_000;
/** Minimum interval between checks for a changed contract after rejected inputs, in milliseconds. */
const CHANGE_CHECK_MS = 10_000;

/**
 * - `verified`: signed by a key of the tool
 * - `unverified`: signed, but the client has no key to verify it
 * - `unsigned`: no signature, and no proof that the result comes from the tool
 */
export type SignatureState = "verified" | "unverified" | "unsigned";

/** The parts of a result that do not depend on its variant. */
export interface CallFacts {
  readonly ports: readonly ResultPort[];
  readonly signature: SignatureState;
  /** The canonical result, as received. */
  readonly bcs: Uint8Array;
  /** 32 bytes: hash of the result, which the tool's signature covers. */
  readonly outputHash: Uint8Array;
  /** 64 bytes; absent if the result is unsigned. */
  readonly toolSignature?: Uint8Array;
  /**
   * Receipt of the call: `JSON.stringify` prints it, and `readReceipt` verifies it without the server.
   *
   * @throws TypeError unless `signature` is `verified`; RangeError for names of unknown ports
   */
  receipt(options?: ReceiptOptions): Receipt;
}

/**
 * The result of a call, with its signature; `tag` narrows `value`.
 *
 * `value` contains the ports. With {@link LeaderOptions.contracts}, they have the types of the tool's class: a `bigint`
 * is always a bigint, a `Date` a `Date` and bytes a `Uint8Array`; absent optional members are absent. Otherwise they are
 * exact JSON, as in {@link ToolResult}.
 */
export type CallResult<Tool extends ToolType = UntypedTool> = ByVariant<OutputOf<Tool>, CallFacts>;

/** Public members of a {@link LeaderClient}, for fakes in tests. */
export type ToolClient<Tool extends ToolType = UntypedTool> = Pick<LeaderClient<Tool>, keyof LeaderClient<Tool>>;

/** One address of a tool, or several. */
export type ToolAddress = string | URL | readonly (string | URL)[];

/** The tool's contract when it was last read. */
interface Known {
  readonly metadata: ToolMetadata;
  readonly ports: MetaSchema;
  readonly hasher: InputHasher;
}

/** Connection of a client that is created from a metadata document. */
type Connection = { readonly http: Transport; readonly urls: readonly string[] };

/**
 * Client of one tool. With the tool's class as type argument and its contract, inputs and outputs have its types; the
 * class itself is not loaded.
 *
 * Every failed call rejects with a {@link LeaderError}, whose `ran` tells whether the tool ran. A TypeError or
 * RangeError means that an argument is invalid and nothing was sent.
 *
 * @example
 * ```ts
 * import { LeaderClient, type LeaderOptions } from "svc-runtime/leader";
 * import { contracts } from "./generated/contracts.js";
 * import type { Sum } from "./sum.js";
 *
 * export async function add(options: LeaderOptions) {
 *   const client = await LeaderClient.connect<typeof Sum>("https://tools.example/sum", { ...options, contracts });
 *   const { tag, value } = await client.invoke({ a: 1n, b: 2n, label: "three", tags: ["x"] }, { repeat: true });
 *   return tag === "ok" ? value.sum : undefined;
 * }
 * ```
 */
export class LeaderClient<Tool extends ToolType = UntypedTool> {
  readonly #http: Transport;
  readonly #addresses: Addresses;
  #known: Known;
  readonly #headerPrefix: string;
  readonly #headers: SignatureHeaders;
  readonly #leader: PreparedLeader | undefined;
  readonly #toolKeys: ReturnType<typeof toolKeyRing> | undefined;
  readonly #reader: ValueReader | undefined;
  readonly #outputReader: OutputReader | undefined;
  readonly #observe: LeaderOptions["observe"];
  readonly #receipts: LeaderOptions["receipts"];
  readonly #running = new Set<Promise<unknown>>();
  readonly #cut = new AbortController();
  #isClosed = false;
  #changeCheckedAt = Number.NEGATIVE_INFINITY;

  private constructor(document: string | Uint8Array, options: LeaderOptions, { http, urls }: Connection) {
    const { leader, toolKey, headerPrefix = DEFAULT_HEADER_PREFIX, contracts } = options;
    this.#known = knownOf(readMetadata(document, options.fqn));
    this.#http = http;
    const given = urls.length > 0 ? urls : [addressOf(this.#known.metadata.url, options)];
    this.#addresses = new Addresses(given);
    this.#headerPrefix = headerPrefix;
    this.#headers = new SignatureHeaders(headerPrefix);
    this.#leader = leader && prepareLeader(leader);
    this.#toolKeys = toolKey === undefined ? undefined : toolKeyRing(toolKey);
    this.#reader = options.reader;
    this.#outputReader = contracts && new OutputReader(contractIn(contracts, this.#known.metadata.fqn));
    this.#observe = options.observe;
    this.#receipts = options.receipts;
  }

  /**
   * Reads the metadata of the tool at an address. The tool's class as type argument requires its contract.
   *
   * @param url the tool's address: the part before `/invoke`. Calls are sent here, not to the address in the document.
   * Several addresses must serve the same tool: the client tries another address if the call certainly did not run, or
   * if both addresses share a replay memory
   * @throws {@link LeaderError}; RangeError, TypeError for invalid options
   */
  static connect<Tool extends ToolType = UntypedTool>(
    url: ToolAddress,
    options: LeaderOptions & CallOptions & { readonly contracts: readonly Contract[] },
  ): Promise<LeaderClient<Tool>>;
  static connect(url: ToolAddress, options?: LeaderOptions & CallOptions): Promise<LeaderClient>;
  static async connect(url: ToolAddress, options: LeaderOptions & CallOptions = {}): Promise<LeaderClient> {
    checkNames("connect", options, { ...LEADER_OPTIONS, ...CALL_OPTIONS });
    checkTrust(options);
    const urls = [url].flat().map((each) => addressOf(String(each), options));
    if (urls.length === 0) throw new TypeError("url: expected at least one address, got none");
    const http = new HttpClient(options);
    const call = newCall(options, META_TIMEOUT_MS);
    try {
      for (const [i, each] of urls.entries()) {
        try {
          const answer = await getMeta(http, each, call);
          const client = new LeaderClient(answer.body, options, { http, urls });
          client.#note(client.#addresses.select(i), answer);
          return client;
        } catch (error) {
          if (i + 1 === urls.length || !(error instanceof LeaderError && isRepeatable(error))) throw error;
        }
      }
      throw new TypeError("unreachable");
    } catch (error) {
      http.close();
      throw error;
    }
  }

  /**
   * Creates a client from a metadata document: an answer of `/meta`, or the list in a `meta.json`. The tool's class as
   * type argument requires its contract.
   *
   * @param options options of the client; `url` is one address of the tool or several, by default the one in the
   * document
   * @throws {@link LeaderError} `invalid_metadata`; RangeError, TypeError for invalid options
   */
  static fromMetadata<Tool extends ToolType = UntypedTool>(
    document: string | Uint8Array,
    options: LeaderOptions & {
      readonly url?: ToolAddress;
      readonly contracts: readonly Contract[];
    },
  ): LeaderClient<Tool>;
  static fromMetadata(
    document: string | Uint8Array,
    options?: LeaderOptions & { readonly url?: ToolAddress },
  ): LeaderClient;
  static fromMetadata(
    document: string | Uint8Array,
    options: LeaderOptions & { readonly url?: ToolAddress } = {},
  ): LeaderClient {
    checkNames("fromMetadata", options, { ...LEADER_OPTIONS, url: true });
    checkTrust(options);
    const urls = options.url === undefined ? [] : [options.url].flat().map((each) => addressOf(String(each), options));
    return new LeaderClient(document, options, { http: new HttpClient(options), urls });
  }

  /** Address to which calls are sent, without a trailing slash. */
  get url(): string {
    return this.#addresses.current.url;
  }

  /** The tool's metadata when it was last read. */
  get metadata(): ToolMetadata {
    return this.#known.metadata;
  }

  /** Ports, derived from the schemas. */
  get ports(): MetaSchema {
    return this.#known.ports;
  }

  /**
   * Signs a request and sends it: like {@link sign} and {@link send}, or with the option `repeat` like {@link sign} and
   * {@link repeat}. If the first attempt is rejected because the tool has a new replay memory, sends the request again
   * with the name of that memory.
   *
   * @param input a member for each port: plain values (bigints exact, `Date`, `Uint8Array`), or {@link JsonText}s
   * @throws {@link LeaderError}; if the input was signed, its `request` can be repeated
   */
  async invoke(input: SentInput<Tool>, options: InvokeOptions = {}): Promise<CallResult<Tool>> {
    checkNames("invoke", options, INVOKE_OPTIONS);
    const { repeat = false, nonce, ...rest } = options;
    if (typeof repeat !== "boolean") throw new TypeError(`repeat: expected true or false, got ${typeof repeat}`);
    const request = this.#sign("invoke", input, nonce === undefined ? {} : { nonce });
    return repeat ? this.repeat(request, rest) : this.#call(request, rest, (call) => this.#inTurn(request, call));
  }

  /**
   * Builds and signs a request without sending it.
   *
   * @throws {@link LeaderError} `invalid_input`; TypeError if the client has no leader
   */
  sign(input: SentInput<Tool>, options: Pick<SignOptions, "nonce"> = {}): SignedRequest {
    checkNames("sign", options, { nonce: true });
    return this.#sign("sign", input, options);
  }

  #sign(method: string, input: SentInput<Tool>, options: Pick<SignOptions, "nonce">): SignedRequest {
    if (this.#leader === undefined) {
      const remedy = "create it with `leader: { id, keyId, key }`, or use invokeUnsigned for an unsigned server";
      throw new TypeError(`${method}: expected a client with a leader, got one without: ${remedy}`);
    }
    const { ports, hasher, metadata } = this.#known;
    const envelope = buildEnvelope(ports.inputPorts, input, hasher);
    const request = signRequest(envelope, this.#leader, { ...options, headerPrefix: this.#headerPrefix });
    return storable({ ...request, fqn: metadata.fqn }, () => this.#addresses.current.memory);
  }

  /**
   * Sends a signed request once. Sending the same request again is an exact retry: while the tool remembers it, the
   * tool returns the same result without running again (protocol.md section 8).
   *
   * @throws {@link LeaderError}; with a `toolKey` also `unsigned_result` and `wrong_signature`
   */
  async send(request: SignedRequest, options: CallOptions = {}): Promise<CallResult<Tool>> {
    checkNames("send", options, CALL_OPTIONS);
    this.#checkRequest(request);
    return this.#call(request, options, async (call) => {
      if (request.attempts.ran !== "no") await this.#learnMemory(request, call);
      return this.#attempt(request, this.#addresses.current, call);
    });
  }

  /**
   * Sends a signed request, with growing pauses, until it has a final outcome. The tool runs at most once ({@link
   * InvokeOptions.repeat}), and an answer that was lost is received again. Also use it for the `request` of a {@link
   * LeaderError} and for stored requests.
   *
   * @param options `deadline` by default in five minutes
   * @throws {@link LeaderError} of the last attempt; its `ran` covers all attempts
   */
  async repeat(request: SignedRequest, options: CallOptions = {}): Promise<CallResult<Tool>> {
    checkNames("repeat", options, CALL_OPTIONS);
    this.#checkRequest(request);
    const until = { ...options, deadline: options.deadline ?? Date.now() + REPEAT_MS };
    return this.#call(request, until, async (call) => {
      const attempt = async () => {
        await this.#learnMemory(request, call);
        return this.#inTurn(request, call);
      };
      return repeatUntil(attempt, call.msLeft, call.signals);
    });
  }

  /**
   * Calls a tool that does not require signatures, with plain JSON (protocol.md section 6). The result is never signed,
   * so `toolKey` is not used.
   *
   * @throws {@link LeaderError}
   */
  async invokeUnsigned(input: SentInput<Tool>, options: CallOptions = {}): Promise<CallResult<Tool>> {
    checkNames("invokeUnsigned", options, CALL_OPTIONS);
    const body = buildUnsignedBody(this.#known.ports.inputPorts, input);
    return this.#call(undefined, options, async (call) => {
      const answer = await this.#post(this.#addresses.current, { "Content-Type": "application/json" }, body, call);
      return this.#result(resultBody(this.url, answer), { signature: "unsigned", receipt: noReceipt });
    });
  }

  /**
   * Fetches the content of a result's references and verifies its digest. The content of all ports together may take
   * at most 8 MiB, or less if the reader has a lower limit.
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
   * @throws {@link LeaderError} `invalid_answer` for a stored value that is not JSON; `StorageError` for a value that
   * cannot be fetched or verified; TypeError if there are references but the client has no reader
   */
  async resolve(result: Pick<ToolResult, "tag" | "ports">, options: ReadOptions = {}): Promise<ResolvedResult<Tool>> {
    return (await resolveResult(result, this.#reader, this.#outputReader, options)) as ResolvedResult<Tool>;
  }

  /** HTTP status of the tool's `/health`. */
  async health(options: CallOptions = {}): Promise<number> {
    checkNames("health", options, CALL_OPTIONS);
    this.#checkOpen();
    const call = newCall(options, this.metadata.timeout + TIMEOUT_MARGIN_MS, this.#cut.signal);
    return (await this.#track(get(this.#http, `${this.url}/health`, MAX_ANSWER_BYTES, call))).status;
  }

  /**
   * Reads the metadata again, for later calls.
   *
   * @returns the changes of the ports, one text each; empty if there are none
   * @throws {@link LeaderError}
   */
  async refresh(options: CallOptions = {}): Promise<readonly string[]> {
    checkNames("refresh", options, CALL_OPTIONS);
    this.#checkOpen();
    const before = this.#known;
    this.#known = await this.#track(this.#read(newCall(options, META_TIMEOUT_MS, this.#cut.signal)));
    return listChanges(before.ports, this.#known.ports);
  }

  /**
   * Rejects new calls and waits for running ones. Connections that all clients of the process share stay open; while
   * idle, they do not keep the process alive.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkNames("close", options, { timeoutMs: true });
    const { timeoutMs = CLOSE_MS } = options;
    checkedInteger("timeoutMs", timeoutMs, 0, MAX_TIMEOUT_MS);
    this.#isClosed = true;
    if (this.#running.size > 0) {
      const timer = setTimeout(() => this.destroy(), timeoutMs);
      await Promise.allSettled(this.#running);
      clearTimeout(timer);
    }
    this.destroy();
  }

  /** Rejects new calls and aborts running ones, which fail with `aborted`. */
  destroy(): void {
    this.#isClosed = true;
    this.#cut.abort(new LeaderError("aborted", "the client was destroyed"));
    this.#http.close();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new LeaderError("client_closed", "the client was closed before this call");
  }

  #track<T>(running: Promise<T>): Promise<T> {
    this.#running.add(running);
    const end = () => this.#running.delete(running);
    running.then(end, end);
    return running;
  }

  /** Runs a call: checks its options, observes it, and adds the request to its error. */
  async #call(
    request: SignedRequest | undefined,
    options: CallOptions,
    make: (call: CallState) => Promise<CallResult<Tool>>,
  ): Promise<CallResult<Tool>> {
    const ran = () => request?.attempts.ran ?? "no";
    let call: CallState;
    try {
      this.#checkOpen();
      call = newCall(options, this.metadata.timeout + TIMEOUT_MARGIN_MS, this.#cut.signal);
    } catch (error) {
      throw error instanceof LeaderError ? error.with({ ran: ran(), request }) : error;
    }
    const began = performance.now();
    const { fqn } = this.metadata;
    const observed = quietly(() => this.#observe?.({ fqn, url: this.url, nonce: request?.nonce }));
    const end = (ended: Pick<CallEnd, "ran" | "tag" | "code">) => {
      const { attempts, status, sentBytes, receivedBytes } = call;
      const milliseconds = performance.now() - began;
      quietly(() => observed?.({ attempts, status, sentBytes, receivedBytes, milliseconds, ...ended }));
    };
    try {
      const result = await this.#track(make(call));
      end({ ran: "yes", tag: String(result.tag), code: undefined });
      return result;
    } catch (error) {
      const failure = error instanceof LeaderError ? await this.#explain(error.with({ request }), call) : error;
      const code = failure instanceof LeaderError ? failure.code : undefined;
      end({ ran: failure instanceof LeaderError ? failure.ran : ran(), tag: undefined, code });
      throw failure;
    }
  }

  /** @throws TypeError if this client cannot send the request */
  #checkRequest(request: SignedRequest): void {
    const { attempts, body, leaderSignature, nonce, fqn = this.metadata.fqn }: SignedRequest = Object(request);
    const isWhole = [body, leaderSignature, nonce].every((each) => each instanceof Uint8Array);
    if (!(attempts instanceof Attempts) || !isWhole) {
      throw new TypeError("request: expected a request returned by `sign` or `readRequest`, got another value");
    }
    if (fqn !== this.metadata.fqn) {
      throw new TypeError(`request: expected one signed for ${this.metadata.fqn}, got one signed for ${fqn}`);
    }
  }

  /** Sends a request to the current address, then to the others while it is certain that the tool runs at most once. */
  async #inTurn(request: SignedRequest, call: CallState): Promise<CallResult<Tool>> {
    const tried = new Set<Address>();
    // If servers with different replay memories share an address, each rejects requests that name another memory.
    let renamed = 0;
    for (;;) {
      const address = this.#addresses.current;
      tried.add(address);
      try {
        return await this.#attempt(request, address, call, renamed < 2);
      } catch (error) {
        if (!(error instanceof LeaderError) || !isRepeatable(error) || call.msLeft() <= 0) throw error;
        if (error.code === "replay_memory_lost" && error.ran === "no" && renamed++ < 2) continue;
        if (!this.#addresses.selectNext(tried, error, request.attempts)) throw error;
      }
    }
  }

  /**
   * Reads the name of the replay memory before the first attempt, so that a repeat can send it. If the name was unknown
   * at the first attempt, a repeat sends a name that no server has, so that it cannot run as a new request.
   */
  async #learnMemory({ attempts }: SignedRequest, call: CallState): Promise<void> {
    const address = this.#addresses.current;
    if (address.known || attempts.memory !== undefined) return;
    this.#note(address, await beforeAttempt(attempts, getMeta(this.#http, address.url, call)));
  }

  /** Sends a request once. */
  async #attempt(request: SignedRequest, address: Address, call: CallState, named = true): Promise<CallResult<Tool>> {
    const { attempts } = request;
    const keys = this.#toolKeys && (await beforeAttempt(attempts, inTime(this.#toolKeys(), call)));
    const memory = attempts.begin(named ? address.memory : undefined);
    let answeredBy: string | undefined;
    let verifiedBy: VerifyKey | undefined;
    const headers =
      memory === undefined ? request.headers : { ...request.headers, [this.#headers.replayMemory]: memory };
    try {
      const answer = await this.#post(address, headers, request.body, call);
      answeredBy = this.#note(address, answer);
      const bcs = resultBody(address.url, answer);
      const toolSignature = this.#signatureOf(answer);
      if (keys !== undefined) {
        if (toolSignature === undefined) {
          throw new LeaderError(
            "unsigned_result",
            "expected a result signed by the tool, because toolKey is set, got an unsigned one",
          );
        }
        const signer = (list = keys) => list.find((key) => verifyToolSignature(key, request, bcs, toolSignature));
        // The key may have been replaced while the tool ran.
        verifiedBy = signer() ?? signer(this.#toolKeys && (await inTime(this.#toolKeys(), call)));
        if (verifiedBy === undefined) {
          throw new LeaderError(
            "wrong_signature",
            "no key in toolKey signed this result: compare toolKey with the public key of the tool's response_signing_key",
          );
        }
      }
      const signature = keys !== undefined ? "verified" : toolSignature === undefined ? "unsigned" : "unverified";
      const receipt = this.#receiptOf(request, bcs, toolSignature, verifiedBy);
      const result = this.#result(bcs, { signature, ...(toolSignature !== undefined && { toolSignature }), receipt });
      await this.#keep(result, call);
      attempts.end("yes");
      return result;
    } catch (error) {
      if (!(error instanceof LeaderError)) {
        attempts.end("maybe");
        throw error;
      }
      // If a memory other than the named one rejected this attempt, the attempt ran nothing; `attempts` covers the
      // earlier attempts. The named memory itself rejects a first attempt only if a gateway had already sent the
      // request to a process that has since shut down.
      const isOther = error.code === "replay_memory_lost" && answeredBy !== attempts.memory;
      const ran = attempts.end(isOther ? "no" : error.ran);
      throw error.with({ ran, request });
    }
  }

  async #post(
    { url }: Address,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array,
    call: CallState,
  ): Promise<HttpResponse> {
    call.sentBytes += body.length;
    return exchange(this.#http, call, {
      method: "POST",
      url: new URL(`${url}/invoke`),
      headers: { ...headers, Accept: `${RESULT_CONTENT_TYPE}, application/json;q=0.5` },
      body,
      maxBytes: MAX_ANSWER_BYTES,
    });
  }

  #result(bcs: Uint8Array, facts: Pick<CallFacts, "signature" | "toolSignature" | "receipt">): CallResult<Tool> {
    const { receipt, ...signature } = facts;
    try {
      const decoded = decodeResult(this.ports, bcs);
      const value = this.#outputReader?.read(decoded) ?? decoded.value;
      const result = { ...decoded, value, ...signature, bcs, outputHash: outputHash(bcs) };
      // Not enumerable, because the result is data and its receipt is created on demand.
      return Object.defineProperty(result, "receipt", { value: receipt }) as unknown as CallResult<Tool>;
    } catch (error) {
      // Only a verified signature proves that the result comes from the tool.
      throw error instanceof LeaderError && signature.signature === "verified" ? error.with({ ran: "yes" }) : error;
    }
  }

  #receiptOf(
    request: SignedRequest,
    bcs: Uint8Array,
    toolSignature: Uint8Array | undefined,
    toolKey: VerifyKey | undefined,
  ): CallFacts["receipt"] {
    if (toolSignature === undefined || toolKey === undefined) return noReceipt;
    const { fqn } = this.metadata;
    const { inputPorts: ports } = this.ports;
    const [headerPrefix, leader] = [this.#headerPrefix, this.#leader];
    return receiptMaker({ fqn, headerPrefix, ports, request, leader, bcs, toolSignature, toolKey });
  }

  /** Passes the receipt of a result to the application. */
  async #keep({ receipt }: CallResult<Tool>, call: CallState): Promise<void> {
    if (this.#receipts === undefined) return;
    try {
      await inTime(Promise.resolve(this.#receipts(receipt())), call);
    } catch (cause) {
      throw new LeaderError("receipt_not_kept", "the function `receipts` failed or took too long", { cause });
    }
  }

  #signatureOf({ headers }: HttpResponse): Uint8Array | undefined {
    const text = headers[this.#headers.toolSignature.toLowerCase()];
    if (text === undefined) return undefined;
    const signature = typeof text === "string" ? decodeBase64url(text) : undefined;
    const version = headers[this.#headers.version.toLowerCase()];
    if (version !== SIGNATURE_VERSION || signature?.length !== 64) {
      throw new LeaderError("wrong_signature", "expected a signature of version 3: base64url of 64 bytes");
    }
    return signature;
  }

  /** Records and returns the name of the replay memory that answered. */
  #note(address: Address, { status, headers }: HttpResponse): string | undefined {
    const text = headers[this.#headers.replayMemory.toLowerCase()];
    const name = typeof text === "string" && isMemoryName(text) ? text : undefined;
    if (name !== undefined) address.memory = name;
    // An answer of a gateway tells nothing about the tool's memory.
    if (text !== undefined || status === 200) address.known = true;
    return name;
  }

  async #read(call: CallState): Promise<Known> {
    const address = this.#addresses.current;
    const answer = await getMeta(this.#http, address.url, call);
    this.#note(address, answer);
    return knownOf(readMetadata(answer.body, this.metadata.fqn));
  }

  /** Adds a likely cause to an error: another header prefix, or changes of the contract. */
  async #explain(error: LeaderError, { signals }: CallState): Promise<LeaderError> {
    const { details = "" } = error;
    if (error.code === "auth_failed" && error.request && isOtherPrefix(details, this.#headers.version)) {
      const what = `the client's signature headers begin with ${this.#headerPrefix}: set headerPrefix to the server's`;
      return error.with({ details: `${details}; ${what}` });
    }
    const isMisfit = error.status === 422 || (error.code === "invalid_answer" && error.status === undefined);
    const now = performance.now();
    if (!isMisfit || this.#isClosed || now - this.#changeCheckedAt < CHANGE_CHECK_MS) return error;
    this.#changeCheckedAt = now;
    try {
      const { ports } = await this.#read({ ...newCall({}, META_TIMEOUT_MS), signals });
      const changes = listChanges(this.ports, ports);
      if (changes.length === 0) return error;
      const what = `the tool's contract has changed: ${changes.join(", ")}; call refresh()`;
      return error.with({ details: error.details === undefined ? what : `${error.details}; ${what}` });
    } catch {
      return error;
    }
  }
}

/** Receipt of a result that no signature proves. */
function noReceipt(): never {
  throw new TypeError(
    "receipt: expected a signed call and a client with `toolKey`: no verified signature proves this result",
  );
}

/** Calls a function of the application and ignores its errors, including asynchronous ones. */
function quietly<T>(act: () => T): T | undefined {
  try {
    const given = act();
    Promise.resolve(given).catch(() => undefined);
    return given;
  } catch {
    return undefined;
  }
}

/** Whether a server that found no signature reads headers with another prefix than the client sent. */
function isOtherPrefix(details: string, sent: string): boolean {
  const [, read] = /^(\S+Sig-V): missing$/.exec(details) ?? [];
  return read !== undefined && read.toLowerCase() !== sent.toLowerCase();
}

function knownOf(metadata: ToolMetadata): Known {
  try {
    const ports = derivePorts(metadata.inputSchema, metadata.outputSchema);
    return { metadata, ports, hasher: new InputHasher(ports.inputPorts) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    throw new LeaderError("invalid_metadata", error.message, { cause: error });
  }
}
