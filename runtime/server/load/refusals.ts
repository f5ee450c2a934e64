/** Refusals due to load, counted by reason and reported in the log. */

import type { Logger } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import type { LoadReason } from "./load-options.js";

/** Milliseconds between two log reports. */
const REPORT_MS = 10_000;

/** Refusal counters of one process. */
export class Refusals {
  /** Refused connections and calls by reason, since the start of the process. */
  readonly counts: Record<LoadReason, number> = {
    connections: 0,
    requests: 0,
    answers: 0,
    bodyBytes: 0,
    inputBytes: 0,
    runs: 0,
    queueFull: 0,
    queueTimeout: 0,
    rateLimit: 0,
  };
  readonly #unreported = new Map<LoadReason, number>();
  #report: NodeJS.Timeout | undefined;

  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Counts a refusal and returns its error, `overloaded`. */
  refuse(reason: LoadReason): RequestError {
    this.count(reason);
    return new RequestError("overloaded");
  }

  /** Counts a refusal. The first is logged at once, further ones as a sum every ten seconds. */
  count(reason: LoadReason): void {
    this.counts[reason]++;
    this.#unreported.set(reason, (this.#unreported.get(reason) ?? 0) + 1);
    if (this.#report === undefined) this.#reportNow();
  }

  #reportNow(): void {
    if (this.#unreported.size === 0) {
      this.#report = undefined;
      return;
    }
    this.#log.warn(
      { refused: Object.fromEntries(this.#unreported) },
      "connections or calls were refused because of load",
    );
    this.#unreported.clear();
    this.#report = setTimeout(() => this.#reportNow(), REPORT_MS).unref();
  }
}
