import { type InvokeContext, SvcTool } from "svc-runtime";
import { formatDecimal, multiply, parseDecimal } from "./decimal.js";
import { type Lookup, PriceSource } from "./price-source.js";

/** What is priced, and in what. */
export interface Pair {
  /**
   * Such as BTC.
   * @pattern ^[A-Z0-9]{2,10}$
   */
  base: string;
  /**
   * Such as EUR.
   * @pattern ^[A-Z0-9]{2,10}$
   */
  quote: string;
}

export interface Input extends Pair {
  /**
   * How much of `base` is valued, as decimal text: 1 when it is left out.
   * @pattern ^[0-9]{1,9}(\.[0-9]{1,9})?$
   */
  amount?: string;
  /**
   * The largest age of the price, in seconds: 60 when it is left out.
   * @asType integer
   * @minimum 1
   * @maximum 86400
   */
  maxAge?: number;
}

/** A failure in a sentence that can be shown to people. */
export interface Failure {
  reason: string;
}

export type Output =
  | {
      ok: Pair & {
        /** Decimal text with the digits that the provider gave. */
        price: string;
        /**
         * The price is `units / 10^scale`.
         * @format int64
         */
        units: bigint;
        /** @asType integer */
        scale: number;
        /** Amount times price, exact, as decimal text. */
        value: string;
        asOf: Date;
        /** Requests that were needed. @asType integer */
        attempts: number;
      };
    }
  | { err_unknown_pair: Failure & Pair }
  /** The provider cannot be reached, or answers with a transient status. The same call may succeed later. */
  | {
      err_unavailable: Failure & {
        /** @asType integer */
        attempts: number;
        /** The last status, when there was one. @asType integer */
        status?: number;
      };
    }
  | {
      err_too_slow: Failure & {
        /** @asType integer */
        attempts: number;
      };
    }
  /** The provider does not accept this tool: a matter for its operator. */
  | {
      err_refused: Failure & {
        /** @asType integer */
        status: number;
      };
    }
  | { err_invalid_answer: Failure }
  | { err_stale: Failure & { asOf: Date } };

/** Prices one asset in another, by a provider that is asked over HTTP. */
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

  /** Runs at the start of the server, so a missing setting is found then. */
  static override create() {
    SpotPrice.#provider = new PriceSource(providerUrl(process.env.PRICE_PROVIDER_URL));
  }

  static override async new() {
    return new SpotPrice(SpotPrice.#provider);
  }

  readonly #source: PriceSource;

  /** Tests give a source of their own. */
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
    // The pattern of the port lets nothing else through.
    const value = formatDecimal(multiply(price, parseDecimal(amount)!));
    return { ok: { base, quote, price: text, ...price, value, asOf, attempts } };
  }
}

/** Each failure as the variant of its own. No text of the provider gets into a result. */
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
