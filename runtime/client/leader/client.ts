/** `LeaderClient`: signs calls of a tool, sends them, and verifies the results. */

import { HttpClient } from "#platform/http-client";
import { checkOptions } from "../check-options.js";
import { checkedInteger } from "../checked-integer.js";
import type { MetaSchema } from "../wire/bcs/bcs-shapes.js";
import type { Contract } from "../wire/codec/contract.js";
import { DEFAULT_REPLAY_CACHE_TTL_MS, MAX_TIMEOUT_MS } from "../wire/protocol.js";
import { type Address, Addresses, noteMemory } from "./addresses.js";
import { Attempt, type Caller } from "./attempt.js";
import { beforeAttempt, type CallState, get, getMeta, MAX_ANSWER_BYTES, newCall } from "./call.js";
import { listChanges } from "./contract-changes.js";
import { LeaderError } from "./error.js";
import { type KnownContract, readKnownContract } from "./known-contract.js";
import type { ToolMetadata } from "./metadata.js";
import {
  addressOf,
  CALL_OPTIONS,
  type CallEnd,
  type CallOptions,
  type CloseOptions,
  contractIn,
  INVOKE_OPTIONS,
  type InvokeOptions,
  LEADER_OPTIONS,
  type LeaderOptions,
  NONCE,
  type Trust,
  trustOf,
} from "./options.js";
import { isRepeatable, repeatUntil } from "./repeat.js";
import { buildEnvelope, buildUnsignedBody, type SignOptions, signRequest } from "./request/request.js";
import { checkRequest, type SignedRequest } from "./request/signed-request.js";
import { storable } from "./request/stored-request.js";
import type { CallResult } from "./result/call-result.js";
import { OutputReader } from "./result/output-reader.js";
import { type ReadOptions, type ResolvedResult, resolveResult, type ValueReader } from "./result/resolve.js";
import type { ToolResult } from "./result/result.js";
import { Running } from "./running.js";
import type { SentInput, ToolType, UntypedTool } from "./tool-types.js";
import type { Transport } from "./transport/transport.js";

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

/** Public members of a {@link LeaderClient}, for fakes in tests. */
export type ToolClient<Tool extends ToolType = UntypedTool> = Pick<LeaderClient<Tool>, keyof LeaderClient<Tool>>;

/** One address of a tool, or several. */
export type ToolAddress = string | URL | readonly (string | URL)[];

/** Connection of a client that is created from a metadata document. */
type Connection = { readonly http: Transport; readonly urls: readonly string[]; readonly trust: Trust };

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
  readonly #caller: Caller;
  readonly #addresses: Addresses;
  #known: KnownContract;
  readonly #reader: ValueReader | undefined;
  readonly #observe: LeaderOptions["observe"];
  readonly #running = new Running();
  #changeCheckedAt = Number.NEGATIVE_INFINITY;

  private constructor(document: string | Uint8Array, options: LeaderOptions, { http, urls, trust }: Connection) {
    const { contracts } = options;
    this.#known = readKnownContract(document, options.fqn);
    const { fqn, url } = this.#known.metadata;
    this.#addresses = new Addresses(urls.length > 0 ? urls : [addressOf(url, options)]);
    this.#caller = {
      http,
      ...trust,
      outputReader: contracts && new OutputReader(contractIn(contracts, fqn)),
      receipts: options.receipts,
    };
    this.#reader = options.reader;
    this.#observe = options.observe;
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
    checkOptions("connect", options, { ...LEADER_OPTIONS, ...CALL_OPTIONS });
    const trust = trustOf(options);
    const urls = [url].flat().map((each) => addressOf(each, options));
    if (urls.length === 0) throw new TypeError("url: expected at least one address, got none");
    const http = new HttpClient(options);
    const call = newCall(options, META_TIMEOUT_MS);
    try {
      for (const [i, each] of urls.entries()) {
        try {
          const answer = await getMeta(http, each, call);
          const client = new LeaderClient(answer.body, options, { http, urls, trust });
          noteMemory(client.#addresses.select(i), answer, client.#caller.headers);
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
    checkOptions("fromMetadata", options, { ...LEADER_OPTIONS, url: true });
    const trust = trustOf(options);
    const urls = options.url === undefined ? [] : [options.url].flat().map((each) => addressOf(each, options));
    return new LeaderClient(document, options, { http: new HttpClient(options), urls, trust });
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
    checkOptions("invoke", options, INVOKE_OPTIONS);
    const { repeat = false, nonce, ...rest } = options;
    const request = this.#sign("invoke", input, nonce === undefined ? {} : { nonce });
    return repeat ? this.repeat(request, rest) : this.#call(request, rest, (call) => this.#inTurn(call, request));
  }

  /**
   * Builds and signs a request without sending it.
   *
   * @throws {@link LeaderError} `invalid_input`; TypeError if the client has no leader
   */
  sign(input: SentInput<Tool>, options: Pick<SignOptions, "nonce"> = {}): SignedRequest {
    checkOptions("sign", options, NONCE);
    return this.#sign("sign", input, options);
  }

  #sign(method: string, input: SentInput<Tool>, options: Pick<SignOptions, "nonce">): SignedRequest {
    const { leader, headerPrefix } = this.#caller;
    if (leader === undefined) {
      const remedy = "create it with `leader: { id, keyId, key }`, or use invokeUnsigned for an unsigned server";
      throw new TypeError(`${method}: expected a client with a leader, got one without: ${remedy}`);
    }
    const { ports, hasher, metadata } = this.#known;
    const envelope = buildEnvelope(ports.inputPorts, input, hasher);
    const request = signRequest(envelope, leader, { ...options, headerPrefix });
    return storable({ ...request, fqn: metadata.fqn }, () => this.#addresses.current.memory);
  }

  /**
   * Sends a signed request once. Sending the same request again is an exact retry: while the tool remembers it, the
   * tool returns the same result without running again (protocol.md section 8).
   *
   * @throws {@link LeaderError}; with a `toolKey` also `unsigned_result` and `wrong_signature`
   */
  async send(request: SignedRequest, options: CallOptions = {}): Promise<CallResult<Tool>> {
    checkOptions("send", options, CALL_OPTIONS);
    checkRequest(request, this.metadata.fqn);
    return this.#call(request, options, async (call) => {
      if (request.attempts.ran !== "no") await this.#learnMemory(request, call);
      return this.#attempt(call).send(request);
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
    checkOptions("repeat", options, CALL_OPTIONS);
    checkRequest(request, this.metadata.fqn);
    const until = { ...options, deadline: options.deadline ?? Date.now() + REPEAT_MS };
    return this.#call(request, until, (call) =>
      repeatUntil(() => this.#inTurn(call, request, true), call.msLeft, call.signals),
    );
  }

  /**
   * Calls a tool that does not require signatures, with plain JSON (protocol.md section 6). The result is never signed,
   * so `toolKey` is not used.
   *
   * @throws {@link LeaderError}
   */
  async invokeUnsigned(input: SentInput<Tool>, options: CallOptions = {}): Promise<CallResult<Tool>> {
    checkOptions("invokeUnsigned", options, CALL_OPTIONS);
    const body = buildUnsignedBody(this.#known.ports.inputPorts, input);
    return this.#call(undefined, options, (call) => this.#inTurn(call, body));
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
    return (await resolveResult(result, this.#reader, this.#caller.outputReader, options)) as ResolvedResult<Tool>;
  }

  /** HTTP status of the tool's `/health`. */
  async health(options: CallOptions = {}): Promise<number> {
    checkOptions("health", options, CALL_OPTIONS);
    const call = this.#running.begin(options, this.metadata.timeout + TIMEOUT_MARGIN_MS);
    const answer = get(this.#caller.http, `${this.url}/health`, MAX_ANSWER_BYTES, call);
    return (await this.#running.track(answer)).status;
  }

  /**
   * Reads the metadata again, for later calls.
   *
   * @returns the changes of the ports, one text each; empty if there are none
   * @throws {@link LeaderError}
   */
  async refresh(options: CallOptions = {}): Promise<readonly string[]> {
    checkOptions("refresh", options, CALL_OPTIONS);
    const before = this.#known;
    this.#known = await this.#running.track(this.#read(this.#running.begin(options, META_TIMEOUT_MS)));
    return listChanges(before.ports, this.#known.ports);
  }

  /**
   * Rejects new calls and waits for running ones. Connections that all clients of the process share stay open; while
   * idle, they do not keep the process alive.
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions("close", options, { timeoutMs: true });
    const { timeoutMs = CLOSE_MS } = options;
    checkedInteger("timeoutMs", timeoutMs, 0, MAX_TIMEOUT_MS);
    await this.#running.close(timeoutMs);
    this.#caller.http.close();
  }

  /** Rejects new calls and aborts running ones, which fail with `aborted`. */
  destroy(): void {
    this.#running.destroy();
    this.#caller.http.close();
  }

  /** Runs a call: checks its options, observes it, and adds the request to its error. */
  async #call(
    request: SignedRequest | undefined,
    options: CallOptions,
    make: (call: CallState) => Promise<CallResult>,
  ): Promise<CallResult<Tool>> {
    const ran = () => request?.attempts.ran ?? "no";
    let call: CallState;
    try {
      call = this.#running.begin(options, this.metadata.timeout + TIMEOUT_MARGIN_MS);
    } catch (error) {
      throw error instanceof LeaderError ? error.with({ ran: ran(), request }) : error;
    }
    const began = performance.now();
    const { fqn } = this.metadata;
    const observed = quietly(() => this.#observe?.({ fqn, url: this.url, nonce: request?.nonce }));
    const end = (ended: Pick<CallEnd, "ran" | "tag" | "code">) => {
      const { attempts, status } = call;
      const milliseconds = performance.now() - began;
      quietly(() => observed?.({ attempts, status, milliseconds, ...ended }));
    };
    try {
      const result = await this.#running.track(make(call));
      end({ ran: "yes", tag: result.tag, code: undefined });
      return result as CallResult<Tool>;
    } catch (error) {
      const failure = error instanceof LeaderError ? await this.#explain(error.with({ request }), call) : error;
      const code = failure instanceof LeaderError ? failure.code : undefined;
      end({ ran: failure instanceof LeaderError ? failure.ran : ran(), tag: undefined, code });
      throw failure;
    }
  }

  /**
   * Sends a request, or an unsigned body, to the current address, then to the others while it is certain that the tool
   * runs at most once.
   *
   * @param learns whether to read the name of an address' replay memory first, for repeats
   */
  async #inTurn(call: CallState, sent: SignedRequest | Uint8Array, learns = false): Promise<CallResult> {
    const attempts = sent instanceof Uint8Array ? undefined : sent.attempts;
    const tried = new Set<Address>();
    // If servers with different replay memories share an address, each rejects requests that name another memory.
    let renamed = 0;
    for (;;) {
      const address = this.#addresses.current;
      tried.add(address);
      try {
        if (sent instanceof Uint8Array) return await this.#attempt(call).sendUnsigned(sent);
        if (learns) await this.#learnMemory(sent, call);
        return await this.#attempt(call).send(sent, renamed < 2);
      } catch (error) {
        if (!(error instanceof LeaderError) || !isRepeatable(error) || call.msLeft() <= 0) throw error;
        if (error.code === "replay_memory_lost" && error.ran === "no" && renamed++ < 2) continue;
        if (!this.#addresses.selectNext(tried, error, attempts)) throw error;
      }
    }
  }

  /**
   * Reads the name of the replay memory before the first attempt, so that a repeat can send it. If the name was unknown
   * at the first attempt, also because a gateway hides `/meta`, a repeat sends a name that no server has, so that it
   * cannot run as a new request.
   */
  async #learnMemory({ attempts }: SignedRequest, call: CallState): Promise<void> {
    if (this.#addresses.current.known || attempts.memory !== undefined) return;
    try {
      await beforeAttempt(attempts, this.#attempt(call).readMeta());
    } catch (error) {
      if (!(error instanceof LeaderError && error.code === "invalid_answer" && HIDDEN.test(`${error.status}`)))
        throw error;
    }
  }

  /** Attempt at the current address. */
  #attempt(call: CallState): Attempt {
    return new Attempt(this.#caller, this.#known, this.#addresses.current, call);
  }

  async #read(call: CallState): Promise<KnownContract> {
    const { body } = await this.#attempt(call).readMeta();
    return readKnownContract(body, this.metadata.fqn);
  }

  /** Adds a likely cause to an error: another header prefix, or changes of the contract. */
  async #explain(error: LeaderError, call: CallState): Promise<LeaderError> {
    const { details = "" } = error;
    if (error.code === "auth_failed" && error.request && isOtherPrefix(details, this.#caller.headers.version)) {
      const what = `the client's signature headers begin with ${this.#caller.headerPrefix}: set headerPrefix to the server's`;
      return error.with({ details: `${details}; ${what}` });
    }
    const isMisfit = error.status === 422 || (error.code === "invalid_answer" && error.status === undefined);
    const now = performance.now();
    if (!isMisfit || this.#running.isClosed || now - this.#changeCheckedAt < CHANGE_CHECK_MS) return error;
    this.#changeCheckedAt = now;
    try {
      const { ports } = await this.#read({ ...call, timeoutMs: Math.min(call.timeoutMs, META_TIMEOUT_MS) });
      const changes = listChanges(this.ports, ports);
      if (changes.length === 0) return error;
      const what = `the tool's contract has changed: ${changes.join(", ")}; call refresh()`;
      return error.with({ details: error.details === undefined ? what : `${error.details}; ${what}` });
    } catch {
      return error;
    }
  }
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

/** Statuses of a gateway that forwards calls but not `/meta`. */
const HIDDEN = /^(?:3\d\d|401|403|404|405)$/;

/** Whether a server that found no signature reads headers with another prefix than the client sent. */
function isOtherPrefix(details: string, sent: string): boolean {
  const [, read] = /^(\S+Sig-V): missing(?:;|$)/.exec(details) ?? [];
  return read !== undefined && read.toLowerCase() !== sent.toLowerCase();
}
