import type { InvokeContext } from "svc-runtime";
import { type Account, type Amount, BookingTool, type Receipt } from "./ledger-tool.js";

export interface Input {
  /**
   * Idempotency key, as in a transfer.
   * @minLength 1
   * @maxLength 64
   */
  key: string;
  /** The account is opened if it does not exist. */
  to: Account;
  amount: Amount;
}

export type Output =
  | { ok: Receipt }
  | { err_key_reused: { reason: string } }
  | { err_balance_too_large: { reason: string } };

/** Deposits money from outside into an account, once per key. */
export class Deposit extends BookingTool<Input, Output> {
  static override fqn() {
    return "bank.ledger.deposit@1";
  }

  static override description() {
    return "Brings money from outside into an account, once for each key.";
  }

  static override path() {
    return "ledger/deposit";
  }

  protected override async run({ key, to, amount }: Input, { signal, auth }: InvokeContext): Promise<Output> {
    const result = await this.ledger.book({ leader: auth?.leaderId ?? "", key, to, amount }, signal);
    if (!("refused" in result)) return { ok: result };
    if (result.refused === "key-reused") return { err_key_reused: { reason: "the key was used for another booking" } };
    return { err_balance_too_large: { reason: "the balance would leave the range of 64 bits" } };
  }
}
