/** The report that one tool renders and the other checks. */

/** @format int64 */
export type Cents = bigint;

export interface Line {
  account: string;
  /** Month, such as 2024-02. */
  month: string;
  opening: Cents;
  credits: Cents;
  debits: Cents;
  closing: Cents;
}

/** Statements of many accounts. The lines are grouped by account and ordered by month. */
export interface Report {
  title: string;
  currency: "EUR" | "USD";
  from: Date;
  /** @minItems 1 */
  lines: Line[];
}
