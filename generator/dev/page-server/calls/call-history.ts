/** The calls that were made: shown after a reload of the page, and repeated. In memory, without secrets in what is shown. */

import { performance } from "node:perf_hooks";
import type { CallEntry, ExchangeReport } from "../page-api.js";
import { PageFault } from "../page-fault.js";
import type { Prepared } from "./exchange-view.js";

/** Calls that are kept. */
const MAX_KEPT = 200;
/** Characters of an input in the list of calls. */
const MAX_PREVIEW = 160;

/** A call with the bytes that repeat it. */
export interface KeptCall {
  readonly prepared: Prepared;
  readonly report: ExchangeReport;
  /** On the clock of `performance.now()`. */
  readonly at: number;
  /** The start of the server that it was made for: the memory of another one does not know it. */
  readonly start: object;
}

export class CallHistory {
  readonly #kept = new Map<string, KeptCall>();

  add(prepared: Prepared, given: Omit<ExchangeReport, "preview">, start: object): ExchangeReport {
    const preview = given.input
      .slice(0, 2 * MAX_PREVIEW)
      .replace(/\s+/g, " ")
      .slice(0, MAX_PREVIEW);
    const report = { ...given, preview };
    this.#kept.set(report.id, { prepared, report, at: performance.now(), start });
    for (const old of [...this.#kept.keys()].slice(0, -MAX_KEPT)) this.#kept.delete(old);
    return report;
  }

  get(id: string | undefined): KeptCall | undefined {
    return id === undefined ? undefined : this.#kept.get(id);
  }

  /** @throws PageFault for a call that is no longer kept */
  report(id: string): ExchangeReport {
    const kept = this.#kept.get(id);
    if (kept === undefined) throw new PageFault("this call is no longer kept");
    return kept.report;
  }

  /** The newest first. */
  entries(): CallEntry[] {
    return [...this.#kept.values()].map(({ report }) => entryOf(report)).reverse();
  }
}

export function entryOf({ input: _, exchange: __, ...entry }: ExchangeReport): CallEntry {
  return entry;
}
