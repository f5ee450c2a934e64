/**
 * One run of a tool under its deadline (protocol.md section 7, steps 5 and 6): construct, authorize, decode, invoke,
 * encode. Whatever the tool does, a run ends in exactly one answer.
 */

import {
  type AuthContext,
  ErrEval,
  InvocationAborted,
  type InvokeContext,
  type Logger,
  PermissionDenied,
  SvcTool,
} from "../tool.js";
import { WireFault } from "../wire/fault.js";
import { type EncodedOutput, resultBytes } from "../wire/output.js";
import { type ErrorCode, errorBody, statusOf } from "./errors.js";
import type { ServedTool } from "./served-tool.js";

/** How a run ended. */
export interface Answer {
  readonly status: number;
  /** Absent for a result. */
  readonly code?: ErrorCode;
  readonly body: Buffer;
  /** A result, to be signed; an error never is. */
  readonly signable: boolean;
  /** The result before it became bytes, for callers that want JSON. */
  readonly output?: EncodedOutput;
}

/** Characters of a refusal's message that reach the caller: it is kept in the replay memory. */
const MAX_REFUSAL_LENGTH = 1024;

/** An error as an answer. */
export function refusal(code: ErrorCode, details?: string): Answer {
  return { status: statusOf(code), code, body: errorBody(code, details), signable: false };
}

/** The end of a run that was told to stop and then threw: not kept, so that another process may answer. */
const SHUTTING_DOWN = refusal("shutting_down");

/** What a tool gets beside its input. The signal is made when a tool first asks for it: most never do. */
class Context implements InvokeContext {
  #controller: AbortController | undefined;
  #aborted: InvocationAborted | undefined;

  constructor(
    readonly deadline: number,
    readonly log: Logger,
    auth: AuthContext | undefined,
  ) {
    if (auth !== undefined) this.auth = auth;
  }

  /** Absent in unsigned mode, not undefined. */
  declare readonly auth?: AuthContext;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  abort(reason: InvocationAborted["reason"]): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = new InvocationAborted(reason);
    this.#controller?.abort(this.#aborted);
  }
}

/** What happens around a run. */
export interface RunHooks {
  /** The run ended before its deadline, or kept the event loop busy past it: this is its answer. */
  ended?(answer: Answer): void;
  /** The deadline passed; the tool may still be running. The answer is the 504. */
  timedOut?(answer: Answer): void;
  /** The tool of a run that timed out ended at last; its result is discarded. */
  settledLate?(): void;
}

/** One invocation. */
export class Run {
  /** Never rejects. */
  readonly answer: Promise<Answer>;
  private readonly context: Context;
  private readonly started = performance.now();
  private over = false;
  private stopping = false;

  /**
   * @param decode makes the input; it throws a {@link WireFault} for one that does not fit
   * @param auth the verified caller; undefined in unsigned mode
   */
  constructor(
    private readonly tool: ServedTool,
    private readonly decode: () => unknown,
    private readonly auth: AuthContext | undefined,
    private readonly log: Logger,
    hooks: RunHooks = {},
  ) {
    const { timeoutMs } = tool;
    this.context = new Context(this.started + timeoutMs, log, auth);
    this.answer = new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.over = true;
        const answer = refusal("tool_invocation_timeout");
        hooks.timedOut?.(answer);
        resolve(answer);
        log.warn({ code: answer.code, timeoutMs }, "the tool did not answer before its deadline");
        this.context.abort("timeout");
      }, timeoutMs);
      void this.execute().then((answer) => {
        // A tool that kept the event loop busy past its deadline did not let the timer fire.
        const late = performance.now() >= this.context.deadline;
        if (late) {
          log.warn(
            { ms: Math.round(performance.now() - this.started) },
            "the tool ended after its deadline; its result is discarded",
          );
          this.context.abort("timeout");
        }
        if (this.over) {
          hooks.settledLate?.();
          return;
        }
        clearTimeout(timer);
        this.over = true;
        const end = late ? refusal("tool_invocation_timeout") : answer;
        hooks.ended?.(end);
        resolve(end);
      });
    });
  }

  /** Tells the tool that nobody waits for its result any more. */
  abort(reason: "disconnect" | "shutdown"): void {
    if (reason === "shutdown") this.stopping = true;
    if (!this.over) this.context.abort(reason);
  }

  /** Never throws: every fault has its answer. */
  private async execute(): Promise<Answer> {
    const { tool, auth } = this;
    let instance: SvcTool<unknown, unknown>;
    try {
      const constructed = tool.construct();
      instance = constructed instanceof Promise ? await constructed : constructed;
      if (this.over) return refusal("tool_invocation_timeout");
      if (auth !== undefined && asksForCaller(instance)) {
        const refused = await authorize(instance, auth, this.log);
        if (refused !== undefined)
          return this.stopping && refused.code !== "permission_denied" ? SHUTTING_DOWN : refused;
        if (this.over) return refusal("tool_invocation_timeout");
      }
    } catch (error) {
      return this.failed(error, "construction");
    }
    let input: unknown;
    try {
      input = this.decode();
    } catch (error) {
      if (error instanceof WireFault) return refusal(error.code, error.details);
      this.log.error({ err: error }, "decoding the input failed");
      return refusal("internal_error");
    }
    // What kept the event loop busy kept the timer from firing.
    if (performance.now() >= this.context.deadline) return refusal("tool_invocation_timeout");
    let result: unknown;
    try {
      result = await instance.invoke(input, this.context);
    } catch (error) {
      return this.failed(error, "invoke");
    }
    if (this.over) return refusal("tool_invocation_timeout");
    return this.encode(instance, result);
  }

  private async encode(instance: SvcTool<unknown, unknown>, result: unknown): Promise<Answer> {
    let encodable: unknown = result;
    try {
      if (!(result instanceof ErrEval)) {
        const encoded = instance.encodeOutput(result);
        encodable = encoded instanceof Promise ? await encoded : encoded;
      }
    } catch (error) {
      this.log.error({ err: error, phase: "encodeOutput" }, "the tool failed");
      return this.stopping ? SHUTTING_DOWN : refusal("output_serialization_error");
    }
    try {
      const output = this.tool.output.encode(encodable);
      return { status: 200, body: resultBytes(output), signable: true, output };
    } catch (error) {
      if (error instanceof WireFault) {
        this.log.error(
          { code: error.code, details: error.details },
          "the tool's result does not conform to its contract",
        );
        return refusal(error.code, error.details);
      }
      // A getter or toJSON of the tool's own.
      this.log.error({ err: error }, "encoding the tool's result failed");
      return this.stopping ? SHUTTING_DOWN : refusal("output_serialization_error");
    }
  }

  private failed(error: unknown, phase: "construction" | "invoke"): Answer {
    this.log.error({ err: error, phase }, "the tool failed");
    return this.stopping ? SHUTTING_DOWN : refusal("tool_invocation_failed");
  }
}

/** Whether an instance has an `authorize` of its own, inherited or its own member; the default lets everybody pass. */
function asksForCaller(instance: SvcTool<unknown, unknown>): boolean {
  return instance.authorize !== SvcTool.prototype.authorize;
}

/**
 * Asks an instance whether a caller may pass.
 *
 * @returns undefined when it may, else the refusal or the fault
 */
async function authorize(
  instance: SvcTool<unknown, unknown>,
  auth: AuthContext,
  log: Logger,
): Promise<Answer | undefined> {
  try {
    await instance.authorize(auth);
    return undefined;
  } catch (error) {
    if (error instanceof PermissionDenied) {
      return refusal("permission_denied", error.message.slice(0, MAX_REFUSAL_LENGTH));
    }
    log.error({ err: error, phase: "authorize" }, "the tool failed");
    return refusal("tool_invocation_failed");
  }
}

/**
 * Lets another caller pass `authorize` on a new instance, under the tool's deadline, before it gets a cached answer
 * (protocol.md section 8).
 *
 * @returns undefined when it may have the answer
 */
export async function authorizeAlone(tool: ServedTool, auth: AuthContext, log: Logger): Promise<Answer | undefined> {
  const work = async () => {
    try {
      return await authorize(await tool.construct(), auth, log);
    } catch (error) {
      log.error({ err: error, phase: "construction" }, "the tool failed");
      return refusal("tool_invocation_failed");
    }
  };
  return withDeadline(work, tool.timeoutMs, () => refusal("tool_invocation_timeout"));
}

/** The end of a promise, or of the time given to it; work that kept the event loop busy past that time is late too. */
export async function withDeadline<T>(work: () => Promise<T>, ms: number, late: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const started = performance.now();
  const deadline = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late()), ms);
  });
  try {
    const end = await Promise.race([work(), deadline]);
    return performance.now() - started < ms ? end : late();
  } finally {
    clearTimeout(timer);
  }
}
