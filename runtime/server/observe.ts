/** What can be seen of a call: by the log, by metrics, by traces. Nothing is measured while nobody looks. */

import type { AuthContext } from "../tool.js";
import type { RequestHeaders } from "./auth.js";
import type { CallLog } from "./call-log.js";
import type { Reply } from "./handle.js";
import type { ServedTool } from "./served-tool.js";

/** The parts of a call, in their order; `run` is everything from the tool's construction to the encoded result. */
export type Step = "auth" | "body" | "claim" | "queue" | "run" | "sign";

/** Looks at calls. It must not throw. */
export interface Observer {
  /** Whether calls that begin now are looked at. */
  readonly active: boolean;
  began?(call: Observation, request: RequestHeaders): void;
  /** Starts the tool's own code and what it awaits. */
  around?<T>(call: Observation, start: () => T): T;
  ended?(call: Observation, reply: Reply): void;
  /** A tool ended after its deadline; its result was discarded. */
  settledLate?(tool: ServedTool): void;
}

/** One call that somebody looks at. */
export class Observation {
  /** The verified caller. */
  caller: AuthContext | undefined;
  /** Whether the answer is one of an earlier run. */
  replayed = false;
  /** Milliseconds by step. */
  readonly steps: Partial<Record<Step, number>> = {};
  readonly #started = performance.now();
  #last = this.#started;

  constructor(
    readonly tool: ServedTool,
    readonly log: CallLog,
    private readonly observers: readonly Observer[],
  ) {}

  /** Milliseconds since it began. */
  get ms(): number {
    return performance.now() - this.#started;
  }

  /** A step is done; one that is done again takes the sum. */
  done(step: Step): void {
    const now = performance.now();
    this.steps[step] = (this.steps[step] ?? 0) + now - this.#last;
    this.#last = now;
  }

  /** Starts the tool's own code inside of what observers put around it. */
  run<T>(start: () => T): T {
    return this.observers.reduce<() => T>(
      (inner, observer) => () => (observer.around === undefined ? inner() : observer.around(this, inner)),
      start,
    )();
  }

  end(reply: Reply): void {
    for (const observer of this.observers) observer.ended?.(this, reply);
  }
}

/** Everybody who looks at the calls of a process. */
export class Observers {
  constructor(private readonly all: readonly Observer[]) {}

  /** Undefined when nobody looks. */
  begin(tool: ServedTool, request: RequestHeaders, log: CallLog): Observation | undefined {
    if (!this.all.some(isActive)) return undefined;
    const observers = this.all.filter(isActive);
    const call = new Observation(tool, log, observers);
    for (const observer of observers) observer.began?.(call, request);
    return call;
  }

  settledLate(tool: ServedTool): void {
    for (const observer of this.all) observer.settledLate?.(tool);
  }
}

const isActive = ({ active }: Observer) => active;
