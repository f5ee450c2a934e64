/**
 * Handles `POST /invoke`, from headers and body to the answer (protocol.md section 7), independently of the HTTP
 * framework. Comments such as `// 3: 422` name the step of section 7 and the statuses that it can return.
 */

import { committedBytes } from "svc-client/internal/wire/envelope/committed-texts";
import { InputValues } from "svc-client/internal/wire/envelope/input-values";
import { type ErrorCode, statusOf } from "svc-client/internal/wire/error-codes";
import type { SignatureHeaders } from "svc-client/internal/wire/protocol";
import { type Commitments, commitmentsOf, type Receipt } from "svc-client/internal/wire/receipt";
import { type Repeat, readRepeat } from "svc-client/internal/wire/replay-memory-header";
import type { Ed25519Engine } from "svc-client/internal/wire/signature/ed25519";
import { replayTtlOf, type ToolkitRuntimeConfig } from "../../config/config.js";
import { endsWithin } from "../../time-limit.js";
import { type AuthContext, InvocationAborted, type Logger } from "../../tool.js";
import { errorBody, RequestError, toRequestError } from "../errors/request-error.js";
import type { Holding } from "../load/account.js";
import type { LoadControl } from "../load/load-control.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { CLAIM_LIMIT_MS, claimRun, endLease } from "../replay/claim.js";
import type { CachedAnswer, ReplayLease, ReplayStore } from "../replay/store.js";
import type { AllowedOrigins } from "./allowed-origins.js";
import { announcedLength } from "./announced-length.js";
import { Authenticator } from "./auth.js";
import { prefersBcs, type UnsignedResults } from "./content-negotiation.js";
import {
  type Answer,
  type Call,
  INTERRUPTED,
  type InputHolder,
  type InvokeRequest,
  type Reply,
  type RequestHeaders,
  takeInput,
} from "./messages.js";
import type { Observation, Observers } from "./observers.js";
import { ResultSigner, type SignedFor, UNSENDABLE } from "./result-signer.js";
import { authorizeAlone, Run, type RunHooks } from "./run/run.js";
import type { ServedTool } from "./run/served-tool.js";

/** Options and services shared by all calls of a process. */
export interface ServiceOptions {
  readonly config: ToolkitRuntimeConfig;
  readonly headers: SignatureHeaders;
  readonly engine: Ed25519Engine;
  readonly store: ReplayStore;
  /** Time limit of a replay claim, in milliseconds; {@link CLAIM_LIMIT_MS} by default. */
  readonly claimLimitMs?: number;
  /** Maximum number of values in one call. */
  readonly maxInputValues: number;
  readonly load: LoadControl;
  readonly log: ServerLogger;
  /** Origins of web pages that may call without signatures. */
  readonly allowedOrigins: AllowedOrigins;
  /** Format of unsigned calls' results. */
  readonly unsignedResults: UnsignedResults;
  readonly observers: Observers;
}

interface Handled extends SignedFor {
  readonly request: InvokeRequest;
}

/** Milliseconds by which the lease of a claim exceeds the deadline of its run (protocol.md section 8). */
const LEASE_MARGIN_MS = 30_000;

/**
 * Time limit, in milliseconds, for the `returned` callbacks of a sent result. Also limits how long a shutdown waits.
 */
const SETTLEMENT_LIMIT_MS = 2_000;

/** Handles calls to the tools of one process. */
export class InvokeService {
  /** Load limits, with counts of rejected requests. */
  readonly load: LoadControl;
  readonly #authenticator: Authenticator;
  readonly #signer: ResultSigner;
  readonly #signed: boolean;
  readonly #maxBody: bigint;
  readonly #logs = new Map<ServedTool, ServerLogger>();
  readonly #runs = new Map<Run, ServedTool>();
  /** Name of the header of a repeated request, in lower case as in node:http. */
  readonly #repeatHeader: string;
  #stopping = false;
  readonly #settlements = new Set<Promise<unknown>>();

  readonly #options: ServiceOptions;

  constructor(options: ServiceOptions) {
    this.#options = options;
    const { config, headers, engine } = options;
    this.#authenticator = new Authenticator(headers, () => config.leaders, engine);
    this.#signer = new ResultSigner(options);
    this.#signed = config.signedHttpIsRequired();
    this.#repeatHeader = headers.replayMemory.toLowerCase();
    this.#maxBody = config.invokeMaxBodyBytes();
    this.load = options.load;
  }

  /** Header with the name of the replay memory, sent in every answer in signed mode. */
  get memoryHeader(): readonly [name: string, value: string] | undefined {
    const { store, headers } = this.#options;
    const name = this.#signed ? store.memoryName : undefined;
    return name === undefined ? undefined : [headers.replayMemory, name];
  }

  /** Limits of each call, for the list of tools. */
  get callLimits() {
    return { max_body_bytes: Number(this.#maxBody), max_input_values: this.#options.maxInputValues };
  }

  /** Number of runs in progress, by tool name. */
  get running(): ReadonlyMap<string, number> {
    const running = new Map<string, number>();
    for (const { fqn } of this.#runs.values()) running.set(fqn, (running.get(fqn) ?? 0) + 1);
    return running;
  }

  /** Resolves when the `returned` callbacks of all sent results have ended or reached their time limit. */
  async settlementsDone(): Promise<void> {
    await Promise.all(this.#settlements);
  }

  /** Aborts all runs for a shutdown. Calls that have not started a run are rejected from now on. */
  abortRuns(): void {
    this.#stopping = true;
    this.load.refuseWaiting();
    for (const run of this.#runs.keys()) run.abort("shutdown");
  }

  /** Brings the deadlines of all runs closer, for tests. */
  advance(ms: number): void {
    for (const run of this.#runs.keys()) run.advance(ms);
  }

  handle(tool: ServedTool, request: InvokeRequest): Promise<Reply> {
    const log = this.#log(tool).child({ request: request.id });
    const seen = this.#options.observers.begin(tool, request, log);
    const answered = this.#answer({ tool, request, log, seen });
    request.onRefused?.((reply) => {
      seen?.end(reply);
      if (reply.code === INTERRUPTED.code) void answered.then((late) => logLateEnd(log, late));
    });
    return seen === undefined ? answered : observed(answered, seen);
  }

  async #answer(call: Handled): Promise<Reply> {
    const { request, seen } = call;
    const { load } = this;
    let account: Holding | undefined;
    try {
      const length = announcedLength(request, this.#maxBody); // 1: 411, 413, 415
      const turn = load.slices.enter(length);
      if (turn !== undefined) await this.#waitFor(turn, call);
      const auth = this.#signed ? this.#authenticator.authenticate(request) : this.#checkUnsigned(request); // 2: 401, 403
      if (seen !== undefined) seen.caller = auth;
      seen?.done("auth");
      if (auth !== undefined) load.countCall(auth.leaderId); // 429
      account = load.bodyBytes.open(holderOf(request, auth), length); // 503
      const body = await request.readBody(length, account); // 408, 503
      seen?.done("body");
      return await (auth === undefined ? this.#unsigned(call, body) : this.#authenticated(call, auth, body));
    } catch (error) {
      return replyToThrown(error, call.log);
    } finally {
      account?.release();
    }
  }

  /** Waits for a time slice, and rejects the call if its caller has disconnected since. */
  async #waitFor(turn: Promise<void>, { request, seen }: Handled): Promise<void> {
    await turn;
    seen?.done("queue");
    if (request.isGone()) throw new RequestError("bad_request");
  }

  #checkUnsigned(request: RequestHeaders): undefined {
    this.#options.allowedOrigins.check(request);
    this.#authenticator.refuseSigned(request); // 422
  }

  async #unsigned(call: Handled, body: InputHolder<Uint8Array>): Promise<Reply> {
    const { request } = call;
    const counted = this.#countValues();
    const length = body.input?.length ?? 0;
    const isNegotiated = this.#options.unsignedResults !== "bcs";
    const json = isNegotiated && !prefersBcs(headerText(request, "accept"));
    const made = unsignedCall(body, counted, json); // 413
    if (counted.count > MANY_VALUES) await eventLoopTurn();
    const leave = await this.#takePlace(call, undefined, this.#inputBytes(call, counted, length)); // 413, 503
    const run = this.#start(call, made, leave);
    request.onDisconnect(() => run.abort("disconnect"));
    const answer = await run.answer;
    const reply: Reply =
      answer.json === undefined
        ? this.#reply(call, answer, undefined)
        : { status: 200, headers: JSON_HEADERS, body: Buffer.from(answer.json) };
    const varies = answer.signable && isNegotiated;
    const headers = varies ? [...reply.headers, "vary", "Accept"] : reply.headers;
    return this.#finished(run, answer, { ...reply, headers });
  }

  async #authenticated(call: Handled, auth: AuthContext, body: InputHolder<Uint8Array>): Promise<Reply> {
    const { tool, log, seen } = call;
    const counted = this.#countValues();
    const length = body.input?.length ?? 0;
    const signed = signedCall(tool, auth, body, counted); // 3: 413, 422
    const inputBytes = this.#inputBytes(call, counted, length); // 413
    if (counted.count > MANY_VALUES) await eventLoopTurn();
    const { store, claimLimitMs = CLAIM_LIMIT_MS } = this.#options;
    const leaseMs = tool.timeoutMs + LEASE_MARGIN_MS;
    const { nonce, inputHash } = auth;
    const repeat = this.#repeatOf(call.request);
    const wanted = { tool: tool.fqn, nonce, inputHash, caller: auth, leaseMs, repeat };
    const claim = await claimRun(wanted, { store, limitMs: claimLimitMs, log }); // 4: replay; 503
    seen?.done("claim");
    switch (claim.state) {
      case "in-flight":
        throw new RequestError("request_in_flight", "a call with this nonce is still running");
      case "lost":
        throw new RequestError(
          "replay_memory_lost",
          "this server does not know whether an earlier attempt ran; this attempt did not run",
          {
            logged: this.#lossOf(tool, repeat),
          },
        );
      case "full":
        throw new RequestError("replay_store_full");
      case "completed": {
        const refused = claim.sameCaller
          ? undefined
          : await this.#authorizeRetry(call, signed, inputBytes, claim.answer); // 403, 409, 422, 429, 500, 504
        if (refused !== undefined) return this.#reply(call, refused, auth);
        if (store.scope === "shared") this.#signer.requireOwnResult(call, claim.answer, auth); // 409
        if (seen !== undefined) seen.replayed = true;
        return this.#reply(call, claim.answer, auth);
      }
      case "run": {
        const leave = await this.#takePlaceOrRelease(call, auth, inputBytes, claim.lease); // 503
        // The run empties the call, and only results with stored values get a receipt.
        const commitments = tool.refersToStored ? commitmentsIn(signed) : undefined;
        const run = this.#start(call, signed, leave, claim.lease); // 5, 6
        const answer = await run.answer;
        const reply = this.#reply(call, answer, auth);
        return this.#finished(run, answer, reply, () => {
          return commitments && this.#signer.receiptOf(call, auth, commitments, reply.headers, answer.body);
        });
      }
    }
  }

  /** Content of the header of a repeated request; undefined for a first attempt. */
  #repeatOf({ headers }: RequestHeaders): Repeat | undefined {
    const text = headers[this.#repeatHeader];
    return text === undefined ? undefined : (readRepeat(String(text)) ?? NO_MEMORY);
  }

  /** Why a repeat is refused, for the log; undefined if the reason is the state of its entry. */
  #lossOf({ fqn }: ServedTool, repeat: Repeat | undefined): string | undefined {
    const { store, config } = this.#options;
    if (repeat === undefined || repeat.memory !== store.memoryName) return "the repeat names another replay memory";
    const ttlMs = replayTtlOf(config, fqn);
    return repeat.ageMs < ttlMs
      ? undefined
      : `the caller first sent the request ${repeat.ageMs} ms ago, and results are kept for ${ttlMs} ms: check both clocks`;
  }

  #countValues(): InputValues {
    return new InputValues(this.#options.maxInputValues);
  }

  /**
   * Heap bytes of the decoded input; 0 for a small input.
   *
   * @throws {@link RequestError} `payload_too_large` if the server's limit can never allow it
   */
  #inputBytes({ tool }: Handled, counted: InputValues, length: number): number {
    const bytes = tool.heapBytesOf(counted, length);
    if (bytes <= SMALL_INPUT_BYTES) return 0;
    const largest = this.load.inputBytes.mostOfOne;
    if (bytes <= largest) return bytes;
    throw new RequestError(
      "payload_too_large",
      `the decoded input may take at most ${largest} bytes of memory, got up to ${bytes}`,
    );
  }

  /**
   * Reserves capacity for a run: counts the run and its input, and waits for a slot if the tool has a concurrency
   * limit. A verified caller that disconnects stays in the queue, so that its retry gets the result.
   *
   * @param inputBytes heap bytes of the decoded input
   * @returns a function that releases the capacity
   * @throws {@link RequestError} `overloaded`, `shutting_down`
   */
  async #takePlace(
    { tool, request, seen }: Handled,
    auth: AuthContext | undefined,
    inputBytes: number,
  ): Promise<() => void> {
    const { load } = this;
    const holder = holderOf(request, auth);
    const held = [load.runs.enter(holder)];
    const leave = () => {
      for (const giveBack of held) giveBack();
    };
    const slots = load.tools.get(tool.fqn);
    try {
      if (inputBytes > 0) held.push(load.inputBytes.enter(holder, inputBytes));
      if (slots !== undefined) {
        const waiting = slots.enter();
        if (waiting !== undefined && auth === undefined) request.onDisconnect(waiting.leave);
        await waiting?.slot;
        held.push(() => slots.release());
      }
      if (this.#stopping) throw new RequestError("shutting_down");
    } catch (error) {
      leave();
      throw error;
    } finally {
      if (slots !== undefined) seen?.done("queue");
    }
    request.onRun?.();
    return leave;
  }

  /** Reserves capacity for a run. If that fails, releases the replay claim so that the caller can retry. */
  async #takePlaceOrRelease(
    handled: Handled,
    auth: AuthContext,
    inputBytes: number,
    lease: ReplayLease,
  ): Promise<() => void> {
    try {
      return await this.#takePlace(handled, auth, inputBytes);
    } catch (error) {
      await endLease(handled.log, () => lease.release());
      throw error;
    }
  }

  /**
   * Calls `authorize` and `around` for a retry by another leader or key. Reserves capacity, like a run, until they end.
   *
   * @throws {@link RequestError} `request_in_flight` if there is no capacity, because the call has run
   */
  async #authorizeRetry(
    handled: Handled,
    call: Call,
    inputBytes: number,
    { status, code }: CachedAnswer,
  ): Promise<Answer | undefined> {
    const leave = await this.#takePlace(handled, call.auth, inputBytes).catch(() => {
      throw new RequestError("request_in_flight", UNSENDABLE);
    });
    const hooks = { answerMemory: () => this.#answerMemory(handled, call), ended: leave };
    return authorizeAlone(handled.tool, call, { status, code }, handled.log, hooks);
  }

  #answerMemory({ request }: Handled, { auth }: Call): Holding {
    return this.load.httpAnswers.open(holderOf(request, auth));
  }

  /**
   * Starts a run. When it ends, the replay entry is completed even if the caller has disconnected.
   *
   * @param leave releases the run's capacity after it has ended
   */
  #start(handled: Handled, call: Call, leave: () => void, lease?: ReplayLease): Run {
    const { tool, log, seen } = handled;
    const { observers } = this.#options;
    const guard = (end: () => boolean | Promise<boolean>) => void endLease(log, end);
    let run: Run | undefined;
    const over = () => {
      if (run !== undefined) this.#runs.delete(run);
      leave();
    };
    const hooks: RunHooks = {
      answerMemory: () => this.#answerMemory(handled, call),
      timedOut: (answer) => {
        seen?.done("run");
        if (lease !== undefined) guard(() => lease.timeOut(answer));
      },
      ended: (answer) => {
        seen?.done("run");
        if (answer.code === "tool_invocation_timeout") observers.settledLate(tool);
        const last = this.#signer.sealed(handled, answer, call.auth);
        over();
        // The answer waits for a shared store, so that a retry at any process finds the entry.
        const isRefused = last.code === "rate_limited";
        const taken = lease && endLease(log, () => (isRefused ? lease.release() : lease.complete(last)));
        return taken === undefined ? last : taken.then(() => last);
      },
      settledLate: () => {
        over();
        observers.settledLate(tool);
        if (lease !== undefined) guard(() => lease.settle());
      },
    };
    const begin = () => new Run(tool, call, log, hooks);
    try {
      run = seen === undefined ? begin() : seen.run(begin);
    } catch (error) {
      over();
      if (lease !== undefined) guard(() => lease.release());
      throw error;
    }
    this.#runs.set(run, tool);
    return run;
  }

  /** Adds to a reply the error of its run, or a function that runs the `returned` callbacks after it is sent. */
  #finished(run: Run, { status, stored }: Answer, reply: Reply, receipt?: () => Receipt | undefined): Reply {
    if (status === 500) return { ...reply, error: reply.error ?? new Error(`the run failed: ${reply.code}`) };
    if (status === 504) return { ...reply, error: new InvocationAborted("timeout") };
    if (!stored) return reply;
    const sent = () => {
      const returned = run.returned(receipt?.());
      const settled = endsWithin(SETTLEMENT_LIMIT_MS, returned).finally(() => this.#settlements.delete(settled));
      this.#settlements.add(settled);
    };
    return { ...reply, sent };
  }

  #reply(handled: Handled, answer: Answer | CachedAnswer, auth: AuthContext | undefined): Reply {
    const { status, body } = answer;
    if (answer.signable) return { status, headers: this.#signer.headersOf(handled, answer, auth), body };
    const reply = errorReplyOf(status, body, answer.code);
    return "error" in answer && answer.error !== undefined ? { ...reply, error: answer.error } : reply;
  }

  #log(tool: ServedTool): ServerLogger {
    let log = this.#logs.get(tool);
    if (log === undefined) {
      log = this.#options.log.child({ tool: tool.fqn });
      this.#logs.set(tool, log);
    }
    return log;
  }
}

/** A repeated request with a malformed header: its memory matches no store. */
const NO_MEMORY: Repeat = { memory: "", ageMs: 0 };

// A suspended async function keeps its locals alive. The next two functions are synchronous so that only the Call
// refers to the body.

/** @throws WireFault `payload_too_large` for too many values */
function unsignedCall(holder: InputHolder<Uint8Array>, counted: InputValues, json: boolean): Call {
  const body = takeInput(holder);
  return { input: { body, document: counted.parseIfJson(body) }, auth: undefined, json };
}

/** @throws {@link RequestError} `input_integrity_error`; WireFault for an invalid envelope or too many values */
function signedCall(tool: ServedTool, auth: AuthContext, body: InputHolder<Uint8Array>, counted: InputValues): Call {
  const texts = tool.envelope.read(takeInput(body), counted).match(auth.inputHash);
  if (texts === undefined) {
    throw new RequestError("input_integrity_error", "the input hash of the header is not that of the body");
  }
  return { input: { texts }, auth, json: false };
}

/** Commitments to the input of a signed call. */
function commitmentsIn({ input }: Call): Commitments | undefined {
  return input && "texts" in input ? commitmentsOf(input.texts.map((values) => values.map(committedBytes))) : undefined;
}

/** Inputs of up to this many bytes are not counted: at the maximum number of runs, all of them together take 64 MiB. */
const SMALL_INPUT_BYTES = 16_384;

/** Number of values above which parsing and decoding an input happen in separate turns of the event loop. */
const MANY_VALUES = 10_000;

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Logs the end of a run whose call was already answered by a shutdown. */
function logLateEnd(log: ServerLogger, { status, code }: Reply): void {
  log.info(
    { status, ...(code !== undefined && { code }) },
    "the tool ended after the shutdown had answered its call with 503",
  );
}

async function observed(answered: Promise<Reply>, seen: Observation): Promise<Reply> {
  const reply = await answered;
  seen.end(reply);
  return reply;
}

export const JSON_HEADERS: readonly string[] = ["content-type", "application/json"];

function headerText({ headers }: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
}

export function errorReply(code: ErrorCode, details?: string, retryAfterMs?: number): Reply {
  return errorReplyOf(statusOf(code), errorBody(code, details), code, retryAfterMs);
}

/** Reply for a thrown value. Logs an unexpected error with the message. */
export function replyToThrown(thrown: unknown, log: Logger, message = "answering a request failed"): Reply {
  const { code, details, cause, retryAfterMs, logged } = toRequestError(thrown);
  const reply = { ...errorReply(code, details, retryAfterMs), logged };
  if (code !== "internal_error") return reply;
  log.error({ err: cause }, message);
  return { ...reply, error: cause };
}

/** Reply for an error: unsigned JSON. A 429 or 503 has a `Retry-After` header. */
function errorReplyOf(status: number, body: Uint8Array, code: string | undefined, retryAfterMs = 1_000): Reply {
  const later = status === 503 || status === 429;
  const after = later ? ["retry-after", `${Math.max(1, Math.ceil(retryAfterMs / 1_000))}`] : [];
  return { status, code, headers: [...JSON_HEADERS, ...after], body };
}

/** Whose share of the limits a call uses: its leader's, or that of the connection if the call is not signed. */
function holderOf({ connection }: InvokeRequest, auth: AuthContext | undefined): string | object {
  return auth?.leaderId ?? connection;
}
