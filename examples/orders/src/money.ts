/** Amounts and rates that both tools share. */

/** Currency code (ISO 4217). */
export type Currency = "EUR" | "USD" | "JPY";

/** How tax is rounded to whole minor units. */
export enum Rounding {
  /** Halves away from zero, as on most invoices. */
  HalfUp = "half-up",
  /** Halves to the even neighbour, as in accounting. */
  HalfEven = "half-even",
}

/** `amount · percent / 100`, computed exactly, then rounded. `percent` has at most two decimals; neither is negative. */
export function percentOf(amount: bigint, percent: number, rounding: Rounding): bigint {
  const parts = amount * BigInt(Math.round(percent * 100));
  const quotient = parts / 10_000n;
  const rest = parts % 10_000n;
  if (rest > 5_000n) return quotient + 1n;
  if (rest < 5_000n) return quotient;
  return rounding === Rounding.HalfUp || quotient % 2n === 1n ? quotient + 1n : quotient;
}

/** Sales tax by country, in percent. A real shop would load it. */
export class TaxTable {
  readonly #rates: ReadonlyMap<string, number>;

  private constructor(rates: ReadonlyMap<string, number>) {
    this.#rates = rates;
  }

  static async load(): Promise<TaxTable> {
    return new TaxTable(
      new Map([
        ["DE", 19],
        ["FR", 20],
        ["JP", 10],
        ["US", 0],
        ["CH", 8.1],
      ]),
    );
  }

  /** Tax rate; undefined for a country without delivery. */
  rate(country: string): number | undefined {
    return this.#rates.get(country);
  }
}
