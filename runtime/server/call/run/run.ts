/**
 * One run of a tool with its deadline (protocol.md section 7, steps 5 and 6). Every run ends with exactly one answer.
 * execution.ts contains the steps between start and end.
 */

import type { Receipt } from "svc-client/internal/wire/receipt";
import { endsWithin } from "../../../time-limit.js";
import { InvocationAborted, type Logger } from "../../../tool.js";
import { type Answer, type Call, errorAnswer, type Health } from "../messages.js";
import { Execution, type ExecutionHooks, healthOf } from "./execution.js";
import type { ServedTool } from "./served-tool.js";

export interface RunHooks extends ExecutionHooks {
  /**
   * Called when the run ends before its deadline, or later because it blocked the event loop. Returns the answer to
   * send.
   */
  ended?(answer: Answer): Answer | Promise<Answer>;
  /** Called with the 504 at the deadline. The tool may still be running. */
  timedOut?(answer: Answer): void;
  /** Called when the tool of a timed-out run has ended. Its result is discarded. */
  settledLate?(): void;
}

export class Run {
  /** Answer of the run; never rejects. */
  readonly answer: Promise<Answer>;
  /** In milliseconds, on the clock of `performance.now()`. */
  #deadline: number;
  /** Created in the `AsyncLocalStorage` context of the call, such as its trace span. */
  #timer: NodeJS.Timeout;
  readonly #execution: Execution;
  #resolve!: (answer: Answer | Promise<Answer>) => void;
  #over = false;

  readonly #tool: ServedTool;
  readonly #log: Logger;
  readonly #hooks: RunHooks;

  constructor(tool: ServedTool, call: Call, log: Logger, hooks: RunHooks = {}) {
    this.#tool = tool;
    this.#log = log;
    this.#hooks = hooks;
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#deadline = performance.now() + tool.timeoutMs;
    this.#execution = new Execution(tool, call, this.#deadline, log, hooks);
    // The first synchronous part of the tool may have taken a part of its time.
    this.#timer = setTimeout(() => this.#timeOut(), Math.min(tool.timeoutMs, this.#msLeft));
    void this.#execution.end.then((answer) => this.#settle(answer));
  }

  /** Brings the deadline closer, for tests. If it is then in the past, it passes before this method returns. */
  advance(ms: number): void {
    this.#deadline -= ms;
    if (this.#over) return;
    clearTimeout(this.#timer);
    if (this.#msLeft <= 0) this.#timeOut();
    else this.#timer = setTimeout(() => this.#timeOut(), this.#msLeft);
  }

  get #msLeft(): number {
    return Math.ceil(this.#deadline - performance.now());
  }

  #timeOut(): void {
    // Timers that a test replaces during a call are not cleared.
    if (this.#over) return;
    const hooks = this.#hooks;
    const log = this.#log;
    const tool = this.#tool;
    const answer = errorAnswer("tool_invocation_timeout");
    hooks.timedOut?.(answer);
    this.#resolve(answer);
    this.abort("timeout");
    this.#over = true;
    log.warn({ code: answer.code, timeoutMs: tool.timeoutMs }, "the tool exceeded its deadline");
  }

  #settle(answer: Answer): void {
    this.#execution.close();
    const hooks = this.#hooks;
    const log = this.#log;
    const tool = this.#tool;
    // A tool that blocks the event loop beyond its deadline also delays the timer.
    const overrun = performance.now() - this.#deadline;
    const late = overrun >= 0;
    if (late) this.abort("timeout");
    if (this.#over) hooks.settledLate?.();
    else {
      clearTimeout(this.#timer);
      this.#over = true;
      const given = late ? errorAnswer("tool_invocation_timeout") : answer;
      this.#resolve(hooks.ended?.(given) ?? given);
    }
    if (!late) return;
    const ms = Math.round(overrun + tool.timeoutMs);
    log.warn({ ms }, "the tool ended after its deadline; its result was discarded");
  }

  /** Calls the `returned` callbacks of stored values after the result was sent. Never rejects. */
  returned(receipt: Receipt | undefined): Promise<void> {
    return this.#execution.returned(receipt);
  }

  abort(reason: InvocationAborted["reason"]): void {
    if (!this.#over) this.#execution.abort(reason);
  }
}

/**
 * Calls `authorize` on a new instance, and `around`, with the tool's deadline, for a caller that requests the stored
 * answer of another leader or key (protocol.md section 8).
 *
 * @param stored status and code of the stored answer
 * @param hooks `ended` is called once when they have ended, possibly after the deadline
 * @returns undefined if the caller may get the answer, otherwise the answer with the error
 */
export async function authorizeAlone(
  tool: ServedTool,
  call: Call,
  stored: { readonly status: number; readonly code?: string | undefined },
  log: Logger,
  hooks: ExecutionHooks & { readonly ended: () => void },
): Promise<Answer | undefined> {
  const known = { ...errorAnswer("internal_error"), ...stored } as Answer;
  const execution = new Execution(tool, call, performance.now() + tool.timeoutMs, log, hooks, known);
  void execution.end.then(() => {
    execution.close();
    hooks.ended();
  });
  const late = () => {
    execution.abort("timeout");
    return errorAnswer("tool_invocation_timeout");
  };
  const answer = await withDeadline(() => execution.end, tool.timeoutMs, late);
  return answer === known ? undefined : answer;
}

/** Calls `health()` on a new instance, with the tool's deadline. */
export function checkHealth(tool: ServedTool, log: Logger): Promise<Health> {
  const late = (): Health => ({ status: 503, error: new InvocationAborted("timeout") });
  return withDeadline(() => healthOf(tool, log), tool.timeoutMs, late);
}

/**
 * Runs work with a time limit.
 *
 * @returns the result of the work, or of `late` if the work took `ms` milliseconds or more, including time in which it
 * blocked the event loop
 */
async function withDeadline<T>(begin: () => Promise<T>, ms: number, late: () => T): Promise<T> {
  const started = performance.now();
  const work = begin();
  const isInTime = await endsWithin(ms, work);
  return isInTime && performance.now() - started < ms ? work : late();
}
