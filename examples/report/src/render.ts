import { type DataRef, type InvokeContext, portJson, SvcTool } from "svc-runtime";
import type { WalrusStorage } from "svc-runtime-storage";
import type { Cents, Line, Report } from "./report.js";
import { storage } from "./storage.js";

export interface Input {
  /** @maxLength 200 */
  title: string;
  currency: "EUR" | "USD";
  /** First day of the first month. */
  from: Date;
  /** @minimum 1 @maximum 120 @asType integer */
  months: number;
  /**
   * Names of the accounts.
   * @maxItems 256
   */
  accounts: string[];
}

/** Summary of the report, always sent inline. */
export interface Summary {
  lines: number;
  closing: Cents;
  /** Size of the report's JSON text in bytes. */
  bytes: number;
}

export type Output = {
  rendered: {
    summary: Summary;
    /** The report: inline if it fits, otherwise stored in Walrus. */
    report: DataRef<Report>;
  };
};

/** Limit of one inline value, in bytes. */
const INLINE = 61_440;

/** Renders the statements of many accounts into one report. */
export class Render extends SvcTool<Input, Output> {
  static override fqn() {
    return "io.report.render@1";
  }

  static override description() {
    return "Renders the statements of many accounts into one report.";
  }

  static override path() {
    return "report/render";
  }

  /** Timeout, long enough for an upload. */
  static override timeout() {
    return 60_000;
  }

  static override async new() {
    return new Render(await storage());
  }

  readonly #storage: WalrusStorage;

  constructor(storage: WalrusStorage) {
    super();
    this.#storage = storage;
  }

  override async invoke(input: Input, { signal, log }: InvokeContext): Promise<Output> {
    const report = render(input);
    const bytes = portJson(Render, "rendered", "report", report);
    const fits = bytes.length <= INLINE;
    log.info({ lines: report.lines.length, bytes: bytes.length, stored: !fits }, "rendered");
    return {
      rendered: {
        summary: { lines: report.lines.length, closing: closingOf(report), bytes: bytes.length },
        report: fits ? report : await this.#storage.upload(bytes, { signal }),
      },
    };
  }
}

/** Generates sample bookings. The same input gives the same report. */
function render({ title, currency, from, months, accounts }: Input): Report {
  const lines: Line[] = [];
  for (const [i, account] of accounts.entries()) {
    let opening: Cents = 2n ** 53n + BigInt(i);
    for (let m = 0; m < months; m++) {
      const credits = BigInt((i * 7_919 + m * 104_729) % 1_000_000);
      const debits = BigInt((i * 611_953 + m * 7_907) % 1_000_000);
      const closing = opening + credits - debits;
      lines.push({ account, month: monthOf(from, m), opening, credits, debits, closing });
      opening = closing;
    }
  }
  return { title, currency, from, lines };
}

function monthOf(from: Date, offset: number): string {
  return new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + offset, 1)).toISOString().slice(0, 7);
}

/** Total of the final balances of all accounts. */
function closingOf({ lines }: Report): Cents {
  return lines.reduce((sum, { account, closing }, i) => (lines[i + 1]?.account === account ? sum : sum + closing), 0n);
}
