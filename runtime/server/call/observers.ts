/** Observation of calls for the log, metrics and traces. Nothing is measured if no observer is active. */

import type { AuthContext, Logger } from "../../tool.js";
import type { ServerLogger } from "../log/safe-logger.js";
import type { InvokeRequest, Reply } from "./messages.js";
import type { ServedTool } from "./run/served-tool.js";

/**
 * Steps of a call, in order. `queue` is the sum of two waits: for a time slice before `auth`, and for a slot after
 * `claim`. `run` lasts from the construction of the tool until the result is encoded.
 */
export type Step = "auth" | "body" | "claim" | "queue" | "run" | "sign";

/** Observer of calls. Only its first error is logged; errors never affect a call. */
export interface Observer {
  /** Whether to observe calls that begin now. */
  readonly active: boolean;
  began?(call: Observation): void;
  /** Calls `start`, which starts the tool's code, for example inside an `AsyncLocalStorage` context. */
  around?<T>(call: Observation, start: () => T): T;
  ended?(call: Observation, reply: Reply): void;
  /** Called if a tool ends after its deadline; its result is discarded. */
  settledLate?(tool: ServedTool): void;
}

type Guard = (observer: Observer, work: () => void) => void;

export class Observation {
  /** Verified caller. */
  caller: AuthContext | undefined;
  /** Whether the answer was stored by an earlier run. */
  replayed = false;
  /** Duration of each step, in milliseconds. */
  readonly steps: Partial<Record<Step, number>> = {};
  readonly #started = performance.now();
  #last = this.#started;
  #ended = false;

  readonly #observers: readonly Observer[];
  readonly #guard: Guard;

  constructor(
    readonly tool: ServedTool,
    readonly request: Pick<InvokeRequest, "headers" | "id" | "peer">,
    readonly log: ServerLogger,
    observers: readonly Observer[],
    guard: Guard,
  ) {
    this.#observers = observers;
    this.#guard = guard;
  }

  /** Milliseconds since the call began. */
  get ms(): number {
    return performance.now() - this.#started;
  }

  /** Ends a step: adds the time since the end of the previous step. */
  done(step: Step): void {
    const now = performance.now();
    this.steps[step] = (this.steps[step] ?? 0) + now - this.#last;
    this.#last = now;
  }

  /** Starts the tool's code inside the wrappers of all observers. */
  run<T>(start: () => T): T {
    return this.#observers.reduce<() => T>((inner, observer) => () => this.#around(observer, inner), start)();
  }

  #around<T>(observer: Observer, inner: () => T): T {
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
    this.#guard(observer, () => observer.around?.(this, once));
    const ended = once();
    if ("error" in ended) throw ended.error;
    return ended.value;
  }

  /** Ends the observation with the reply that is sent, even if the run continues. */
  end(reply: Reply): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const observer of this.#observers) this.#guard(observer, () => observer.ended?.(this, reply));
  }
}

export class Observers {
  readonly #failed = new Set<Observer>();

  readonly #all: readonly Observer[];
  readonly #log: Logger;

  constructor(all: readonly Observer[], log: Logger) {
    this.#all = all;
    this.#log = log;
  }

  /** Begins the observation of a call; undefined if no observer is active. */
  begin(tool: ServedTool, request: Observation["request"], log: ServerLogger): Observation | undefined {
    if (!this.#all.some(isActive)) return undefined;
    const observers = this.#all.filter(isActive);
    const call = new Observation(tool, request, log, observers, this.#guard);
    for (const observer of observers) this.#guard(observer, () => observer.began?.(call));
    return call;
  }

  settledLate(tool: ServedTool): void {
    for (const observer of this.#all) this.#guard(observer, () => observer.settledLate?.(tool));
  }

  readonly #guard: Guard = (observer, work) => {
    try {
      work();
    } catch (error) {
      if (this.#failed.has(observer)) return;
      this.#failed.add(observer);
      this.#log.error(
        { err: error },
        "an observer of calls threw an error; further errors of this observer are not logged",
      );
    }
  };
}

const isActive = ({ active }: Observer) => active;
