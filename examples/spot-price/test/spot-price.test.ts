import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createHarness } from "svc-runtime/testing";
import { contracts } from "../src/generated/contracts.js";
import { PriceSource } from "../src/price-source.js";
import { SpotPrice } from "../src/spot-price.js";
import { failed, Provider, priced, type Step } from "./provider.js";

/** The tool with a provider of the test. */
async function open(t: TestContext, steps: Step[]) {
  const provider = new Provider(steps);
  const source = new PriceSource("https://prices.example", { http: provider.http, clock: provider, random: () => 1 });
  class Tested extends SpotPrice {
    static override create() {}
    static override async new() {
      return new SpotPrice(source);
    }
  }
  const harness = await createHarness(Tested, { contracts });
  t.after(() => harness.close());
  return harness;
}

test("an amount is valued exactly", async (t) => {
  const tool = await open(t, [priced()]);
  assert.deepEqual(await tool.invoke({ base: "BTC", quote: "EUR", amount: "0.3" }), {
    ok: {
      base: "BTC",
      quote: "EUR",
      price: "64123.10",
      units: 6_412_310n,
      scale: 2,
      value: "19236.930",
      asOf: new Date("2026-01-31T12:00:00Z"),
      attempts: 1,
    },
  });
});

test("an old price is refused, with its time", async (t) => {
  const tool = await open(t, [priced(), priced()]);
  assert.deepEqual(await tool.invoke({ base: "BTC", quote: "EUR", maxAge: 29 }), {
    err_stale: { reason: "the provider's last price is older than 29 s", asOf: new Date("2026-01-31T12:00:00Z") },
  });
  assert.ok("ok" in (await tool.invoke({ base: "BTC", quote: "EUR", maxAge: 30 })));
});

test("each failure is a variant of its own, and none shows what the provider said", async (t) => {
  const cases: [Step[], object][] = [
    [
      [failed(404)],
      { err_unknown_pair: { reason: "the provider has no price of ABC in EUR", base: "ABC", quote: "EUR" } },
    ],
    [[failed(403)], { err_refused: { reason: "the provider refused the request with status 403", status: 403 } }],
    [
      ["reset", "reset", failed(500)],
      {
        err_unavailable: {
          reason: "the provider answered with status 500, after 3 requests",
          attempts: 3,
          status: 500,
        },
      },
    ],
    [
      [new Response("<html>")],
      { err_invalid_answer: { reason: "the provider's answer cannot be used: it is not JSON" } },
    ],
  ];
  for (const [steps, expected] of cases) {
    const tool = await open(t, steps);
    assert.deepEqual(await tool.invoke({ base: "ABC", quote: "EUR" }), expected);
  }
});

test("the deadline of the call ends a request that hangs", async (t) => {
  let begun: (signal: AbortSignal) => void = () => {};
  const request = new Promise<AbortSignal>((resolve) => {
    begun = resolve;
  });
  const source = new PriceSource("https://prices.example", {
    http: (_, { signal }) => {
      begun(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    clock: {
      now: Date.now,
      sleep: (_, signal) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
    },
  });
  class Tested extends SpotPrice {
    static override create() {}
    static override async new() {
      return new SpotPrice(source);
    }
  }
  const tool = await createHarness(Tested, { contracts });
  t.after(() => tool.close());
  const refused = assert.rejects(tool.invoke({ base: "BTC", quote: "EUR" }), { status: 504 });
  const signal = await request;
  await tool.advance(8_000);
  await refused;
  assert.ok(signal.aborted);
});

test("a server without PRICE_PROVIDER_URL does not start, and says what is missing", async () => {
  for (const url of ["", "prices.example", "file:///prices"]) {
    process.env.PRICE_PROVIDER_URL = url;
    await assert.rejects(
      createHarness(SpotPrice, { contracts }),
      /PRICE_PROVIDER_URL: expected the URL of the price provider/,
    );
  }
});

test("over HTTP, with Node's own fetch: a redirect and a cut answer are no price", async (t) => {
  const asked: string[] = [];
  const provider = createServer((request, response) => {
    asked.push(request.headers.accept ?? "");
    if (asked.length === 1) return void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    if (asked.length === 2)
      return void response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy());
    response.end(JSON.stringify({ price: "1.5", as_of: new Date().toISOString() }));
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  t.after(() => provider.close());
  process.env.PRICE_PROVIDER_URL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const tool = await createHarness(SpotPrice, { contracts });
  t.after(() => tool.close());
  const result = await tool.invoke({ base: "BTC", quote: "EUR" });
  assert.ok("ok" in result);
  assert.deepEqual([result.ok.price, result.ok.attempts, asked], ["1.5", 3, Array(3).fill("application/json")]);
});
