/** Three tools; each uses results of the previous one. `RUNS` names a file to which each run appends a line. */

import { createHash } from "node:crypto";
import { appendFileSync } from "node:fs";
import { SvcTool } from "svc-runtime";

const { RUNS } = process.env;

function record(run: string): void {
  if (RUNS !== undefined) appendFileSync(RUNS, `${run}\n`);
}

export interface PriceInput {
  item: string;
}

export interface PriceOutput {
  priced: {
    /** @format int64 */
    cents: bigint;
    at: Date;
  };
}

/** Returns the price of an item. */
export class Price extends SvcTool<PriceInput, PriceOutput> {
  static override fqn() {
    return "xyz.orchestrator.price@1";
  }
  static override path() {
    return "price";
  }
  override async invoke({ item }: PriceInput): Promise<PriceOutput> {
    record("price");
    return { priced: { cents: 2n ** 53n + BigInt(item.length), at: new Date() } };
  }
}

export interface TotalInput {
  /** @format int64 */
  cents: bigint;
  /** @format int64 */
  quantity: bigint;
}

export interface TotalOutput {
  totalled: {
    /** @format int64 */
    cents: bigint;
  };
}

/** Returns the price of a quantity. */
export class Total extends SvcTool<TotalInput, TotalOutput> {
  static override fqn() {
    return "xyz.orchestrator.total@1";
  }
  static override path() {
    return "total";
  }
  override async invoke({ cents, quantity }: TotalInput): Promise<TotalOutput> {
    record("total");
    // Long enough to kill the orchestrator during the run.
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { totalled: { cents: cents * quantity } };
  }
}

export interface InvoiceInput {
  /** @format int64 */
  cents: bigint;
  at: Date;
}

export interface InvoiceOutput {
  invoice: { text: string; digest: Uint8Array };
}

/** Returns an invoice with its digest. */
export class Invoice extends SvcTool<InvoiceInput, InvoiceOutput> {
  static override fqn() {
    return "xyz.orchestrator.invoice@1";
  }
  static override path() {
    return "invoice";
  }
  override async invoke({ cents, at }: InvoiceInput): Promise<InvoiceOutput> {
    record("invoice");
    const text = `${cents} cents, priced at ${at.toISOString()}`;
    return { invoice: { text, digest: createHash("sha256").update(text).digest() } };
  }
}
