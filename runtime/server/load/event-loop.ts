/** Delay and utilization of the event loop, as measured by node. */

import { type EventLoopUtilization, monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { OverloadLimits } from "./load-options.js";

/** Milliseconds between two samples: short enough to react, long enough for a mean. */
const SAMPLE_MS = 500;
/** Milliseconds between two measurements of the delay within a sample. */
const RESOLUTION_MS = 10;

/** Samples the event loop twice a second until closed; does not keep the process alive. */
export class EventLoopWatch {
  /** Mean delay of the event loop in the last sample, in milliseconds. */
  delayMs = 0;
  /** Share of the last sample in which the event loop was busy, 0 to 1. */
  utilization = 0;
  /** Whether the last sample exceeded a limit. */
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
    // The mean of zero measurements is NaN.
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
