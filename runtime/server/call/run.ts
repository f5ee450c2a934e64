/**
 * One run of a tool under its deadline (protocol.md section 7, steps 5 and 6). Whatever the tool does, a run ends in
 * exactly one answer; what happens on the way there is in execution.ts.
 */

import { AsyncResource } from "node:async_hooks";
import type { AuthContext, InvocationAborted, Logger } from "../../tool.js";
import { type Answer, type Call, type Execution, refusal } from "./messages.js";
import type { Due } from "./run-deadlines.js";
import type { ServedTool } from "./served-tool.js";

/** What happens around a run. */
export interface RunHooks {
  /** The run ended before its deadline, or kept the event loop busy past it. Gives the answer as it is to be sent. */
  ended?(answer: Answer): Answer | Promise<Answer>;
  /** The deadline passed; the tool may still be running. The answer is the 504. */
  timedOut?(answer: Answer): void;
  /** The tool of a run that timed out ended at last; its result is discarded. */
  settledLate?(): void;
}

/** One invocation. */
export class Run implements Due {
  /** Never rejects. */
  readonly answer: Promise<Answer>;
  readonly deadline: number;
  private readonly execution: Execution;
  private resolve!: (answer: Answer | Promise<Answer>) => void;
  /** What `AsyncLocalStorage` holds for this call, its span for one: a deadline that passes is part of the call. */
  private readonly context = new AsyncResource("svc-runtime run");
  private over = false;

  constructor(
    private readonly tool: ServedTool,
    call: Call,
    private readonly log: Logger,
    private readonly hooks: RunHooks = {},
  ) {
    this.answer = new Promise((resolve) => {
      this.resolve = resolve;
    });
    this.deadline = performance.now() + tool.timeoutMs;
    this.execution = tool.host.call(call, this.deadline, log);
    tool.deadlines.add(this);
    void this.execution.end.then(
      (answer) => this.settle(answer),
      () => this.settle(refusal("tool_invocation_failed")),
    );
  }

  /** The deadline has passed. */
  onExpired(): void {
    this.context.runInAsyncScope(() => this.timeOut());
  }

  private timeOut(): void {
    const { hooks, log, tool } = this;
    const answer = refusal("tool_invocation_timeout");
    hooks.timedOut?.(answer);
    this.resolve(answer);
    this.abort("timeout");
    this.over = true;
    log.warn({ code: answer.code, timeoutMs: tool.timeoutMs }, "the tool did not answer before its deadline");
  }

  private settle(answer: Answer): void {
    const { hooks, log, tool } = this;
    // A tool that kept the event loop busy past its deadline did not let the timer fire.
    const overrun = performance.now() - this.deadline;
    const late = overrun >= 0;
    if (late) this.abort("timeout");
    if (this.over) hooks.settledLate?.();
    else {
      tool.deadlines.cancel(this);
      this.over = true;
      const given = late ? refusal("tool_invocation_timeout") : answer;
      this.resolve(hooks.ended?.(given) ?? given);
    }
    if (!late) return;
    const ms = Math.round(overrun + tool.timeoutMs);
    log.warn({ ms }, "the tool ended after its deadline; its result is discarded");
  }

  /** Tells the tool's host that the result has left. Never rejects. */
  async returned(): Promise<void> {
    await this.execution.returned?.();
  }

  /** Tells the tool that nobody waits for its result any more. */
  abort(reason: InvocationAborted["reason"]): void {
    if (!this.over) this.execution.abort(reason);
  }
}

/**
 * Lets another caller pass `authorize` on a new instance, under the tool's deadline, before it gets a cached answer
 * (protocol.md section 8).
 *
 * @returns undefined when it may have the answer
 */
export function authorizeAlone(tool: ServedTool, auth: AuthContext, log: Logger): Promise<Answer | undefined> {
  const late = () => refusal("tool_invocation_timeout");
  return withDeadline(() => tool.host.authorize(auth, log), tool.timeoutMs, late);
}

/** The end of some work, or of the time given to it; work that kept the event loop busy past that time is late too. */
export async function withDeadline<T>(begin: () => Execution<T>, ms: number, late: () => T): Promise<T> {
  const started = performance.now();
  const work = begin();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<T>((resolve) => {
    timer = setTimeout(() => {
      work.abort("timeout");
      resolve(late());
    }, ms);
  });
  try {
    const ended = await Promise.race([work.end, deadline]);
    return performance.now() - started < ms ? ended : late();
  } finally {
    clearTimeout(timer);
  }
}
