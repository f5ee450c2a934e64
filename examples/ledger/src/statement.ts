import { parse, parseNumberAndBigInt } from "lossless-json";
import type { InvokeContext } from "svc-runtime";
import type { Entry as Booking } from "./ledger.js";
import { type Account, LedgerTool, type Receipt } from "./ledger-tool.js";

export interface Input {
  /**
   * @maxItems 50
   * @acknowledge SVC155
   */
  accounts: Account[];
  since?: Date;
  /**
   * Maximum number of entries. Default: 20.
   * @asType integer
   * @minimum 1
   * @maximum 50
   */
  limit?: number;
}

export interface Entry extends Receipt {
  /** The debited account; absent for a deposit. */
  from?: Account;
  to: Account;
  /** @format int64 */
  amount: bigint;
  details?: unknown;
}

/** @format int64 */
type Balance = bigint;

export type Output = {
  ok: {
    /** Balances by account. Unknown accounts are omitted. */
    balances: Record<string, Balance>;
    /** Newest first. The list is inside an object because a list port cannot be empty. */
    book: { entries: Entry[] };
  };
};

/** Returns balances and latest bookings of accounts. Every leader of the allow-list may call it. */
export class Statement extends LedgerTool<Input, Output> {
  static override fqn() {
    return "bank.ledger.statement@1";
  }

  static override description() {
    return "Balances and latest bookings of accounts.";
  }

  static override path() {
    return "ledger/statement";
  }

  protected override async run({ accounts, since, limit = 20 }: Input, { signal }: InvokeContext): Promise<Output> {
    const { balances, entries } = await this.ledger.statement(accounts, since, limit, signal);
    return { ok: { balances, book: { entries: entries.map(shown) } } };
  }
}

/** Large integers in the details stay exact. */
function shown({ details, ...entry }: Booking): Entry {
  return { ...entry, ...(details !== undefined && { details: parse(details, null, parseNumberAndBigInt) }) };
}
