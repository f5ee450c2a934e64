import { type AuthContext, errEval, type InvokeContext, PermissionDenied, StatusCode, SvcTool } from "svc-runtime";
import { type Ledger, openLedger } from "./ledger.js";
import type { Currency } from "./money.js";

export interface Invoice {
  /** @pattern ^INV-[0-9]{1,12}$ */
  number: string;
  currency: Currency;
  /**
   * Amount in minor units.
   * @format int64
   * @minimum 1
   */
  total: bigint;
  due?: Date;
}

/** A payment by one of three methods, each with its own members. */
export type Payment = { card: CardPayment } | { transfer: TransferPayment } | { voucher: VoucherPayment };

export interface CardPayment {
  /** @pattern ^[0-9]{4}$ */
  last4: string;
  /** @format int64 */
  amount: bigint;
}

export interface TransferPayment {
  /** @pattern ^[A-Z]{2}[0-9A-Z]{13,32}$ */
  iban: string;
  /** @format int64 */
  amount: bigint;
  reference?: string;
}

export interface VoucherPayment {
  number: string;
  /** @format int64 */
  amount: bigint;
}

export interface Input {
  invoice: Invoice;
  /** 1 to 256 payments, booked together. */
  payments: Payment[];
  paidAt: Date;
}

export type Output =
  | {
      settled: {
        receipt: string;
        /** Days until the due date; negative if late. */
        daysEarly?: number;
        /**
         * Change to return.
         * @format int64
         */
        change: bigint;
      };
    }
  | {
      partial: {
        receipt: string;
        /** @format int64 */
        outstanding: bigint;
      };
    }
  | {
      rejected: {
        reason: "no-amount" | "voucher-twice";
        /** Index of the refused payment, from 0. */
        payment: number;
      };
    }
  /** Nothing was booked, because an earlier call settled the invoice. */
  | "already_settled";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Books payments against an invoice. Only authorized leaders may call it, because it moves money. */
export class Settle extends SvcTool<Input, Output> {
  static override fqn() {
    return "shop.orders.settle@1";
  }

  static override description() {
    return "Books payments against an invoice and says what is outstanding.";
  }

  static override path() {
    return "orders/settle";
  }

  static override timeout() {
    return 5_000;
  }

  static override async new() {
    return new Settle(await openLedger());
  }

  readonly #ledger: Ledger;

  /** Tests pass their own ledger. */
  constructor(ledger: Ledger) {
    super();
    this.#ledger = ledger;
  }

  /** The signature authenticates the leader. `ORDERS_CASHIERS` lists the leaders that may book; unset, all may. */
  override authorize({ leaderId }: AuthContext) {
    const cashiers = process.env.ORDERS_CASHIERS?.split(",");
    if (cashiers !== undefined && !cashiers.includes(leaderId)) {
      throw new PermissionDenied("this leader may not book payments");
    }
  }

  override async invoke({ invoice, payments, paidAt }: Input, { log }: InvokeContext): Promise<Output> {
    // Neither a fault of the caller nor of the tool: the tool is temporarily unavailable.
    if (!this.#ledger.open) return errEval("the books are closed, no payment can be booked");
    if (this.#ledger.settled(invoice.number)) return "already_settled";

    let amount = 0n;
    const vouchers = new Set<string>();
    for (const [i, payment] of payments.entries()) {
      const part = amountOf(payment);
      if (part <= 0n) return { rejected: { reason: "no-amount", payment: i } };
      if ("voucher" in payment) {
        if (vouchers.has(payment.voucher.number)) return { rejected: { reason: "voucher-twice", payment: i } };
        vouchers.add(payment.voucher.number);
      }
      amount += part;
    }
    const balance = invoice.total - this.#ledger.paid(invoice.number) - amount;
    const receipt = this.#ledger.record(invoice.number, amount, balance <= 0n);
    log.info({ invoice: invoice.number, payments: payments.length, receipt }, "booked");
    if (balance > 0n) return { partial: { receipt, outstanding: balance } };
    const early = invoice.due === undefined ? undefined : invoice.due.getTime() - paidAt.getTime();
    return {
      settled: {
        receipt,
        ...(early !== undefined && { daysEarly: Math.floor(early / DAY_MS) }),
        change: -balance,
      },
    };
  }

  override async health() {
    return this.#ledger.open ? StatusCode.OK : StatusCode.SERVICE_UNAVAILABLE;
  }
}

function amountOf(payment: Payment): bigint {
  if ("card" in payment) return payment.card.amount;
  if ("transfer" in payment) return payment.transfer.amount;
  return payment.voucher.amount;
}
