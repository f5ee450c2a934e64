import { SvcTool } from "svc-runtime";
import type { Cents, Report } from "./report.js";

export interface Input {
  /** The complete report, whether it was sent inline or stored. */
  report: Report;
}

export type Output =
  | { correct: { lines: number; closing: Cents } }
  | {
      wrong: {
        /** Index in `lines`. @asType integer */
        line: number;
        reason: "closing" | "opening";
      };
    };

/** Checks that every line of a report adds up and continues the previous one. */
export class Audit extends SvcTool<Input, Output> {
  static override fqn() {
    return "io.report.audit@1";
  }

  static override description() {
    return "Checks that every line of a report adds up and follows from the one before.";
  }

  static override path() {
    return "report/audit";
  }

  override invoke({ report: { lines } }: Input): Output {
    let total: Cents = 0n;
    for (const [line, { account, opening, credits, debits, closing }] of lines.entries()) {
      const before = lines[line - 1];
      if (opening + credits - debits !== closing) return { wrong: { line, reason: "closing" } };
      if (before?.account === account && before.closing !== opening) return { wrong: { line, reason: "opening" } };
      if (lines[line + 1]?.account !== account) total += closing;
    }
    return { correct: { lines: lines.length, closing: total } };
  }
}
