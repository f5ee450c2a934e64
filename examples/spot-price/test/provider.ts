/** A price provider that does what a test says, and the time that passes while it is asked. */

import type { Clock } from "../src/clock.js";
import type { HttpClient } from "../src/price-source.js";

export const NOW = Date.parse("2026-01-31T12:00:30Z");

/** A good answer, or one with other members. */
export function priced(members: object = {}): Response {
  return Response.json({ price: "64123.10", as_of: "2026-01-31T12:00:00Z", ...members });
}

export const failed = (status: number, headers: Record<string, string> = {}) =>
  new Response("<secret of the provider>", { status, headers });

/** What one request meets: an answer, a connection that breaks, or nothing at all. */
export type Step = Response | "reset" | "hang";

/**
 * Answers each request by the next step. Time passes only in waits: the pause before a further request, and the time
 * limit of a request that hangs.
 */
export class Provider implements Clock {
  readonly asked: string[] = [];
  /** Milliseconds of each wait, in order. */
  readonly waited: number[] = [];
  private passed = 0;
  /** Whether a request has begun whose time limit was not set yet. */
  private begins = false;
  private hangs = false;

  constructor(private readonly steps: Step[]) {}

  readonly http: HttpClient = async (url, { signal }) => {
    const step = this.steps.shift();
    if (step === undefined) throw new Error("asked more often than the test expects");
    this.asked.push(`${url.pathname}${url.search}`);
    this.hangs = step === "hang";
    this.begins = true;
    if (step === "hang") return aborted(signal);
    if (step === "reset") throw new TypeError("fetch failed");
    return step;
  };

  now(): number {
    return NOW + this.passed;
  }

  /** What is left of a call that began with some milliseconds. */
  readonly leftOf = (total: number) => () => total - this.passed;

  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    // A request begins in the same turn as its time limit, which passes only when it hangs.
    await Promise.resolve();
    const isLimit = this.begins;
    this.begins = false;
    if (isLimit && !this.hangs) await aborted(signal);
    signal.throwIfAborted();
    this.waited.push(ms);
    this.passed += ms;
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}
