/** A price provider that answers each request as a test says, without a socket. */

import { MockAgent } from "undici";
import { PriceSource } from "../src/price-source.js";

export const NOW = Date.parse("2026-01-31T12:00:30Z");
const URL = "https://prices.example";

/** What one request meets: an answer, a connection that breaks, or nothing at all. */
export type Step =
  | { readonly status?: number; readonly body?: string | Buffer; readonly headers?: Record<string, string> }
  | "reset"
  | "hang";

/** A good answer, or one with other members. */
export function priced(members: object = {}): Step {
  return { body: JSON.stringify({ price: "64123.10", as_of: "2026-01-31T12:00:00Z", ...members }) };
}

export const failed = (status: number, headers: Record<string, string> = {}): Step => ({
  status,
  body: "<secret of the provider>",
  headers,
});

/** A source whose provider takes one step for each request. */
export function sourceOf(steps: readonly Step[], base = "BTC"): PriceSource {
  const dispatcher = new MockAgent();
  dispatcher.disableNetConnect();
  for (const step of steps) {
    const request = dispatcher.get(URL).intercept({ path: "/v1/price", query: { base, quote: "EUR" } });
    if (step === "reset") request.replyWithError(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
    else if (step === "hang") request.reply(200, "").delay(2 ** 30);
    else request.reply(step.status ?? 200, step.body ?? "", { headers: step.headers ?? {} });
  }
  return new PriceSource(URL, { dispatcher, now: () => NOW });
}
