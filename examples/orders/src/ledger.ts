/** Records payments. The example keeps them in memory; a real shop would use a database. */
export interface Ledger {
  /** False while the books are closed: payments can be read but not recorded. */
  readonly open: boolean;
  /** Amount paid for an invoice so far, in minor units. */
  paid(invoice: string): bigint;
  /** Whether an invoice is settled. */
  settled(invoice: string): boolean;
  /** Records a payment and returns its receipt number. */
  record(invoice: string, amount: bigint, settles: boolean): string;
}

class MemoryLedger implements Ledger {
  readonly #accounts = new Map<string, { paid: bigint; settled: boolean }>();
  #receipts = 0;

  constructor(readonly open: boolean) {}

  paid(invoice: string): bigint {
    return this.#accounts.get(invoice)?.paid ?? 0n;
  }

  settled(invoice: string): boolean {
    return this.#accounts.get(invoice)?.settled ?? false;
  }

  record(invoice: string, amount: bigint, settles: boolean): string {
    this.#accounts.set(invoice, { paid: this.paid(invoice) + amount, settled: settles });
    this.#receipts++;
    return `R-${String(this.#receipts).padStart(6, "0")}`;
  }
}

let shared: Ledger | undefined;

/** The ledger of this process. The environment variable `ORDERS_BOOKS=closed` makes it read-only. */
export async function openLedger(): Promise<Ledger> {
  shared ??= new MemoryLedger(process.env.ORDERS_BOOKS !== "closed");
  return shared;
}
