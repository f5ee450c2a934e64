import { createHash } from "node:crypto";
import { SvcTool } from "svc-runtime";
import { type Currency, percentOf, Rounding, TaxTable } from "./money.js";

/** A discount on the price of a line. */
export interface Discount {
  /**
   * Percentage, rounded to two decimals.
   * @minimum 0
   * @maximum 100
   */
  percent: number;
  /** Shown on the quote. */
  reason?: string;
}

/** One ordered article. */
export interface Line {
  /** @pattern ^[A-Z]{3}-[0-9]{4}$ */
  article: string;
  /**
   * @asType integer
   * @minimum 1
   * @maximum 10000
   */
  quantity: number;
  /**
   * Price of one unit, in minor units (cents, yen).
   * @format int64
   * @minimum 0
   */
  unitPrice: bigint;
  discount?: Discount;
}

export interface Address {
  /**
   * Country code of two letters (ISO 3166-1).
   * @pattern ^[A-Z]{2}$
   */
  country: string;
  postcode?: string;
  /** Address lines as printed on the parcel. */
  lines?: string[];
}

export interface Input {
  /** 1 to 256 lines, each priced separately. */
  lines: Line[];
  currency: Currency;
  shipTo: Address;
  /** Default: half-up. */
  rounding?: Rounding;
  /** First day on which the quote is valid. Default: today. */
  from?: Date;
}

/** A line with its price. */
export interface PricedLine {
  article: string;
  /** @format int64 */
  net: bigint;
  /** @format int64 */
  saved: bigint;
}

export type Output =
  | {
      quoted: {
        /** Quote number. Equal orders have equal numbers. */
        quote: string;
        /** @format int64 */
        net: bigint;
        /** @format int64 */
        tax: bigint;
        /** @format int64 */
        total: bigint;
        currency: Currency;
        lines: PricedLine[];
        validUntil: Date;
      };
    }
  | {
      refused: {
        reason: "no-delivery" | "too-large";
        /** Index of the faulty line, from 0, if the reason concerns a line. */
        line?: number;
      };
    };

const VALID_MS = 14 * 24 * 60 * 60 * 1000;
/** Largest total that needs no approval by a salesperson, in minor units. */
const LARGEST = 10_000_000n;

/** Prices an order with line totals, discounts and tax, and returns a numbered quote. */
export class Quote extends SvcTool<Input, Output> {
  static override fqn() {
    return "shop.orders.quote@1";
  }

  static override description() {
    return "Prices an order and holds the price for two weeks.";
  }

  static override path() {
    return "orders/quote";
  }

  static override async new() {
    return new Quote(await TaxTable.load());
  }

  readonly #taxes: TaxTable;

  /** Tests pass their own tax table. */
  constructor(taxes: TaxTable) {
    super();
    this.#taxes = taxes;
  }

  override async invoke({ lines, currency, shipTo, rounding = Rounding.HalfUp, from }: Input): Promise<Output> {
    const rate = this.#taxes.rate(shipTo.country);
    if (rate === undefined) return { refused: { reason: "no-delivery" } };

    const priced: PricedLine[] = [];
    let net = 0n;
    for (const [i, { article, quantity, unitPrice, discount }] of lines.entries()) {
      const full = unitPrice * BigInt(quantity);
      const saved = percentOf(full, discount?.percent ?? 0, rounding);
      net += full - saved;
      if (net > LARGEST) return { refused: { reason: "too-large", line: i } };
      priced.push({ article, net: full - saved, saved });
    }

    const tax = percentOf(net, rate, rounding);
    const start = from ?? new Date(new Date().setUTCHours(0, 0, 0, 0));
    const validUntil = new Date(start.getTime() + VALID_MS);
    const order = [
      currency,
      shipTo.country,
      validUntil.toISOString(),
      ...lines.map(({ article }) => article),
      net,
      tax,
    ];
    const quote = `Q-${createHash("sha256").update(order.join("\n")).digest("hex").slice(0, 12)}`;
    return { quoted: { quote, net, tax, total: net + tax, currency, lines: priced, validUntil } };
  }
}
