import { stringify } from "lossless-json";
import type { InvokeContext } from "svc-runtime";
import { type Account, type Amount, BookingTool, type Receipt } from "./ledger-tool.js";

export interface Input {
  /**
   * Idempotency key, chosen by the caller for each transfer. A call with the same key and values books nothing more and
   * returns the same receipt.
   * @minLength 1
   * @maxLength 64
   */
  key: string;
  from: Account;
  /** The account is opened if it does not exist. */
  to: Account;
  amount: Amount;
  /**
   * Any JSON, stored with the booking and returned in statements.
   * @acknowledge SVC156
   */
  details?: unknown;
}

export type Output =
  | { ok: Receipt }
  | {
      err_insufficient_funds: {
        reason: string;
        /** @format int64 */
        balance: bigint;
        /** @format int64 */
        missing: bigint;
      };
    }
  | { err_unknown_account: { reason: string; account: Account } }
  | { err_same_account: { reason: string } }
  /** The key was already used for another booking. */
  | { err_key_reused: { reason: string } }
  | { err_balance_too_large: { reason: string } }
  | { err_details_too_long: { reason: string } };

/** Limit of the details' JSON text in characters, so that the entries of a statement fit into a result. */
const MAX_DETAILS = 500;

/** Transfers money between accounts, once per key. */
export class Transfer extends BookingTool<Input, Output> {
  static override fqn() {
    return "bank.ledger.transfer@1";
  }

  static override description() {
    return "Moves money between accounts, once for each key.";
  }

  static override path() {
    return "ledger/transfer";
  }

  protected override async run(
    { key, from, to, amount, details }: Input,
    { signal, auth }: InvokeContext,
  ): Promise<Output> {
    if (from === to) return { err_same_account: { reason: "from and to are the same account" } };
    const text = details === undefined ? undefined : stringify(details);
    if (text !== undefined && text.length > MAX_DETAILS) {
      return { err_details_too_long: { reason: `the details have more than ${MAX_DETAILS} characters as JSON` } };
    }
    const leader = auth?.leaderId ?? "";
    const result = await this.ledger.book(
      { leader, key, from, to, amount, ...(text !== undefined && { details: text }) },
      signal,
    );
    if (!("refused" in result)) return { ok: result };
    switch (result.refused) {
      case "insufficient-funds": {
        const { balance } = result;
        const reason = "the balance is smaller than the amount";
        return { err_insufficient_funds: { reason, balance, missing: amount - balance } };
      }
      case "unknown-account":
        return { err_unknown_account: { reason: "the account does not exist", account: result.account } };
      case "balance-too-large":
        return { err_balance_too_large: { reason: "the balance would leave the range of 64 bits" } };
      case "key-reused":
        return { err_key_reused: { reason: "the key was used for another booking" } };
    }
  }
}
