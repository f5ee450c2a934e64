import { type InvokeContext, SvcTool } from "svc-runtime";
import { formatDecimal, multiply, parseDecimal } from "./decimal.js";
import { type Lookup, PriceSource } from "./price-source.js";

/** The asset and the currency of its price. */
export interface Pair {
  /**
   * Symbol of the asset, such as BTC.
   * @pattern ^[A-Z0-9]{2,10}$
   */
  base: string;
  /**
   * Symbol of the currency, such as EUR.
   * @pattern ^[A-Z0-9]{2,10}$
   */
  quote: string;
}

export interface Input extends Pair {
  /**
   * Amount of `base` to value, as decimal text. Default: 1.
   * @pattern ^[0-9]{1,9}(\.[0-9]{1,9})?$
   */
  amount?: string;
  /**
   * Maximum age of the price in seconds. Default: 60.
   * @asType integer
   * @minimum 1
   * @maximum 86400
   */
  maxAge?: number;
}

/** A failure, described in a sentence that can be shown to users. */
export interface Failure {
  reason: string;
}

export type Output =
  | {
      ok: Pair & {
        /** Price as decimal text, with the provider's digits. */
        price: string;
        /**
         * The price is `units / 10^scale`.
         * @format int64
         */
        units: bigint;
        /** @asType integer */
        scale: number;
        /** Amount times price, exactly, as decimal text. */
        value: string;
        asOf: Date;
        /** Number of requests sent. @asType integer */
        attempts: number;
      };
    }
  | { err_unknown_pair: Failure & Pair }
  /** The provider is unreachable or answers with a transient status. The same call may succeed later. */
  | {
      err_unavailable: Failure & {
        /** @asType integer */
        attempts: number;
        /** Last HTTP status, if any. @asType integer */
        status?: number;
      };
    }
  | {
      err_too_slow: Failure & {
        /** @asType integer */
        attempts: number;
      };
    }
  /** The provider refuses this tool's requests. The operator has to correct its setup. */
  | {
      err_refused: Failure & {
        /** @asType integer */
        status: number;
      };
    }
  | { err_invalid_answer: Failure }
  | { err_stale: Failure & { asOf: Date } };

/** Prices one asset in another, using a provider's HTTP API. */
export class SpotPrice extends SvcTool<Input, Output> {
  static #provider: PriceSource;

  static override fqn() {
    return "markets.spot.price@1";
  }

  static override description() {
    return "Prices one asset in another, exactly, by a provider that is asked over HTTP.";
  }

  static override path() {
    return "spot-price";
  }

  static override variables() {
    return { PRICE_PROVIDER_URL: "URL of the price provider, such as https://prices.example." };
  }

  static override timeout() {
    return 8_000;
  }

  /** Runs when the server starts, so that a missing setting prevents the start. */
  static override create() {
    SpotPrice.#provider = new PriceSource(providerUrl(process.env.PRICE_PROVIDER_URL));
  }

  static override async new() {
    return new SpotPrice(SpotPrice.#provider);
  }

  readonly #source: PriceSource;

  /** Tests pass their own source. */
  constructor(source: PriceSource) {
    super();
    this.#source = source;
  }

  override async invoke(input: Input, context: InvokeContext): Promise<Output> {
    const { base, quote } = input;
    const found = await this.#source.latest(base, quote, context);
    if (found.kind !== "price") {
      context.log.warn({ base, quote, ...found }, "no price");
      return failure(found, { base, quote });
    }
    const { price, text, asOf, attempts } = found;
    const { amount = "1", maxAge = 60 } = input;
    if (this.#source.now() - asOf.getTime() > maxAge * 1000) {
      return { err_stale: { reason: `the provider's last price is older than ${maxAge} s`, asOf } };
    }
    // The pattern of the port admits nothing else.
    const value = formatDecimal(multiply(price, parseDecimal(amount)!));
    return { ok: { base, quote, price: text, ...price, value, asOf, attempts } };
  }
}

/** Maps each failure to its variant. Results contain no text of the provider. */
function failure(found: Exclude<Lookup, { kind: "price" }>, pair: Pair): Output {
  switch (found.kind) {
    case "unknown":
      return { err_unknown_pair: { reason: `the provider has no price of ${pair.base} in ${pair.quote}`, ...pair } };
    case "refused": {
      const { status } = found;
      return { err_refused: { reason: `the provider refused the request with status ${status}`, status } };
    }
    case "invalid":
      return { err_invalid_answer: { reason: `the provider's answer cannot be used: ${found.why}` } };
    case "slow": {
      const { attempts } = found;
      return { err_too_slow: { reason: `the provider did not answer in time, in ${requests(attempts)}`, attempts } };
    }
    case "unavailable": {
      const { attempts, status } = found;
      const why = status === undefined ? "cannot be reached" : `answered with status ${status}`;
      const last = status === undefined ? {} : { status };
      return { err_unavailable: { reason: `the provider ${why}, after ${requests(attempts)}`, attempts, ...last } };
    }
  }
}

const requests = (count: number) => (count === 1 ? "1 request" : `${count} requests`);

function providerUrl(url: string | undefined): string {
  const ask = "PRICE_PROVIDER_URL: expected the URL of the price provider, such as https://prices.example";
  if (url === undefined || url === "") throw new Error(`${ask}, got nothing`);
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) throw new Error(`${ask}, got no http(s) URL`);
  return url;
}
