/** Where payments are written down. The example keeps them in memory; a shop would have a database behind this. */
export interface Ledger {
  /** False while the books are being closed: it can be read, not written. */
  readonly open: boolean;
  /** What has been paid for an invoice so far, in minor units. */
  paid(invoice: string): bigint;
  /** Whether an invoice is settled. */
  settled(invoice: string): boolean;
  /** Writes a payment down and gives its receipt number. */
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

/** The ledger of this process. `ORDERS_BOOKS=closed` in the environment: read only. */
export async function openLedger(): Promise<Ledger> {
  shared ??= new MemoryLedger(process.env.ORDERS_BOOKS !== "closed");
  return shared;
}
