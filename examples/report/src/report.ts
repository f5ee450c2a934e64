/** What one tool makes and the other reads. */

/** @format int64 */
export type Cents = bigint;

export interface Line {
  account: string;
  /** As in 2024-02. */
  month: string;
  opening: Cents;
  credits: Cents;
  debits: Cents;
  closing: Cents;
}

/** Statements of many accounts: each account's lines follow each other, its months in order. */
export interface Report {
  title: string;
  currency: "EUR" | "USD";
  from: Date;
  /** @minItems 1 */
  lines: Line[];
}
