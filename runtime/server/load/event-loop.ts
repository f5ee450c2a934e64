/** How busy the event loop is, as node measures it. */

import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { OverloadLimits } from "./load-options.js";

/** Milliseconds between two looks: short enough to react, long enough for a mean. */
const SAMPLE_MS = 500;
/** Milliseconds between two measurements of the delay. */
const RESOLUTION_MS = 10;

/** Looks at the event loop twice a second until it is closed; keeps no process alive. */
export class EventLoopWatch {
  /** Mean milliseconds by which the event loop came late in the last sample. */
  delayMs = 0;
  /** The share of the last sample in which it was busy, 0 to 1. */
  utilization = 0;
  /** Whether the last sample was over a limit. */
  over = false;
  readonly #limits: OverloadLimits;
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #timer: NodeJS.Timeout;
  #since: EventLoopUtilization = performance.eventLoopUtilization();

  constructor(limits: OverloadLimits) {
    this.#limits = limits;
    this.#delays.enable();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS).unref();
  }

  #sample(): void {
    // Without a single measurement the mean is no number.
    this.delayMs = Math.max(0, this.#delays.mean / 1e6 - RESOLUTION_MS || 0);
    this.#delays.reset();
    const now = performance.eventLoopUtilization();
    this.utilization = performance.eventLoopUtilization(now, this.#since).utilization;
    this.#since = now;
    const { eventLoopDelayMs = Number.POSITIVE_INFINITY, eventLoopUtilization = 1 } = this.#limits;
    this.over = this.delayMs > eventLoopDelayMs || this.utilization > eventLoopUtilization;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#delays.disable();
    this.over = false;
  }
}
