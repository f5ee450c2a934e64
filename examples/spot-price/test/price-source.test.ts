import assert from "node:assert/strict";
import { test } from "node:test";
import { failed, priced, type Step, sourceOf } from "./provider.js";

/** Asks once, in a call that has some milliseconds. */
function ask(steps: readonly Step[], total = 8_000) {
  const { signal } = new AbortController();
  return sourceOf(steps).latest("BTC", "EUR", { signal, deadline: performance.now() + total });
}

test("a good answer is read exactly", async () => {
  assert.deepEqual(await ask([priced({ price: "0.000000010" })]), {
    kind: "price",
    price: { units: 10n, scale: 9 },
    text: "0.000000010",
    asOf: new Date("2026-01-31T12:00:00Z"),
    attempts: 1,
  });
});

test("transient failures are asked again, at most twice and within the call's deadline", async () => {
  const found = await ask([failed(500), "reset", priced()]);
  assert.deepEqual(found.kind === "price" && found.attempts, 3);
  assert.deepEqual(await ask([failed(503), failed(502), failed(500), priced()]), {
    kind: "unavailable",
    status: 500,
    attempts: 3,
  });
  assert.deepEqual(await ask(["reset", "reset", "reset"]), { kind: "unavailable", attempts: 3 });
  assert.deepEqual(await ask([failed(429, { "retry-after": "60" }), priced()]), {
    kind: "unavailable",
    status: 429,
    attempts: 1,
  });
});

test("a provider that hangs is left before the call ends", async () => {
  assert.deepEqual(await ask(["hang"], 300), { kind: "slow", attempts: 1 });
});

test("what asking again would not change is not asked again", async () => {
  assert.deepEqual(await ask([failed(404), priced()]), { kind: "unknown" });
  assert.deepEqual(await ask([failed(401), priced()]), { kind: "refused", status: 401 });
  assert.deepEqual(await ask([failed(302, { location: "/" }), priced()]), { kind: "refused", status: 302 });
});

test("an answer that cannot be used says why, without its text", async () => {
  const cases: readonly (readonly [Step, RegExp])[] = [
    [{ body: "<html>" }, /it is not JSON/],
    [{ body: Buffer.from([0xff]) }, /it is not JSON/],
    [{ body: "null" }, /no decimal text/],
    [priced({ price: 64_123.1 }), /no decimal text/],
    [priced({ price: "-1" }), /no decimal text/],
    [priced({ price: "1e3" }), /no decimal text/],
    [priced({ price: "1234567890123456789" }), /no decimal text/],
    [priced({ price: "0.00" }), /its price is 0/],
    [priced({ as_of: "yesterday" }), /no date with UTC time/],
    [priced({ as_of: "2026-01-31T12Z" }), /no date with UTC time/],
    [priced({ as_of: "2026-13-31T12:00:00Z" }), /no date with UTC time/],
    [priced({ as_of: "2026-01-31T13:00:00Z" }), /in the future/],
    [{ body: "x".repeat(65_537) }, /longer than 65536 bytes/],
  ];
  for (const [step, why] of cases) {
    const found = await ask([step]);
    assert.ok(found.kind === "invalid");
    assert.match(found.why, why);
  }
});

test("the end of the call ends the request, and its reason is thrown", async () => {
  const call = new AbortController();
  const asked = sourceOf(["hang"]).latest("BTC", "EUR", { signal: call.signal, deadline: performance.now() + 8_000 });
  setImmediate(() => call.abort(new Error("the leader is gone")));
  await assert.rejects(asked, /the leader is gone/);
});
