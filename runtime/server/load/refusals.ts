/** Counts connections and calls that were rejected because of load, and reports them in the log. */

import type { Logger } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import { LOAD_REASONS, type LoadReason } from "./load-options.js";

/** Interval between two log lines, in milliseconds. */
const REPORT_MS = 10_000;

export class Refusals {
  /** Number of rejected connections and calls, by reason, since the process started. */
  readonly counts = Object.fromEntries(LOAD_REASONS.map((reason) => [reason, 0])) as Record<LoadReason, number>;
  readonly #unreported = new Map<LoadReason, number>();
  #report: NodeJS.Timeout | undefined;

  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Counts a rejected call and returns its error, `overloaded`. */
  refuse(reason: LoadReason): RequestError {
    this.count(reason);
    return new RequestError("overloaded");
  }

  /** Counts a rejection. Logs the first at once, and the sum of later ones every ten seconds. */
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
