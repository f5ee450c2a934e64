import assert from "node:assert/strict";
import { test } from "node:test";
import { PriceSource } from "../src/price-source.js";
import { failed, Provider, priced, type Step } from "./provider.js";

/** Asks once, in a call that has some milliseconds. */
async function ask(steps: Step[], total = 8_000) {
  const provider = new Provider(steps);
  const source = new PriceSource("https://prices.example", { http: provider.http, clock: provider, random: () => 1 });
  const { signal } = new AbortController();
  const found = await source.latest("BTC", "EUR", { signal, left: provider.leftOf(total) });
  return { found, provider };
}

test("a good answer is read exactly", async () => {
  const { found, provider } = await ask([priced({ price: "0.000000010" })]);
  assert.deepEqual(found, {
    kind: "price",
    price: { units: 10n, scale: 9 },
    text: "0.000000010",
    asOf: new Date("2026-01-31T12:00:00Z"),
    attempts: 1,
  });
  assert.deepEqual(provider.asked, ["/v1/price?base=BTC&quote=EUR"]);
});

test("transient failures are asked again, each time after a longer pause", async () => {
  const { found, provider } = await ask([failed(500), "reset", priced()]);
  assert.equal(found.kind, "price");
  assert.equal(found.attempts, 3);
  assert.deepEqual(provider.waited, [200, 400]);
});

test("Retry-After is obeyed, and not beyond the call's deadline", async () => {
  const patient = await ask([failed(429, { "retry-after": "3" }), priced()]);
  assert.deepEqual([patient.found.kind, patient.provider.waited], ["price", [3_000]]);
  const late = await ask([failed(429, { "retry-after": "60" })]);
  assert.deepEqual(late.found, { kind: "unavailable", status: 429, attempts: 1 });
  assert.deepEqual(late.provider.waited, []);
});

test("a provider that hangs is left after 2 s, and asked again while there is time", async () => {
  const { found, provider } = await ask(["hang", "hang", "hang"]);
  assert.deepEqual(found, { kind: "slow", attempts: 3 });
  assert.deepEqual(provider.waited, [2_000, 200, 2_000, 400, 2_000]);
  // Half a second is kept for the tool's own answer.
  const short = await ask(["hang"], 1_500);
  assert.deepEqual([short.found, short.provider.waited], [{ kind: "slow", attempts: 1 }, [1_000]]);
  assert.deepEqual((await ask([], 400)).found, { kind: "slow", attempts: 0 });
});

test("it gives up after three requests, with the last status", async () => {
  assert.deepEqual((await ask([failed(503), failed(502), failed(500)])).found, {
    kind: "unavailable",
    status: 500,
    attempts: 3,
  });
  assert.deepEqual((await ask(["reset", "reset", "reset"])).found, { kind: "unavailable", attempts: 3 });
});

test("what asking again would not change is not asked again", async () => {
  assert.deepEqual((await ask([failed(404)])).found, { kind: "unknown", attempts: 1 });
  assert.deepEqual((await ask([failed(401)])).found, { kind: "refused", status: 401, attempts: 1 });
});

test("an answer that cannot be used says why, without its text", async () => {
  const cases: [Response, RegExp][] = [
    [new Response("<html>"), /it is not JSON/],
    [new Response(new Uint8Array([0xff])), /it is not JSON/],
    [new Response("null"), /no decimal text/],
    [priced({ price: 64_123.1 }), /no decimal text/],
    [priced({ price: "-1" }), /no decimal text/],
    [priced({ price: "1e3" }), /no decimal text/],
    [priced({ price: "1234567890123456789" }), /no decimal text/],
    [priced({ price: "0.00" }), /its price is 0/],
    [priced({ as_of: "yesterday" }), /no date with UTC time/],
    [priced({ as_of: "2026-01-31T12Z" }), /no date with UTC time/],
    [priced({ as_of: "2026-13-31T12:00:00Z" }), /no date with UTC time/],
    [priced({ as_of: "2026-01-31T13:00:00Z" }), /in the future/],
    [new Response("x".repeat(65_537)), /longer than 65536 bytes/],
  ];
  for (const [response, why] of cases) {
    const { found } = await ask([response]);
    assert.ok(found.kind === "invalid");
    assert.match(found.why, why);
  }
});

test("the end of the call ends the request, and its reason is thrown", async () => {
  const call = new AbortController();
  const provider = new Provider([]);
  const source = new PriceSource("https://prices.example", {
    clock: {
      now: provider.now,
      sleep: (_, signal) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
    },
    http: (_, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        call.abort(new Error("the leader is gone"));
      }),
  });
  await assert.rejects(source.latest("BTC", "EUR", { signal: call.signal, left: () => 8_000 }), /the leader is gone/);
});
