/** History of calls, kept in memory: the page shows it after a reload and can repeat its calls. */

import { performance } from "node:perf_hooks";
import type { CallEntry, ExchangeReport } from "../page-api.js";
import { PageFault } from "../page-fault.js";
import type { Prepared } from "./exchange-view.js";

const MAX_KEPT = 200;
/** Maximum number of characters of the input in the list of calls. */
const MAX_PREVIEW = 160;

/** A call and its request, for a retry. */
export interface KeptCall {
  readonly prepared: Prepared;
  /** Identifies the answer. */
  readonly digest: string;
  readonly report: ExchangeReport;
  /** Time on the `performance.now()` clock. */
  readonly at: number;
  /** Identifies the server process: another process has another replay memory, without this call. */
  readonly start: object;
}

export class CallHistory {
  readonly #kept = new Map<string, KeptCall>();

  add(call: Omit<KeptCall, "report" | "at">, given: Omit<ExchangeReport, "preview">): ExchangeReport {
    const preview = given.input
      .slice(0, 2 * MAX_PREVIEW)
      .replace(/\s+/g, " ")
      .slice(0, MAX_PREVIEW);
    const report = { ...given, preview };
    this.#kept.set(report.id, { ...call, report, at: performance.now() });
    for (const old of [...this.#kept.keys()].slice(0, -MAX_KEPT)) this.#kept.delete(old);
    return report;
  }

  get(id: string | undefined): KeptCall | undefined {
    return id === undefined ? undefined : this.#kept.get(id);
  }

  /** @throws PageFault if the call is no longer in the history */
  report(id: string): ExchangeReport {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw new PageFault("this call is no longer in the history");
    return kept.report;
  }

  /** Newest first. */
  entries(): CallEntry[] {
    return [...this.#kept.values()].map(({ report }) => entryOf(report)).reverse();
  }
}

export function entryOf({ input: _, exchange: __, ...entry }: ExchangeReport): CallEntry {
  return entry;
}
