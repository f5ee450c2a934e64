import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createHarness } from "svc-runtime/testing";
import { contracts } from "../src/generated/contracts.js";
import { SpotPrice } from "../src/spot-price.js";
import { failed, priced, type Step, sourceOf } from "./provider.js";

/** The tool with a provider of the test. */
async function open(t: TestContext, steps: readonly Step[], base?: string) {
  const source = sourceOf(steps, base);
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
    [[{ body: "<html>" }], { err_invalid_answer: { reason: "the provider's answer cannot be used: it is not JSON" } }],
  ];
  for (const [steps, expected] of cases) {
    const tool = await open(t, steps, "ABC");
    assert.deepEqual(await tool.invoke({ base: "ABC", quote: "EUR" }), expected);
  }
});

test("the deadline of the call ends a request that hangs", async (t) => {
  const tool = await open(t, ["hang"]);
  const refused = assert.rejects(tool.invoke({ base: "BTC", quote: "EUR" }), { status: 504 });
  await tool.advance(8_000);
  await refused;
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

test("over HTTP, a cut answer is asked for again", async (t) => {
  const asked: string[] = [];
  const provider = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (asked.length === 1)
      return void response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy());
    response.end(JSON.stringify({ price: "1.5", as_of: new Date().toISOString() }));
  }).listen(0, "127.0.0.1");
  await once(provider, "listening");
  t.after(() => {
    provider.closeAllConnections();
    provider.close();
  });
  process.env.PRICE_PROVIDER_URL = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const tool = await createHarness(SpotPrice, { contracts });
  t.after(() => tool.close());
  const result = await tool.invoke({ base: "BTC", quote: "EUR" });
  assert.ok("ok" in result);
  assert.deepEqual(
    [result.ok.price, result.ok.attempts, asked],
    ["1.5", 2, Array(2).fill("/v1/price?base=BTC&quote=EUR")],
  );
});
