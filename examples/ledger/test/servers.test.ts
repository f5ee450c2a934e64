import assert from "node:assert/strict";
import { test } from "node:test";
import { databasePath, startKilledAtCommit, startServer } from "./ledger-process.js";

const payment = { key: "rent", from: "alice", to: "bob", amount: 30 };

/** A database with 1,000 on alice's account. */
async function opened(): Promise<string> {
  const path = databasePath();
  const server = await startServer(path);
  assert.ok(await server.call("deposit", { key: "opening", to: "alice", amount: 1_000 }));
  assert.equal(await server.end("SIGTERM"), 0);
  return path;
}

for (const at of ["before", "after"] as const) {
  test(`killed ${at} the commit: a call with the same key books once`, async () => {
    const path = await opened();
    const killed = await startKilledAtCommit(path, at);
    assert.equal(await killed.call("transfer", payment), undefined);
    assert.equal(await killed.end("SIGKILL"), null);

    const server = await startServer(path);
    const accounts = ["alice", "bob"];
    const found = await server.call("statement", { accounts });
    assert.deepEqual(found?.ok?.balances, at === "before" ? { alice: 1_000 } : { alice: 970, bob: 30 });
    const booked = await server.call("transfer", payment);
    assert.equal(booked?.ok?.balance, 970);
    assert.deepEqual(await server.call("transfer", payment), booked);
    const after = await server.call("statement", { accounts });
    assert.deepEqual(after?.ok?.balances, { alice: 970, bob: 30 });
    assert.equal(await server.end("SIGTERM"), 0);
  });
}

test("killed under load: every answered transfer is there, and all are there once after a repetition", async () => {
  const path = await opened();
  const inputs = Array.from({ length: 40 }, (_, i) => ({ ...payment, key: `k${i}`, amount: i + 1 }));
  const first = await startServer(path);
  let answers = 0;
  const before = await Promise.all(
    inputs.map(async (input) => {
      const answer = await first.call("transfer", input);
      if (answer !== undefined && ++answers === 5) await first.end("SIGKILL");
      return answer;
    }),
  );
  assert.ok(before.filter((answer) => answer !== undefined).length >= 5);

  const second = await startServer(path);
  const found = await second.call("statement", { accounts: ["alice", "bob"], limit: 50 });
  const receipts = found?.ok?.book?.entries.map(({ receipt }) => receipt);
  for (const answer of before) {
    if (answer !== undefined) assert.ok(receipts?.includes(answer.ok?.receipt ?? 0));
  }
  for (const [i, input] of inputs.entries()) {
    const repeated = await second.call("transfer", input);
    if (before[i] !== undefined) assert.deepEqual(repeated, before[i]);
  }
  const after = await second.call("statement", { accounts: ["alice", "bob"] });
  assert.deepEqual(after?.ok?.balances, { alice: 180, bob: 820 });
  assert.equal(await second.end("SIGTERM"), 0);
});

test("two servers on one database: a transfer that both get is booked once", async () => {
  const path = await opened();
  const servers = [await startServer(path), await startServer(path)];
  for (let i = 0; i < 20; i++) {
    const input = { ...payment, key: `k${i}` };
    const [one, other] = await Promise.all(servers.map((server) => server.call("transfer", input)));
    assert.ok(one?.ok !== undefined);
    assert.deepEqual(other, one);
  }
  for (const server of servers) {
    const found = await server.call("statement", { accounts: ["alice", "bob"] });
    assert.deepEqual(found?.ok?.balances, { alice: 400, bob: 600 });
    assert.equal(await server.end("SIGTERM"), 0);
  }
});
