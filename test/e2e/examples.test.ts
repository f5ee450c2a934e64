/** The examples as an operator runs them: a process each, a leader that calls it through sockets. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type CallResult, LeaderClient, LeaderError, publicKeyOf } from "#runtime/leader.js";
import { compileSchemas } from "../generator/project.js";
import { run } from "./packages.js";
import { type ExampleProcess, entrypoint, startExample } from "./process.js";

const EXAMPLES = fileURLToPath(new URL("../../examples", import.meta.url));
const LEADER_SEED = Buffer.alloc(32, 7);
const TOOL_SEED = Buffer.alloc(32, 9);

function config(...fqns: string[]): object {
  const keys = [{ kid: 3, public_key: Buffer.from(publicKeyOf(LEADER_SEED)).toString("hex") }];
  const tool = { response_signing_key: TOOL_SEED.toString("hex") };
  return {
    signed_http: {
      allowed_leaders: { version: 1, leaders: ["cashier", "clerk"].map((leader_id) => ({ leader_id, keys })) },
      tools: Object.fromEntries(fqns.map((fqn) => [fqn, tool])),
    },
  };
}

const connect = (url: string, id = "cashier") =>
  LeaderClient.connect(url, {
    leader: { id, keyId: 3, key: LEADER_SEED },
    toolKey: publicKeyOf(TOOL_SEED),
  });

const outcome = ({ tag, value }: CallResult) => ({ tag, value });

const refusedWith = (status: number, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof LeaderError);
  assert.equal(error.status, status, error.message);
  assert.match(error.message, text);
  return true;
};

const examples = readdirSync(EXAMPLES).filter((name) => existsSync(join(EXAMPLES, name, "package.json")));
const hasTests = (name: string) =>
  JSON.parse(readFileSync(join(EXAMPLES, name, "package.json"), "utf8")).scripts.test !== undefined;

for (const example of examples.filter(hasTests)) {
  test(`${example}: its own tests pass`, async () => {
    const { status, out } = await run("npm", ["test"], { cwd: join(EXAMPLES, example) });
    assert.equal(status, 0, out);
    assert.match(out, /^(?:#|ℹ) pass [1-9]/m);
  });
}

for (const example of examples) {
  test(`${example}: meta.json is what --meta prints`, () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [entrypoint(example), "--meta"], {
      encoding: "utf8",
      // Printed without reading configuration.
      env: { ...process.env, SVC_TOOLKIT_CONFIG_PATH: "/nowhere", BIND_ADDR: "nonsense" },
    });
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "");
    assert.equal(stdout, readFileSync(join(EXAMPLES, example, "meta.json"), "utf8"));
    compileSchemas(stdout);
  });
}

describe("sum", () => {
  let server: ExampleProcess;
  let sum: LeaderClient;
  before(async () => {
    server = await startExample("sum", config("xyz.demo.sum@1"));
    sum = await connect(`${server.url}/sum`);
  });
  after(async () => {
    sum?.close();
    assert.equal(await server?.stop(), 0);
  });

  test("adds exactly up to the bounds of int64", async () => {
    const add = async (a: bigint, b: bigint) => outcome(await sum.invoke({ a, b, label: "l", tags: ["x", "y"] }));
    const ok = (value: bigint) => ({ tag: "ok", value: { sum: value, label: "l", tags: ["x", "y"] } });
    assert.deepEqual(await add(2n ** 53n, 1n), ok(2n ** 53n + 1n));
    assert.deepEqual(await add(2n ** 63n - 2n, 1n), ok(2n ** 63n - 1n));
    assert.deepEqual(await add(-(2n ** 63n) + 1n, -1n), ok(-(2n ** 63n)));
    assert.deepEqual(await add(2n ** 63n - 1n, 1n), { tag: "err", value: { reason: "overflow" } });
    await assert.rejects(
      add(2n ** 63n, 0n),
      refusedWith(422, /a: expected an int64 integer, got an integer outside its range/),
    );
  });
});

describe("orders", () => {
  let server: ExampleProcess;
  let closed: ExampleProcess;
  before(async () => {
    const fqns = config("shop.orders.quote@1", "shop.orders.settle@1");
    [server, closed] = await Promise.all([
      startExample("orders", fqns, { ORDERS_CASHIERS: "cashier" }),
      startExample("orders", fqns, { ORDERS_BOOKS: "closed" }),
    ]);
  });
  after(async () => {
    assert.equal(await server?.stop(), 0);
    assert.equal(await closed?.stop(), 0);
  });

  test("quotes: nested objects, optional members, enums, dates", async () => {
    const quote = await connect(`${server.url}/orders/quote`, "clerk");
    const line = { article: "ABC-0001", quantity: 3, unitPrice: 1_999n };
    const order = { lines: [line], currency: "EUR", shipTo: { country: "DE" }, from: new Date("2024-02-20T00:00:00Z") };
    const first = await quote.invoke({
      ...order,
      lines: [line, { ...line, discount: { percent: 12.5, reason: "spring" } }],
      rounding: "half-even",
    });
    assert.equal(first.tag, "quoted");
    assert.deepEqual(first.value, {
      quote: first.value.quote,
      net: 11_244,
      tax: 2_136,
      total: 13_380,
      currency: "EUR",
      lines: [
        { article: "ABC-0001", net: 5_997, saved: 0 },
        { article: "ABC-0001", net: 5_247, saved: 750 },
      ],
      validUntil: "2024-03-05T00:00:00.000Z",
    });
    assert.match(String(first.value.quote), /^Q-[0-9a-f]{12}$/);
    assert.equal(await quote.health(), 200);
    quote.close();
  });

  test("settles: a union of payments, state kept between calls, a variant without ports", async () => {
    const settle = await connect(`${server.url}/orders/settle`);
    const input = (number: string, ...payments: object[]) => ({
      invoice: { number, currency: "EUR", total: 10_000n, due: new Date("2024-03-10T00:00:00Z") },
      payments,
      paidAt: new Date("2024-03-01T00:00:00Z"),
    });
    const card = (amount: bigint) => ({ card: { last4: "4242", amount } });
    const voucher = { voucher: { number: "SPRING", amount: 5n } };
    const part = await settle.invoke(input("INV-1", card(4_000n)));
    assert.deepEqual(outcome(part), { tag: "partial", value: { receipt: "R-000001", outstanding: 6_000 } });

    const request = settle.sign(
      input("INV-1", { transfer: { iban: "DE89370400440532013000", amount: 6_000n } }, voucher),
    );
    const whole = await settle.send(request);
    assert.deepEqual(outcome(whole), { tag: "settled", value: { receipt: "R-000002", daysEarly: 9, change: 5 } });
    // The same call again is the same booking; a new call finds it done.
    assert.deepEqual(await settle.send(request), whole);
    assert.deepEqual(outcome(await settle.invoke(input("INV-1", card(1n)))), { tag: "already_settled", value: {} });

    assert.deepEqual(outcome(await settle.invoke(input("INV-2", card(1n), card(0n)))), {
      tag: "rejected",
      value: { reason: "no-amount", payment: 1 },
    });
    assert.deepEqual(outcome(await settle.invoke(input("INV-2", voucher, voucher))), {
      tag: "rejected",
      value: { reason: "voucher-twice", payment: 1 },
    });
    await assert.rejects(settle.invoke(input("INV-2", { cash: { amount: 1n } })), refusedWith(422, /payments\[0\]/));
    settle.close();
  });

  test("only cashiers book", async () => {
    const clerk = await connect(`${server.url}/orders/settle`, "clerk");
    const invoice = { number: "INV-9", currency: "JPY", total: 1n };
    await assert.rejects(
      clerk.invoke({ invoice, payments: [{ card: { last4: "0000", amount: 1n } }], paidAt: new Date() }),
      refusedWith(403, /permission_denied: this leader may not book payments/),
    );
    clerk.close();
  });

  test("closed books are answered with the reserved failure, signed like a result, and reported by health", async () => {
    const settle = await connect(`${closed.url}/orders/settle`, "clerk");
    const invoice = { number: "INV-9", currency: "JPY", total: 1n };
    const result = await settle.invoke({
      invoice,
      payments: [{ card: { last4: "0000", amount: 1n } }],
      paidAt: new Date(),
    });
    assert.deepEqual(outcome(result), {
      tag: "_err_eval",
      value: { reason: "the books are closed, no payment can be booked" },
    });
    assert.equal(result.signature, "verified");
    assert.equal(await settle.health(), 503);
    settle.close();
  });
});

describe("text", () => {
  let server: ExampleProcess;
  let extract: LeaderClient;
  before(async () => {
    server = await startExample("text", {});
    extract = await LeaderClient.connect(server.url);
  });
  after(async () => {
    extract?.close();
    assert.equal(await server?.stop(), 0);
  });

  const text =
    "Write to ann@example.org by 2024-02-29 (not 2023-02-29): USD 12.50 or EUR 3, see https://example.org/a?b=1. ann@example.org";

  test("finds all matches in an unsigned call to the root path", async () => {
    const { tag, value, signature } = await extract.invokeUnsigned({ text, options: { unique: true } });
    assert.equal(signature, "unsigned");
    assert.equal(tag, "found");
    assert.deepEqual(value.counts, { email: 1, url: 1, date: 1, amount: 2 });
    assert.equal(value.more, false);
    const at = (part: string) => ({ start: text.indexOf(part), end: text.indexOf(part) + part.length });
    const none = { day: null, money: null };
    const match = (kind: string, part: string, extra: object = {}) => ({
      kind,
      text: part,
      at: at(part),
      ...none,
      ...extra,
    });
    assert.deepEqual(value.matches, [
      match("email", "ann@example.org"),
      match("date", "2024-02-29", { day: "2024-02-29T00:00:00.000Z" }),
      match("amount", "USD 12.50", { money: { currency: "USD", hundredths: 1_250 } }),
      match("amount", "EUR 3", { money: { currency: "EUR", hundredths: 300 } }),
      match("url", "https://example.org/a?b=1."),
    ]);
  });
});
