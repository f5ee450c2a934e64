/**
 * Runs a tool's own code for one call (protocol.md section 7, steps 5 and 6): construct, authorize, decode, invoke,
 * encode. Contains no timers, replay or HTTP.
 */

import type { WalrusValue } from "svc-client/internal/wire/bcs/data";
import { FAILURE_VARIANT } from "svc-client/internal/wire/codec/ports";
import { WireFault } from "svc-client/internal/wire/fault";
import type { Receipt } from "svc-client/internal/wire/receipt";
import { provideAnswerMemory } from "../../../answer-memory.js";
import {
  type AroundCall,
  type AuthContext,
  InvalidInput,
  InvocationAborted,
  type InvokeContext,
  type Logger,
  MAX_REFUSAL_LENGTH,
  PermissionDenied,
  RateLimited,
  SvcTool,
  type SvcToolClass,
} from "../../../tool.js";
import type { Holding } from "../../load/account.js";
import { type EncodedOutput, ErrEval, resultBytes, resultJson } from "../../wire/output.js";
import { type Answer, type Call, callerCopy, errorAnswer, type Health, INTERRUPTED, takeInput } from "../messages.js";
import { runAround } from "./around.js";
import type { ServedTool } from "./served-tool.js";

/**
 * Status that the tool's `health()` returns. 500 if `health()` or `new` throws, or the status is invalid. Never rejects.
 */
export async function healthOf(tool: ServedTool, log: Logger): Promise<Health> {
  try {
    const instance = await tool.construct();
    const status: unknown = await instance.health();
    if (Number.isInteger(status) && (status as number) >= 200 && (status as number) <= 599) {
      return { status: status as number, error: undefined };
    }
    const message = "health() returned something other than a status from 200 to 599";
    log.error({}, message);
    return { status: 500, error: new Error(message) };
  } catch (error) {
    log.error({ err: error }, "health() of the tool threw an error");
    return { status: 500, error };
  }
}

export interface ExecutionHooks {
  /** Opens the memory for the answers that the run reads from other services. Called at most once. */
  answerMemory?(): Holding;
}

/** Context of a call. Creates the abort signal at its first use, because most tools never use it. */
class Context implements InvokeContext {
  #controller: AbortController | undefined;
  #aborted: InvocationAborted | undefined;
  #answers: Holding | undefined;
  #isClosed = false;

  readonly #hooks: ExecutionHooks;

  constructor(
    readonly deadline: number,
    readonly log: Logger,
    hooks: ExecutionHooks,
  ) {
    this.#hooks = hooks;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (!this.#isClosed) this.#answers = this.#hooks.answerMemory?.();
      if (this.#answers !== undefined) provideAnswerMemory(this.#controller.signal, this.#answers);
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  msLeft(): number {
    return Math.max(0, Math.floor(this.deadline - performance.now()));
  }

  /** Abort reason, if the tool threw because of its abort signal; undefined for any other error. */
  abortThatCaused(error: unknown): InvocationAborted["reason"] | undefined {
    const aborted = this.#aborted;
    if (aborted === undefined) return undefined;
    try {
      // Node's own functions wrap the signal's reason in an AbortError; `fetch` and `throwIfAborted` throw the reason
      // itself.
      const cause = error instanceof Error && error.name === "AbortError" ? error.cause : error;
      return cause === aborted ? aborted.reason : undefined;
    } catch {
      // A getter of the error threw.
      return undefined;
    }
  }

  /** Releases the answers that the run has read from other services. */
  close(): void {
    this.#isClosed = true;
    this.#answers?.end();
  }

  abort(reason: InvocationAborted["reason"]): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = new InvocationAborted(reason);
    this.#controller?.abort(this.#aborted);
  }
}

/** Context in signed mode. In unsigned mode, the member `auth` is absent instead of undefined. */
class SignedContext extends Context {
  #auth: AuthContext | undefined;
  readonly #caller: AuthContext;

  constructor(deadline: number, log: Logger, hooks: ExecutionHooks, caller: AuthContext) {
    super(deadline, log, hooks);
    this.#caller = caller;
  }

  get auth(): AuthContext {
    this.#auth ??= callerCopy(this.#caller);
    return this.#auth;
  }
}

/** Runs the tool's code for one call. The code receives a copy of the caller. */
export class Execution {
  /** Outcome of the call; never rejects. */
  readonly end: Promise<Answer>;
  readonly #context: Context;
  #timedOut = false;
  #stopping = false;
  #stored: readonly WalrusValue[] = [];
  /** What `invoke` returned, for `around`. */
  #output: unknown;

  readonly #tool: ServedTool;
  readonly #call: Call;
  readonly #log: Logger;
  readonly #known: Answer | undefined;

  /**
   * @param deadline in milliseconds, on the clock of `performance.now()`. The caller must abort the execution at the
   * deadline.
   * @param known outcome of a call that has run, which ends this execution in place of `invoke`
   */
  constructor(tool: ServedTool, call: Call, deadline: number, log: Logger, hooks: ExecutionHooks, known?: Answer) {
    this.#tool = tool;
    this.#call = call;
    this.#log = log;
    this.#known = known;
    const { auth } = call;
    this.#context =
      auth === undefined ? new Context(deadline, log, hooks) : new SignedContext(deadline, log, hooks, auth);
    // A thrown proxy or a getter of a thrown error can throw when the error is read.
    this.end = this.#execute().catch((error) => this.#failed(error, "invoke"));
  }

  abort(reason: InvocationAborted["reason"]): void {
    if (reason === "timeout") {
      this.#timedOut = true;
      this.#call.input = undefined;
    }
    if (reason === "shutdown") this.#stopping = true;
    this.#context.abort(reason);
  }

  /** Releases the memory of the execution. Call it after its end. */
  close(): void {
    this.#context.close();
  }

  /**
   * Calls the `returned` callbacks of stored values after their result was sent. Resolves when all have ended; never
   * rejects.
   */
  async returned(receipt: Receipt | undefined): Promise<void> {
    for (const value of this.#stored) {
      try {
        await value.returned?.(receipt);
      } catch (error) {
        this.#log.warn(
          { err: error },
          "removing an upload from the journal failed after the result was sent; the upload stays in the journal",
        );
      }
    }
  }

  /**
   * Never rejects: every error becomes an answer. For a call that has run (`known`), only `authorize` and `around` run,
   * because another leader or key asks for the answer.
   */
  async #execute(): Promise<Answer> {
    const tool = this.#tool;
    const log = this.#log;
    const { around } = tool;
    let instance: SvcTool<unknown, unknown>;
    let caller: AuthContext | undefined;
    // Parameters with a default value, and rest parameters, do not count; svc-gen reports them.
    let takesInput = false;
    try {
      const constructed = tool.construct();
      instance = constructed instanceof Promise ? await constructed : constructed;
      if (asksForCaller(instance)) {
        if (this.#context instanceof SignedContext) {
          caller = this.#context.auth;
          takesInput = instance.authorize.length > 1;
        }
      }
    } catch (error) {
      return this.#failed(error, "construction");
    }
    if (this.#timedOut) return errorAnswer("tool_invocation_timeout");
    let input: unknown;
    try {
      if (takesInput) input = this.#decode();
      if (caller !== undefined) {
        const denied = await authorize(instance, caller, input, log);
        if (denied !== undefined) return this.#stopping && denied.code !== "permission_denied" ? INTERRUPTED : denied;
        if (this.#timedOut) return errorAnswer("tool_invocation_timeout");
      }
      if (this.#known !== undefined && around === undefined) return this.#known;
      if (!takesInput) input = this.#decode();
    } catch (error) {
      if (error instanceof WireFault) return errorAnswer(error.code, error.details);
      log.error({ err: error }, "decoding the input failed");
      return errorAnswer("internal_error", undefined, error);
    }
    if (around === undefined) return this.#invoke(instance, input);
    const output = () => this.#output;
    const call: AroundCall = {
      ...{ fqn: tool.fqn, input, context: this.#context, stored: this.#known !== undefined },
      get output() {
        return output();
      },
      is: ((other: SvcToolClass) => other === tool.tool) as AroundCall["is"],
    };
    return runAround(around, call, {
      run: async () => this.#known ?? this.#invoke(instance, input),
      failed: (error) => refusal(error) ?? this.#failed(error, "around"),
      log,
    });
  }

  async #invoke(instance: SvcTool<unknown, unknown>, input: unknown): Promise<Answer> {
    // A blocked event loop delays the deadline's timer.
    if (this.#timedOut || performance.now() >= this.#context.deadline) return errorAnswer("tool_invocation_timeout");
    let result: unknown;
    try {
      result = await instance.invoke(input, this.#context);
    } catch (error) {
      if (error instanceof InvalidInput) return errorAnswer("input_deserialization_error", error.message);
      return this.#failed(error, "invoke");
    }
    if (this.#timedOut) return errorAnswer("tool_invocation_timeout");
    const returned = result;
    try {
      if (!(result instanceof ErrEval) && instance.encodeOutput !== SvcTool.prototype.encodeOutput) {
        result = await instance.encodeOutput(result);
      }
    } catch (error) {
      this.#logFailure(error, "encodeOutput");
      return this.#stopping ? INTERRUPTED : errorAnswer("output_serialization_error", undefined, error);
    }
    const answer = this.#encode(result);
    if (this.#tool.around !== undefined && answer.signable) {
      this.#output = returned instanceof ErrEval ? { [FAILURE_VARIANT]: { reason: returned.reason } } : returned;
    }
    return answer;
  }

  /** @throws {@link WireFault} if the input does not conform to the contract */
  #decode(): unknown {
    const input = takeInput(this.#call);
    const decoder = this.#tool.input;
    const onUndeclared = (place: string) => this.#noticeUndeclared(place);
    return "texts" in input
      ? decoder.decodeSigned(input.texts, onUndeclared)
      : decoder.decodeUnsigned(input.body, input.document, onUndeclared);
  }

  #noticeUndeclared(place: string): void {
    const { undeclared } = this.#tool;
    if (undeclared.has(place)) return;
    undeclared.add(place);
    const message = "the input contained a member that the tool does not declare; the member was ignored";
    this.#log.warn({ at: place }, message);
  }

  #encode(encodable: unknown): Answer {
    try {
      const output = this.#tool.output.encode(encodable, (port) => this.#noticeRounded(port));
      const body = resultBytes(output);
      const json = this.#call.json ? resultJson(output) : undefined;
      this.#stored = waiting(output);
      const stored = this.#stored.length > 0;
      return { status: 200, code: undefined, body, signable: true, json, seal: undefined, stored, error: undefined };
    } catch (error) {
      if (error instanceof WireFault) {
        this.#log.error({ code: error.code, details: error.details }, "the tool's result does not match its contract");
        return errorAnswer(error.code, error.details, error);
      }
      // A getter or `toJSON` of the tool threw.
      this.#log.error({ err: error }, "encoding the tool's result failed");
      return this.#stopping ? INTERRUPTED : errorAnswer("output_serialization_error", undefined, error);
    }
  }

  #noticeRounded(port: string): void {
    const { rounded } = this.#tool;
    if (rounded.has(port)) return;
    rounded.add(port);
    this.#log.warn(
      { port },
      "the result contains an integer beyond 2^53 in a value of type unknown, which was probably rounded: parse such values with readJson",
    );
  }

  #failed(error: unknown, phase: "construction" | "around" | "invoke"): Answer {
    this.#logFailure(error, phase);
    return this.#stopping ? INTERRUPTED : errorAnswer("tool_invocation_failed", undefined, error);
  }

  #logFailure(error: unknown, phase: "construction" | "around" | "invoke" | "encodeOutput"): void {
    const reason = this.#context.abortThatCaused(error);
    const code = phase === "around" ? "around()" : "the tool";
    const what = error instanceof Error ? "an error" : "a value, not an Error: throw an Error or return errEval(…)";
    const threw = error instanceof PermissionDenied ? MISPLACED_REFUSAL : `${code} threw ${what}`;
    if (reason === undefined) this.#log.error({ err: error, phase }, threw);
    else this.#log.info({ reason, phase }, "the tool stopped after its abort signal");
  }
}

/** Stored values of a result that have a `returned` callback. */
function waiting({ ports }: EncodedOutput): readonly WalrusValue[] {
  return ports.flatMap(({ values }) =>
    values.flatMap((value) => (value.kind === "walrus" && value.returned !== undefined ? [value] : [])),
  );
}

/** Whether an instance overrides `authorize`; the default permits every caller. */
function asksForCaller(instance: SvcTool<unknown, unknown>): boolean {
  return instance.authorize !== SvcTool.prototype.authorize;
}

const MISPLACED_REFUSAL =
  "the tool threw PermissionDenied outside authorize(), which counts as a failure of the tool: throw it in authorize(), or return a variant of the result";

const RETURNED =
  "authorize() returned a value, so the leader was refused: throw PermissionDenied to refuse a leader, and return nothing to permit it";

/**
 * Calls an instance's `authorize` for a caller. Refuses the caller if it returns anything but undefined, because an
 * author who returns `false` means to refuse.
 *
 * @returns undefined if the caller is permitted, otherwise the answer with the error
 */
async function authorize(
  instance: SvcTool<unknown, unknown>,
  auth: AuthContext,
  input: unknown,
  log: Logger,
): Promise<Answer | undefined> {
  try {
    const returned: unknown = await instance.authorize(auth, input);
    if (returned === undefined) return undefined;
    log.error({ phase: "authorize" }, RETURNED);
    return errorAnswer("permission_denied");
  } catch (error) {
    if (error instanceof PermissionDenied) return denied(error);
    log.error({ err: error, phase: "authorize" }, "the tool threw an error");
    return errorAnswer("tool_invocation_failed", undefined, error);
  }
}

function denied({ message }: PermissionDenied): Answer {
  return errorAnswer("permission_denied", message.slice(0, MAX_REFUSAL_LENGTH));
}

/** Answer for an error with which `around` refuses a call; undefined for another error. */
function refusal(error: unknown): Answer | undefined {
  if (error instanceof InvalidInput) return errorAnswer("input_deserialization_error", error.message);
  if (error instanceof RateLimited) return errorAnswer("rate_limited", error.message.slice(0, MAX_REFUSAL_LENGTH));
  return error instanceof PermissionDenied ? denied(error) : undefined;
}
