/** HTTP client of the price provider. */

import { type Dispatcher, HttpError, http, type InvokeContext } from "svc-runtime";
import { type Decimal, parseDecimal } from "./decimal.js";

/** An answer of the provider, or the reason why there is none. `attempts` counts requests. */
export type Lookup =
  | {
      readonly kind: "price";
      readonly price: Decimal;
      readonly text: string;
      readonly asOf: Date;
      readonly attempts: number;
    }
  | { readonly kind: "unknown" }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "invalid"; readonly why: string }
  | { readonly kind: "unavailable"; readonly status?: number; readonly attempts: number }
  | { readonly kind: "slow"; readonly attempts: number };

/** Tolerated lead of the provider's clock. */
const MAX_AHEAD_MS = 5 * 60_000;

export interface PriceSourceOptions {
  /** An undici agent. Tests pass a `MockAgent`. */
  readonly dispatcher?: Dispatcher;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A provider that answers `GET /v1/price?base=BTC&quote=EUR` with `{"price":"64123.10","as_of":"2026-01-31T12:00:00Z"}`. */
export class PriceSource {
  readonly now: () => number;

  readonly #url: string;
  readonly #options: PriceSourceOptions;

  constructor(url: string, options: PriceSourceOptions = {}) {
    this.#url = url;
    this.#options = options;
    this.now = options.now ?? Date.now;
  }

  /** @throws the reason of the call's signal */
  async latest(base: string, quote: string, context: Pick<InvokeContext, "signal" | "deadline">): Promise<Lookup> {
    try {
      const answer = await http(context, new URL("/v1/price", this.#url), {
        query: { base, quote },
        timeoutMs: 2_000,
        maxBytes: 65_536,
        dispatcher: this.#options.dispatcher,
      });
      return this.#read(answer.json(), answer.attempts);
    } catch (error) {
      if (error instanceof HttpError) return failed(error);
      throw error;
    }
  }

  #read(answer: unknown, attempts: number): Lookup {
    const invalid = (why: string): Lookup => ({ kind: "invalid", why });
    const { price: text, as_of: time } = (answer ?? {}) as { readonly price?: unknown; readonly as_of?: unknown };
    // A JSON number is a double.
    const price = typeof text === "string" ? parseDecimal(text) : undefined;
    if (typeof text !== "string" || price === undefined)
      return invalid("its price is no decimal text of up to 18 digits");
    if (price.units === 0n) return invalid("its price is 0");
    const asOf = new Date(
      typeof time === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time) ? time : Number.NaN,
    );
    if (Number.isNaN(asOf.getTime())) return invalid("its time is no date with UTC time");
    if (asOf.getTime() > this.now() + MAX_AHEAD_MS) return invalid("its time lies in the future");
    return { kind: "price", price, text, asOf, attempts };
  }
}

/** Classifies a failed request. */
function failed({ kind, status, attempts }: HttpError): Lookup {
  switch (kind) {
    case "timeout":
      return { kind: "slow", attempts };
    case "too_large":
      return { kind: "invalid", why: "it is longer than 65536 bytes" };
    case "invalid_answer":
      return status === undefined ? { kind: "invalid", why: "it is not JSON" } : { kind: "refused", status };
    case "status":
      if (status === 404) return { kind: "unknown" };
      if (status !== undefined && status < 500 && status !== 408 && status !== 429) return { kind: "refused", status };
      return { kind: "unavailable", ...(status !== undefined && { status }), attempts };
    default:
      return { kind: "unavailable", attempts };
  }
}
