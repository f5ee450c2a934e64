/** Asks the price provider over HTTP, and again after a transient failure. */

import { type Clock, systemClock } from "./clock.js";
import { type Decimal, parseDecimal } from "./decimal.js";

/** The part of `fetch` that is needed; undici's `fetch` and a double in a test fit too. */
export type HttpClient = (
  url: URL,
  init: { readonly signal: AbortSignal; readonly headers: Record<string, string>; readonly redirect: "error" },
) => Promise<Response>;

/** What one question may take. */
export interface Budget {
  /** Ends the question at once; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Milliseconds that are left for it. */
  left(): number;
}

/** An answer of the provider, or why there is none. `attempts` counts requests. */
export type Lookup =
  | {
      readonly kind: "price";
      readonly price: Decimal;
      readonly text: string;
      readonly asOf: Date;
      readonly attempts: number;
    }
  | { readonly kind: "unknown"; readonly attempts: number }
  | { readonly kind: "refused"; readonly status: number; readonly attempts: number }
  | { readonly kind: "invalid"; readonly why: string; readonly attempts: number }
  | { readonly kind: "unavailable"; readonly status?: number; readonly attempts: number }
  | { readonly kind: "slow"; readonly attempts: number };

/** The outcome of one request. */
type Attempt =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly retryAfterMs: number;
      readonly body: Uint8Array | undefined;
    }
  | { readonly kind: "slow" }
  | { readonly kind: "unreachable" };

const ATTEMPTS = 3;
/** Time of one request with its answer. */
const ATTEMPT_MS = 2_000;
/** The wait after the first failure; each further one is twice as long. */
const BACKOFF_MS = 200;
/** Left for the tool's own answer. */
const RESERVE_MS = 500;
const MAX_BODY_BYTES = 65_536;
/** The provider's clock may be this much ahead. */
const MAX_AHEAD_MS = 5 * 60_000;
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

export interface PriceSourceOptions {
  readonly http?: HttpClient;
  readonly clock?: Clock;
  /** From 0 to 1: spreads the retries of many callers. */
  readonly random?: () => number;
}

/** A provider that answers `GET /v1/price?base=BTC&quote=EUR` with `{"price":"64123.10","as_of":"2026-01-31T12:00:00Z"}`. */
export class PriceSource {
  readonly clock: Clock;
  private readonly http: HttpClient;
  private readonly random: () => number;

  constructor(
    private readonly url: string,
    { http = fetch, clock = systemClock, random = Math.random }: PriceSourceOptions = {},
  ) {
    this.http = http;
    this.clock = clock;
    this.random = random;
  }

  /** @throws the reason of the budget's signal */
  async latest(base: string, quote: string, budget: Budget): Promise<Lookup> {
    const url = new URL("/v1/price", this.url);
    url.search = new URLSearchParams({ base, quote }).toString();
    for (let attempts = 1; ; attempts++) {
      const limit = Math.min(ATTEMPT_MS, budget.left() - RESERVE_MS);
      if (limit <= 0) return { kind: "slow", attempts: attempts - 1 };
      const attempt = await this.request(url, limit, budget.signal);
      if (attempt.kind === "response" && !TRANSIENT.has(attempt.status)) return this.read(attempt, attempts);

      const backoff = BACKOFF_MS * 2 ** (attempts - 1) * (0.5 + this.random() / 2);
      const wait = Math.max(backoff, attempt.kind === "response" ? attempt.retryAfterMs : 0);
      if (attempts === ATTEMPTS || budget.left() - RESERVE_MS <= wait) {
        if (attempt.kind === "slow") return { kind: "slow", attempts };
        return { kind: "unavailable", ...(attempt.kind === "response" && { status: attempt.status }), attempts };
      }
      await this.clock.sleep(wait, budget.signal);
    }
  }

  private async request(url: URL, limit: number, signal: AbortSignal): Promise<Attempt> {
    const own = new AbortController();
    const either = AbortSignal.any([signal, own.signal]);
    let late = false;
    this.clock.sleep(limit, either).then(
      () => {
        late = true;
        own.abort();
      },
      () => {},
    );
    try {
      const response = await this.http(url, {
        signal: either,
        headers: { accept: "application/json" },
        redirect: "error",
      });
      const seconds = Number(response.headers.get("retry-after") ?? 0);
      const retryAfterMs = seconds > 0 ? seconds * 1000 : 0;
      return { kind: "response", status: response.status, retryAfterMs, body: await boundedBody(response) };
    } catch {
      signal.throwIfAborted();
      return { kind: late ? "slow" : "unreachable" };
    } finally {
      own.abort();
    }
  }

  private read({ status, body }: Attempt & { kind: "response" }, attempts: number): Lookup {
    if (status === 404) return { kind: "unknown", attempts };
    if (status !== 200) return { kind: "refused", status, attempts };
    const invalid = (why: string): Lookup => ({ kind: "invalid", why, attempts });
    if (body === undefined) return invalid(`it is longer than ${MAX_BODY_BYTES} bytes`);
    let answer: { price?: unknown; as_of?: unknown } | null;
    try {
      answer = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch {
      return invalid("it is not JSON");
    }
    const { price: text, as_of: time } = answer ?? {};
    // A JSON number would have been rounded by now.
    const price = typeof text === "string" ? parseDecimal(text) : undefined;
    if (typeof text !== "string" || price === undefined)
      return invalid("its price is no decimal text of up to 18 digits");
    if (price.units === 0n) return invalid("its price is 0");
    const asOf = new Date(
      typeof time === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time) ? time : Number.NaN,
    );
    if (Number.isNaN(asOf.getTime())) return invalid("its time is no date with UTC time");
    if (asOf.getTime() > this.clock.now() + MAX_AHEAD_MS) return invalid("its time lies in the future");
    return { kind: "price", price, text, asOf, attempts };
  }
}

/** The body, undefined when it is too long; then the rest is not read. */
async function boundedBody(response: Response): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
