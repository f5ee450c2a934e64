import { type AuthContext, errEval, type InvokeContext, PermissionDenied, StatusCode, SvcTool } from "svc-runtime";
import { Ledger, LedgerUnavailable } from "./ledger.js";

/** @pattern ^[a-z][a-z0-9-]{0,31}$ */
export type Account = string;

/**
 * Amount in minor units, such as cents.
 * @format int64
 * @minimum 1
 * @maximum 1000000000000000
 */
export type Amount = bigint;

export interface Receipt {
  /**
   * The number of the booking.
   * @format int64
   */
  receipt: bigint;
  /**
   * Balance right after the booking.
   * @format int64
   */
  balance: bigint;
  bookedAt: Date;
}

let shared: { readonly ledger: Ledger; users: number } | undefined;

/** The ledger that the tools of this process share. The first tool opens it, the last one closes it. */
export abstract class LedgerTool<Input, Output> extends SvcTool<Input, Output> {
  static override create() {
    LedgerTool.share((path) => new Ledger(path));
  }

  /** Returns the ledger for one more tool. Tests open their own. */
  protected static share(open: (path: string) => Ledger) {
    const path = process.env.LEDGER_DATABASE;
    if (!path) throw new Error("LEDGER_DATABASE: expected the path of the database file, got nothing");
    shared ??= { ledger: open(path), users: 0 };
    shared.users++;
  }

  static override close() {
    if (shared === undefined || --shared.users > 0) return;
    shared.ledger.close();
    shared = undefined;
  }

  protected get ledger(): Ledger {
    if (shared === undefined) throw new TypeError("the ledger is not open");
    return shared.ledger;
  }

  /** Unhealthy (503) while the database is unavailable. */
  override health() {
    try {
      this.ledger.check();
      return StatusCode.OK;
    } catch (error) {
      if (error instanceof LedgerUnavailable) return StatusCode.SERVICE_UNAVAILABLE;
      throw error;
    }
  }

  /** Runs the tool. While the database is unavailable, the result is the reserved failure `_err_eval`. */
  override async invoke(input: Input, context: InvokeContext): Promise<Output> {
    try {
      return await this.run(input, context);
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      context.log.error({ err: error }, "the ledger is not available");
      return errEval(`${error.message}; repeat the call with the same key`);
    }
  }

  protected abstract run(input: Input, context: InvokeContext): Promise<Output>;
}

/** A tool that books money. Only the leaders in `LEDGER_LEADERS` may call it; by default none may. */
export abstract class BookingTool<Input, Output> extends LedgerTool<Input, Output> {
  override authorize({ leaderId }: AuthContext) {
    const leaders = process.env.LEDGER_LEADERS?.split(",").map((id) => id.trim()) ?? [];
    if (!leaders.includes(leaderId)) throw new PermissionDenied("this leader may not book");
  }
}
