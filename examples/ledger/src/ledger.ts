/** Accounts and bookings in an SQLite file. One process writes at a time; several may have the file open. */

import { statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import Database from "libsql";

/** What is booked: money from one account to another, or from outside. Amounts in minor units. */
export interface Booking {
  /** Who asks, and the key under which it is booked once. */
  readonly leader: string;
  readonly key: string;
  /** Undefined for money from outside. */
  readonly from?: string;
  readonly to: string;
  readonly amount: bigint;
  /** JSON text. */
  readonly details?: string;
}

/** A booking that was made, now or by an earlier call with the same key. */
export interface Booked {
  readonly receipt: bigint;
  readonly bookedAt: Date;
  /** Of the account that was debited, or credited from outside, right after the booking. */
  readonly balance: bigint;
}

export interface Entry extends Booked {
  readonly from?: string;
  readonly to: string;
  readonly amount: bigint;
  readonly details?: string;
}

export interface Statement {
  /** By account; those that do not exist are left out. */
  readonly balances: Record<string, bigint>;
  readonly entries: readonly Entry[];
}

/** Why nothing was booked. */
export type Refusal =
  | { readonly refused: "unknown-account"; readonly account: string }
  | { readonly refused: "insufficient-funds"; readonly balance: bigint }
  | { readonly refused: "balance-too-large" }
  | { readonly refused: "key-reused" };

/** The file cannot be read or written. What was asked may be repeated with the same key. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
}

/** Between two looks whether another process still holds the file, in milliseconds. */
const BUSY_MS = 10;
/** How long a start waits for another process that opens the same file, in milliseconds. */
const OPEN_MS = 5_000;
/** Of a column of SQLite, and of an int64. */
const MAX_BALANCE = 2n ** 63n - 1n;

/** The write of the version fails at the start where the file or its folder is read-only. */
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
  /** Identity of the opened file: one that was deleted could still be written, and would be lost. */
  readonly #inode: bigint;

  /** @throws {@link LedgerUnavailable} when the file cannot be opened or is no database */
  constructor(path: string) {
    this.#path = path;
    let db: Database.Database | undefined;
    try {
      db = new Database(path, { timeout: OPEN_MS });
      db.defaultSafeIntegers(true);
      // Not WAL, whose reset may lose commits of two processes before SQLite 3.51.3; libsql 0.5 has 3.45.
      db.pragma("journal_mode = PERSIST");
      // A commit is on the disk before it is answered.
      db.pragma("synchronous = FULL");
      db.pragma("foreign_keys = ON");
      db.exec(SCHEMA);
      // From here on the driver must not wait: it would stop all other calls of this process meanwhile.
      db.pragma("busy_timeout = 0");
      this.#inode = statSync(path, { bigint: true }).ino;
      this.db = db;
    } catch (error) {
      // The driver closes late: without this the file stays locked.
      if (db?.inTransaction) db.exec("ROLLBACK");
      db?.close();
      const { message } = error as Error;
      throw new LedgerUnavailable(`LEDGER_DATABASE: the database cannot be opened: ${message}`, { cause: error });
    }
  }

  /**
   * Books once for each leader and key: a repeated booking is found, and changes nothing.
   *
   * @param signal ends the wait for another process; then nothing was booked
   * @throws {@link LedgerUnavailable}
   */
  book(booking: Booking, signal: AbortSignal): Promise<Booked | Refusal> {
    return this.#whenFree(signal, () =>
      this.#transaction("BEGIN IMMEDIATE", () => this.#found(booking) ?? this.#move(booking)),
    );
  }

  /**
   * Balances and the latest bookings of some accounts, the newest first, at one moment.
   *
   * @param signal ends the wait for another process
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

  /** @throws {@link LedgerUnavailable} when the file is gone, or cannot be written */
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

  /** Ends a transaction. Tests end the process here. */
  protected commit(): void {
    this.db.exec("COMMIT");
  }

  /** Repeats a transaction while another process holds the file. */
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

  /** Runs without a pause from its begin to its commit, so no other call of this process is in between. */
  #transaction<T>(begin: "BEGIN" | "BEGIN IMMEDIATE", work: () => T): T {
    this.#requireFile();
    try {
      this.db.exec(begin);
      const result = work();
      this.commit();
      return result;
    } catch (error) {
      // After some errors, a full disk among them, SQLite has ended the transaction by itself.
      if (this.db.inTransaction) this.db.exec("ROLLBACK");
      throw unavailable(error);
    }
  }

  /** What an earlier call booked under this key. */
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

/** Errors of the driver by their code; its messages may hold names. */
function unavailable(error: unknown): unknown {
  return error instanceof Database.SqliteError
    ? new LedgerUnavailable(`the database cannot be used: ${error.code}`, { cause: error })
    : error;
}

/** Whether another process held the file. */
function isBusy(error: unknown): boolean {
  return error instanceof LedgerUnavailable && codeOf(error.cause).startsWith("SQLITE_BUSY");
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? "";
}
