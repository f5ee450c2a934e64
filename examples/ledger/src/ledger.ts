/** Accounts and bookings in an SQLite file. One process writes at a time; several may have the file open. */

import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import Database from "libsql";

/** A requested booking: money from one account to another, or from outside. Amounts are in minor units. */
export interface Booking {
  /** The calling leader and its idempotency key. */
  readonly leader: string;
  readonly key: string;
  /** The debited account; undefined for money from outside. */
  readonly from?: string;
  readonly to: string;
  readonly amount: bigint;
  /** Any details, as JSON text. */
  readonly details?: string;
}

/** A completed booking, made now or by an earlier call with the same key. */
export interface Booked {
  readonly receipt: bigint;
  readonly bookedAt: Date;
  /** Balance right after the booking: of the debited account, or of the credited one for money from outside. */
  readonly balance: bigint;
}

export interface Entry extends Booked {
  readonly from?: string;
  readonly to: string;
  readonly amount: bigint;
  readonly details?: string;
}

export interface Statement {
  /** Balances by account. Unknown accounts are omitted. */
  readonly balances: Record<string, bigint>;
  readonly entries: readonly Entry[];
}

/** The reason why a booking was refused. */
export type Refusal =
  | { readonly refused: "unknown-account"; readonly account: string }
  | { readonly refused: "insufficient-funds"; readonly balance: bigint }
  | { readonly refused: "balance-too-large" }
  | { readonly refused: "key-reused" };

/** The file cannot be read or written. Callers may retry with the same key. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}

/** Interval between attempts while another process locks the file, in milliseconds. */
const BUSY_MS = 10;
/** Time limit at start while another process locks the file, in milliseconds. */
const OPEN_MS = 5_000;
/** Largest int64, which is also the largest integer in SQLite. */
const MAX_BALANCE = 2n ** 63n - 1n;

/** Writes the schema version, so that the start fails if the file or its folder is read-only. */
const SCHEMA = `
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS accounts (
    name TEXT PRIMARY KEY,
    balance INTEGER NOT NULL CHECK (balance >= 0)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS bookings (
    receipt INTEGER PRIMARY KEY,
    leader TEXT NOT NULL,
    key TEXT NOT NULL,
    debit TEXT REFERENCES accounts (name),
    credit TEXT NOT NULL REFERENCES accounts (name),
    amount INTEGER NOT NULL CHECK (amount > 0),
    balance INTEGER NOT NULL,
    booked_at INTEGER NOT NULL,
    details TEXT,
    UNIQUE (leader, key)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS bookings_by_debit ON bookings (debit);
  CREATE INDEX IF NOT EXISTS bookings_by_credit ON bookings (credit);
  PRAGMA user_version = 1;
  COMMIT;`;

/** A row of `bookings`; every integer is a bigint. */
interface Row {
  readonly receipt: bigint;
  readonly debit: string | null;
  readonly credit: string;
  readonly amount: bigint;
  readonly balance: bigint;
  readonly booked_at: bigint;
  readonly details: string | null;
}

export class Ledger {
  readonly #path: string;
  protected readonly db: Database.Database;
  /** Identity of the opened file. SQLite can still write to a deleted file, and those bookings would be lost. */
  readonly #inode: bigint;

  /** @throws {@link LedgerUnavailable} when the file cannot be opened or is not a database */
  constructor(path: string) {
    this.#path = path;
    let db: Database.Database | undefined;
    try {
      db = new Database(path, { timeout: OPEN_MS });
      db.defaultSafeIntegers(true);
      // Not WAL: before SQLite 3.51.3 a WAL reset may lose commits of two processes, and libsql 0.5 has 3.45.
      db.pragma("journal_mode = PERSIST");
      // A commit reaches the disk before the tool answers.
      db.pragma("synchronous = FULL");
      db.pragma("foreign_keys = ON");
      db.exec(SCHEMA);
      // From here on the driver must not wait for locks: waiting would block every other call of this process.
      db.pragma("busy_timeout = 0");
      this.#inode = statSync(path, { bigint: true }).ino;
      this.db = db;
    } catch (error) {
      // The driver closes the file late. Without this rollback it would stay locked.
      if (db?.inTransaction) db.exec("ROLLBACK");
      db?.close();
      const { message } = error as Error;
      throw new LedgerUnavailable(`LEDGER_DATABASE: the database cannot be opened: ${message}`, { cause: error });
    }
  }

  /**
   * Books once per leader and key. A repeated booking returns the first one and changes nothing.
   *
   * @param signal stops waiting for another process; nothing is booked then
   * @throws {@link LedgerUnavailable}
   */
  book(booking: Booking, signal: AbortSignal): Promise<Booked | Refusal> {
    return this.#whenFree(signal, () =>
      this.#transaction("BEGIN IMMEDIATE", () => this.#found(booking) ?? this.#move(booking)),
    );
  }

  /**
   * Balances and the latest bookings of accounts, newest first, from one consistent snapshot.
   *
   * @param signal stops waiting for another process
   * @throws {@link LedgerUnavailable}
   */
  statement(names: readonly string[], since: Date | undefined, limit: number, signal: AbortSignal): Promise<Statement> {
    return this.#whenFree(signal, () =>
      this.#transaction("BEGIN", () => ({
        balances: this.#balances(names),
        entries: this.#entries(names, since, limit),
      })),
    );
  }

  /** @throws {@link LedgerUnavailable} when the file was removed or cannot be written */
  check(): void {
    try {
      this.#transaction("BEGIN IMMEDIATE", () => undefined);
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
  }

  close(): void {
    this.db.close();
  }

  /** Commits a transaction. Tests kill the process here. */
  protected commit(): void {
    this.db.exec("COMMIT");
  }

  /** Retries a transaction while another process locks the file. */
  async #whenFree<T>(signal: AbortSignal, transact: () => T): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      try {
        return transact();
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      await setTimeout(BUSY_MS, undefined, { signal });
    }
  }

  /** Runs synchronously from begin to commit, so that no other call of this process can interleave. */
  #transaction<T>(begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => T): T {
    this.#requireFile();
    try {
      this.db.exec(begin);
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      // After some errors, such as a full disk, SQLite has already rolled back.
      if (this.db.inTransaction) this.db.exec("ROLLBACK");
      throw unavailable(error);
    }
  }

  /** The booking of an earlier call with this key. */
  #found({ leader, key, from, to, amount, details }: Booking): Booked | Refusal | undefined {
    const row = this.db.prepare("SELECT * FROM bookings WHERE leader = ? AND key = ?").get(leader, key) as
      | Row
      | undefined;
    if (row === undefined) return undefined;
    const isSame =
      row.debit === (from ?? null) && row.credit === to && row.amount === amount && row.details === (details ?? null);
    return isSame ? bookedOf(row) : { refused: "key-reused" };
  }

  #move({ leader, key, from, to, amount, details }: Booking): Booked | Refusal {
    const credited = (this.#balance(to) ?? 0n) + amount;
    if (credited > MAX_BALANCE) return { refused: "balance-too-large" };
    let balance = credited;
    if (from !== undefined) {
      const held = this.#balance(from);
      if (held === undefined) return { refused: "unknown-account", account: from };
      if (held < amount) return { refused: "insufficient-funds", balance: held };
      balance = held - amount;
      this.db.prepare("UPDATE accounts SET balance = ? WHERE name = ?").run(balance, from);
    }
    this.db
      .prepare("INSERT INTO accounts VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET balance = excluded.balance")
      .run(to, credited);
    const row = this.db
      .prepare(
        `INSERT INTO bookings (leader, key, debit, credit, amount, balance, booked_at, details)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
      )
      .get(leader, key, from ?? null, to, amount, balance, Date.now(), details ?? null);
    return bookedOf(row as Row);
  }

  #balances(names: readonly string[]): Record<string, bigint> {
    const found = names.map((name) => [name, this.#balance(name)] as const);
    return Object.fromEntries(found.flatMap(([name, balance]) => (balance === undefined ? [] : [[name, balance]])));
  }

  #entries(names: readonly string[], since: Date | undefined, limit: number): Entry[] {
    const marks = names.map(() => "?").join(",");
    return this.db
      .prepare(
        `SELECT * FROM bookings WHERE (debit IN (${marks}) OR credit IN (${marks})) AND booked_at >= ?
         ORDER BY receipt DESC LIMIT ?`,
      )
      .all(...names, ...names, since?.getTime() ?? Number.MIN_SAFE_INTEGER, limit)
      .map((row) => entryOf(row as Row));
  }

  #balance(name: string): bigint | undefined {
    const row = this.db.prepare("SELECT balance FROM accounts WHERE name = ?").get(name);
    return (row as { balance: bigint } | undefined)?.balance;
  }

  #requireFile(): void {
    let inode: bigint | undefined;
    try {
      inode = statSync(this.#path, { bigint: true, throwIfNoEntry: false })?.ino;
    } catch (error) {
      throw new LedgerUnavailable(`the database cannot be used: ${codeOf(error)}`, { cause: error });
    }
    if (inode !== this.#inode) throw new LedgerUnavailable("the database file is gone or was replaced");
  }
}

function bookedOf({ receipt, booked_at, balance }: Row): Booked {
  return { receipt, bookedAt: new Date(Number(booked_at)), balance };
}

function entryOf(row: Row): Entry {
  const { debit, credit, amount, details } = row;
  return {
    ...bookedOf(row),
    ...(debit !== null && { from: debit }),
    to: credit,
    amount,
    ...(details !== null && { details }),
  };
}

/** Describes driver errors by their code, because messages may contain names. */
function unavailable(error: unknown): unknown {
  return error instanceof Database.SqliteError
    ? new LedgerUnavailable(`the database cannot be used: ${error.code}`, { cause: error })
    : error;
}

/** Whether the error means that another process locks the file. */
function isBusy(error: unknown): boolean {
  return error instanceof LedgerUnavailable && codeOf(error.cause).startsWith("SQLITE_BUSY");
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? "";
}
