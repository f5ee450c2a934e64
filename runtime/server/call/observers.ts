/** What can be seen of a call: by the log, by metrics, by traces. Nothing is measured while nobody looks. */

import type { AuthContext, Logger } from "../../tool.js";
import type { CallLog } from "./call-log.js";
import type { Reply, RequestHeaders } from "./messages.js";
import type { ServedTool } from "./served-tool.js";

/** The parts of a call, in their order; `run` is everything from the tool's construction to the encoded result. */
export type Step = "auth" | "body" | "claim" | "queue" | "run" | "sign";

/** Looks at calls. What it throws is logged once and changes nothing. */
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

/** Calls an observer; what it throws goes no further. */
type Guard = (observer: Observer, work: () => void) => void;

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
    private readonly guard: Guard,
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

  /** Starts the tool's own code, once, inside of what observers put around it. */
  run<T>(start: () => T): T {
    return this.observers.reduce<() => T>((inner, observer) => () => this.around(observer, inner), start)();
  }

  private around<T>(observer: Observer, inner: () => T): T {
    if (observer.around === undefined) return inner();
    let outcome: { readonly value: T } | { readonly error: unknown } | undefined;
    const once = () => {
      try {
        outcome ??= { value: inner() };
      } catch (error) {
        outcome = { error };
      }
      return outcome;
    };
    this.guard(observer, () => observer.around?.(this, once));
    const ended = once();
    if ("error" in ended) throw ended.error;
    return ended.value;
  }

  end(reply: Reply): void {
    for (const observer of this.observers) this.guard(observer, () => observer.ended?.(this, reply));
  }
}

/** Everybody who looks at the calls of a process. */
export class Observers {
  readonly #failed = new Set<Observer>();

  constructor(
    private readonly all: readonly Observer[],
    private readonly log: Logger,
  ) {}

  /** Undefined when nobody looks. */
  begin(tool: ServedTool, request: RequestHeaders, log: CallLog): Observation | undefined {
    if (!this.all.some(isActive)) return undefined;
    const observers = this.all.filter(isActive);
    const call = new Observation(tool, log, observers, this.#guard);
    for (const observer of observers) this.#guard(observer, () => observer.began?.(call, request));
    return call;
  }

  settledLate(tool: ServedTool): void {
    for (const observer of this.all) this.#guard(observer, () => observer.settledLate?.(tool));
  }

  readonly #guard: Guard = (observer, work) => {
    try {
      work();
    } catch (error) {
      if (this.#failed.has(observer)) return;
      this.#failed.add(observer);
      this.log.error({ err: error }, "an observer of calls fails; its further errors are not logged");
    }
  };
}

const isActive = ({ active }: Observer) => active;
