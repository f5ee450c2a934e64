import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import { createHarness, type Harness } from "svc-runtime/testing";
import { Deposit } from "../src/deposit.js";
import { contracts } from "../src/generated/contracts.js";
import { Ledger } from "../src/ledger.js";
import { Statement } from "../src/statement.js";
import { Transfer } from "../src/transfer.js";
import { databasePath } from "./ledger-process.js";

/** A ledger whose file may not grow beyond a number of pages. */
class SmallLedger extends Ledger {
  /** `page_count`: as many as there are now. */
  limit(pages: "page_count" | number) {
    const [found] = this.db.pragma("page_count") as { page_count: bigint }[];
    this.db.pragma(`max_page_count = ${pages === "page_count" ? found?.page_count : pages}`);
  }
}

/** The three tools on a new database, with 100 on alice's account. */
async function openBank(t: TestContext, tool = Transfer) {
  const path = databasePath();
  process.env.LEDGER_DATABASE = path;
  process.env.LEDGER_LEADERS = "leader, teller";
  const transfer: Harness<typeof Transfer> = await createHarness([tool, Deposit, Statement], { contracts }).then(
    (harness) => harness.of(tool),
  );
  t.after(() => transfer.close());
  const deposit = transfer.of(Deposit);
  const statement = transfer.of(Statement);
  await deposit.invoke({ key: "opening", to: "alice", amount: 100n });
  const balances = async () => {
    const result = await statement.invoke({ accounts: ["alice", "bob"] });
    assert.ok("ok" in result);
    return result.ok.balances;
  };
  return { path, transfer, deposit, statement, balances };
}

const payment = { key: "rent", from: "alice", to: "bob", amount: 30n };

test("a transfer moves money, and the statement shows it with its details", async (t) => {
  const { transfer, statement } = await openBank(t);
  const details = { invoice: 9_007_199_254_740_993n, tags: ["rent", null], paid: true };
  const result = await transfer.invoke({ ...payment, details });
  assert.ok("ok" in result);
  const { receipt, balance, bookedAt } = result.ok;
  assert.deepEqual([receipt, balance], [2n, 70n]);
  const shown = await statement.invoke({ accounts: ["alice", "bob", "carol"], limit: 1 });
  assert.ok("ok" in shown);
  assert.deepEqual(shown.ok.balances, { alice: 70n, bob: 30n });
  const { key: _, ...moved } = payment;
  assert.deepEqual(shown.ok.book.entries, [{ receipt: 2n, balance: 70n, bookedAt, ...moved, details }]);
  const later = await statement.invoke({ accounts: ["bob"], since: new Date(bookedAt.getTime() + 1) });
  assert.deepEqual(later, { ok: { balances: { bob: 30n }, book: { entries: [] } } });
});

test("a new call with the same key books nothing more and gets the same receipt", async (t) => {
  const { transfer, balances } = await openBank(t);
  const first = await transfer.invoke(payment);
  assert.deepEqual(await transfer.invoke(payment), first);
  const other = await transfer.invoke({ ...payment, amount: 31n });
  assert.deepEqual(other, { err_key_reused: { reason: "the key was used for another booking" } });
  assert.deepEqual(await balances(), { alice: 70n, bob: 30n });
});

test("keys belong to their leader", async (t) => {
  const { transfer, balances } = await openBank(t);
  await transfer.invoke(payment);
  await transfer.invokeSigned(payment, { leader: "teller" });
  assert.deepEqual(await balances(), { alice: 40n, bob: 60n });
});

test("only leaders of LEDGER_LEADERS book; without the setting none do", async (t) => {
  const { transfer, statement, balances } = await openBank(t);
  const refused = { status: 403, code: "permission_denied", details: "this leader may not book" };
  await assert.rejects(transfer.invokeSigned(payment, { leader: "clerk" }), refused);
  const read = await statement.invokeSigned({ accounts: ["alice"] }, { leader: "clerk" });
  assert.equal(read.tag, "ok");
  delete process.env.LEDGER_LEADERS;
  await assert.rejects(transfer.invoke(payment), refused);
  assert.deepEqual(await balances(), { alice: 100n });
});

test("each refusal is a variant, and books nothing", async (t) => {
  const { transfer, deposit, balances } = await openBank(t);
  const refused = (change: object) => transfer.invoke({ ...payment, ...change });
  assert.deepEqual(await refused({ amount: 101n }), {
    err_insufficient_funds: { reason: "the balance is smaller than the amount", balance: 100n, missing: 1n },
  });
  assert.deepEqual(await refused({ from: "nobody" }), {
    err_unknown_account: { reason: "the account does not exist", account: "nobody" },
  });
  assert.deepEqual(await refused({ to: "alice" }), {
    err_same_account: { reason: "from and to are the same account" },
  });
  assert.deepEqual(await refused({ details: "x".repeat(499) }), {
    err_details_too_long: { reason: "the details have more than 500 characters as JSON" },
  });
  assert.deepEqual(await deposit.invoke({ key: "opening", to: "alice", amount: 1n }), {
    err_key_reused: { reason: "the key was used for another booking" },
  });
  await assert.rejects(refused({ amount: 0n }), { status: 422 });
  assert.deepEqual(await balances(), { alice: 100n });
  // A refusal takes no key.
  assert.ok("ok" in (await transfer.invoke(payment)));
});

test("balances are exact to the bound of 64 bits, and do not pass it", async (t) => {
  const { path, transfer, balances } = await openBank(t);
  const db = new Database(path);
  db.prepare("INSERT INTO accounts VALUES ('bob', ?)").run(2n ** 63n - 2n);
  db.close();
  assert.deepEqual(await transfer.invoke(payment), {
    err_balance_too_large: { reason: "the balance would leave the range of 64 bits" },
  });
  await transfer.invoke({ ...payment, amount: 1n });
  assert.deepEqual(await balances(), { alice: 99n, bob: 2n ** 63n - 1n });
});

test("of two transfers at once that cannot both be paid, one is", async (t) => {
  const { transfer, balances } = await openBank(t);
  const results = await Promise.all(
    ["first", "second"].map((key) => transfer.invoke({ ...payment, key, amount: 60n })),
  );
  assert.deepEqual(results.map((result) => Object.keys(result)[0]).sort(), ["err_insufficient_funds", "ok"]);
  assert.deepEqual(await balances(), { alice: 40n, bob: 60n });
});

test("a call waits while another process writes, and others are answered meanwhile", async (t) => {
  const { path, transfer, balances } = await openBank(t);
  const other = new Database(path);
  t.after(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const waiting = transfer.invoke(payment);
  // Not committed: readers see the state before.
  assert.deepEqual(await balances(), { alice: 100n });
  other.exec("COMMIT");
  assert.ok("ok" in (await waiting));
});

test("a statement waits while another process commits, and health stays 200", async (t) => {
  const { path, transfer, balances } = await openBank(t);
  const health = `${await transfer.http()}/ledger/transfer/health`;
  const other = new Database(path);
  t.after(() => other.close());
  other.exec("BEGIN EXCLUSIVE");
  const waiting = balances();
  assert.equal((await fetch(health)).status, 200);
  other.exec("COMMIT");
  assert.deepEqual(await waiting, { alice: 100n });
});

test("a transfer waits while another process reads", async (t) => {
  const { path, transfer, balances } = await openBank(t);
  const other = new Database(path);
  t.after(() => other.close());
  other.exec("BEGIN");
  other.prepare("SELECT * FROM accounts").all();
  const waiting = transfer.invoke(payment);
  assert.deepEqual(await balances(), { alice: 100n });
  other.exec("COMMIT");
  assert.ok("ok" in (await waiting));
  assert.deepEqual(await balances(), { alice: 70n, bob: 30n });
});

test("a call that waits until its deadline is 504, and has booked nothing", async (t) => {
  const { path, transfer, balances } = await openBank(t);
  const other = new Database(path);
  t.after(() => other.close());
  other.exec("BEGIN IMMEDIATE");
  const waiting = assert.rejects(transfer.invoke(payment), { status: 504 });
  await transfer.advance(10_000);
  await waiting;
  other.exec("ROLLBACK");
  assert.deepEqual(await balances(), { alice: 100n });
});

test("a full disk is the reserved failure and books nothing; with space the same call goes through", async (t) => {
  let small: SmallLedger | undefined;
  class SmallTransfer extends Transfer {
    static override create() {
      SmallTransfer.share((path) => {
        small = new SmallLedger(path);
        return small;
      });
    }
  }
  const { transfer, balances } = await openBank(t, SmallTransfer);
  small?.limit("page_count");
  const pay = (i: number) => transfer.invoke({ ...payment, key: `k${i}`, amount: 1n, details: "x".repeat(490) });
  const first = await pay(0);
  let booked = 1n;
  while ("ok" in (await pay(Number(booked)))) booked++;
  const full = { _err_eval: { reason: "the database cannot be used: SQLITE_FULL; repeat the call with the same key" } };
  assert.deepEqual(await pay(Number(booked)), full);
  assert.deepEqual(await balances(), { alice: 100n - booked, bob: booked });
  // What was booked is found.
  assert.deepEqual(await pay(0), first);

  small?.limit(1_000);
  assert.ok("ok" in (await pay(Number(booked))));
  assert.deepEqual(await balances(), { alice: 99n - booked, bob: booked + 1n });
});

test("a database that is gone is the reserved failure, and 503 in health", async (t) => {
  const { path, transfer, statement } = await openBank(t);
  const health = `${await transfer.http()}/ledger/transfer/health`;
  assert.equal((await fetch(health)).status, 200);
  rmSync(path);
  const gone = {
    _err_eval: { reason: "the database file is gone or was replaced; repeat the call with the same key" },
  };
  assert.deepEqual(await transfer.invoke(payment), gone);
  assert.deepEqual(await statement.invoke({ accounts: ["alice"] }), gone);
  assert.equal((await fetch(health)).status, 503);
});

test("a clock that steps back changes times, not the order of bookings", async (t) => {
  const ledger = new Ledger(databasePath());
  t.after(() => ledger.close());
  const { signal } = new AbortController();
  const times = [5_000, 1_000, -1_000];
  for (const time of times) {
    t.mock.method(Date, "now", () => time);
    await ledger.book({ leader: "", key: `at ${time}`, to: "alice", amount: 1n }, signal);
  }
  const { entries } = await ledger.statement(["alice"], undefined, 20, signal);
  assert.deepEqual(
    entries.map(({ receipt, bookedAt }) => [receipt, bookedAt.getTime()]),
    [
      [3n, -1_000],
      [2n, 1_000],
      [1n, 5_000],
    ],
  );
});

test("a server without a database does not start", async () => {
  delete process.env.LEDGER_DATABASE;
  await assert.rejects(
    createHarness(Transfer, { contracts }),
    /LEDGER_DATABASE: expected the path of the database file/,
  );
});

test("a server does not start on a file that is no database, and says why", async () => {
  const path = databasePath();
  writeFileSync(path, "no database".repeat(100));
  process.env.LEDGER_DATABASE = path;
  await assert.rejects(
    createHarness(Transfer, { contracts }),
    /LEDGER_DATABASE: the database cannot be opened: .*not a database/,
  );
});
