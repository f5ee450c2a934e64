/** HTTP requests of tools: limited by the deadline of the call and in size, and retried if that is safe. */

import { setTimeout } from "node:timers/promises";
import { type BrotliDecompress, createBrotliDecompress, createGunzip, type Gunzip } from "node:zlib";
import { BOOLEAN, type Checks, checkOptions, having } from "svc-client/internal/check-options";
import { checkedInteger } from "svc-client/internal/checked-integer";
import { LeaderError } from "svc-client/internal/leader/error";
import type { Dispatcher } from "svc-client/internal/leader/transport/dispatcher";
import { HttpClient } from "svc-client/internal/leader/transport/http-client";
import { type HttpResponse, tooLarge } from "svc-client/internal/leader/transport/transport";
import { backOffMs, retryAfterOf } from "svc-client/internal/leader/waiting";
import { JsonError } from "svc-client/internal/wire/json/error";
import { kindOf } from "svc-client/internal/wire/kinds";
import { MAX_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
import { readJson, writeJson } from "../exact-json.js";
import type { InvokeContext } from "../tool.js";
import { AnswerBytes } from "./answer-bytes.js";
import type { HttpAnswer } from "./http-answer.js";
import { HttpError, type HttpErrorKind } from "./http-error.js";
import { boundedLookup } from "./lookup.js";
import { checkHost, ForbiddenAddress, publicAgent } from "./public-addresses.js";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

/** Options of {@link http}. */
export interface HttpOptions {
  /** `GET` by default; `POST` if there is a body. */
  readonly method?: (typeof METHODS)[number];
  /** Added to the query of the URL. Undefined values are omitted. */
  readonly query?: Readonly<Record<string, string | number | bigint | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON body, serialised with exact integers by `writeJson`. */
  readonly json?: unknown;
  /** Raw body. */
  readonly body?: string | Uint8Array;
  /**
   * Time limit of one attempt, including the body, in milliseconds: 10,000 by default, and never beyond the deadline.
   */
  readonly timeoutMs?: number;
  /** Maximum size of the decompressed answer body, in bytes: 1 MiB by default. */
  readonly maxBytes?: number;
  /** Maximum number of requests, including the first: 3 by default. */
  readonly attempts?: number;
  /**
   * Whether the request may be sent again: by default true for `GET`, `HEAD`, `PUT` and `DELETE`. Set it for a `POST`
   * with an idempotency key. If no byte of a request was sent, it is always retried.
   */
  readonly repeatable?: boolean;
  /** Statuses outside 200 to 299 whose answers are returned instead of thrown. */
  readonly accept?: readonly number[];
  /**
   * Rejects connections to addresses outside the public network. Set it if the host comes from an input. Proxy settings
   * are then ignored.
   */
  readonly publicOnly?: boolean;
  /**
   * undici dispatcher to use instead of the shared one: `MockAgent` in tests, `ProxyAgent`, an `Agent` with
   * certificates.
   */
  readonly dispatcher?: Dispatcher | undefined;
}

const OPTIONS: Checks<HttpOptions> = {
  method: [(value) => METHODS.some((each) => each === value), `one of ${METHODS.join(", ")}`],
  query: [isRecord, "an object of names and values"],
  headers: [isRecord, "an object of names and strings"],
  json: true,
  body: [
    (value) => typeof value === "string" || value instanceof Uint8Array,
    "a string or a Uint8Array (pass JSON as `json`)",
  ],
  timeoutMs: true,
  maxBytes: true,
  attempts: true,
  repeatable: BOOLEAN,
  accept: [(value) => Array.isArray(value) && value.every(Number.isInteger), "a list of statuses, such as [404]"],
  publicOnly: BOOLEAN,
  dispatcher: having("dispatch", "a dispatcher of the package undici"),
};
const ATTEMPT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const ATTEMPTS = 3;
/** Milliseconds of the call that are reserved for the tool's own answer. */
const RESERVE_MS = 200;
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE"]);
/** Statuses after which another attempt may succeed. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Loads its agent at the first request. */
const SHARED = new HttpClient({ lookup: boundedLookup });

interface Failure {
  readonly kind: HttpErrorKind;
  readonly why: string;
  /** Whether it is certain that nothing was sent, so that another attempt is always safe. */
  readonly unsent?: boolean;
  readonly isTransient?: boolean;
  readonly response?: HttpResponse;
  readonly cause?: unknown;
}

/**
 * Sends an HTTP request during a call. Retries temporary failures within the call's deadline, after growing pauses of
 * at least `Retry-After`.
 *
 * @param context context of the call: its signal aborts the request, its deadline limits all attempts
 * @returns an answer with a status from 200 to 299, or one listed in `accept`
 * @throws {@link HttpError}; the signal's reason if it is aborted; TypeError, RangeError for invalid options
 *
 * @example
 * ```ts
 * import { http, type InvokeContext } from "svc-runtime";
 *
 * export async function priceOf(pair: string, context: InvokeContext) {
 *   const answer = await http(context, "https://prices.example.com/v1/price", { query: { pair } });
 *   return answer.json();
 * }
 * ```
 */
export async function http(
  context: Pick<InvokeContext, "signal" | "deadline">,
  url: string | { readonly href: string },
  options: HttpOptions = {},
): Promise<HttpAnswer> {
  const request = new Request(context, url, options);
  return request.run();
}

class Request {
  readonly #url: URL;
  readonly #options: HttpOptions;
  readonly #context: Pick<InvokeContext, "signal" | "deadline">;
  readonly #method: string;
  readonly #timeoutMs: number;
  readonly #maxAttempts: number;
  readonly #maxBytes: number;
  readonly #body: Uint8Array | undefined;
  readonly #headers: Headers;
  #attempts = 0;

  constructor(
    context: Pick<InvokeContext, "signal" | "deadline">,
    url: string | { readonly href: string },
    options: HttpOptions,
  ) {
    if (!(context?.signal instanceof AbortSignal) || typeof context.deadline !== "number") {
      throw new TypeError(`http: expected the context of the call as the first argument, got ${kindOf(context)}`);
    }
    checkOptions("http", options, OPTIONS);
    const { json, body, method, query = {}, timeoutMs = ATTEMPT_MS, attempts = ATTEMPTS } = options;
    if (json !== undefined && body !== undefined) throw new TypeError("http: expected json or body, got both");
    if (options.publicOnly && options.dispatcher !== undefined) {
      throw new TypeError(
        "http: expected publicOnly or a dispatcher, got both: the addresses to which a dispatcher connects cannot be checked",
      );
    }
    this.#options = options;
    this.#context = context;
    const text = typeof url === "string" ? url : url?.href;
    if (typeof text !== "string" || !URL.canParse(text)) {
      const got = typeof text === "string" ? "another text" : kindOf(url);
      throw new TypeError(`http: expected an absolute URL, such as https://api.example/v1, got ${got}`);
    }
    this.#url = new URL(text);
    if (!/^https?:$/.test(this.#url.protocol))
      throw new TypeError("http: expected an http: or https: URL, got another scheme");
    if (this.#url.username !== "" || this.#url.password !== "") {
      throw new TypeError("http: expected a URL without user and password: send an Authorization header instead");
    }
    for (const [name, value] of Object.entries(query)) {
      if (value === undefined) continue;
      if (!/^(?:string|number|bigint|boolean)$/.test(typeof value)) {
        const place = `http: query: ${JSON.stringify(name)}`;
        throw new TypeError(`${place}: expected a string, number, bigint or boolean, got ${kindOf(value)}`);
      }
      this.#url.searchParams.set(name, String(value));
    }
    this.#timeoutMs = checkedInteger("timeoutMs", timeoutMs, 1, MAX_TIMEOUT_MS);
    this.#maxAttempts = checkedInteger("attempts", attempts, 1, 100);
    this.#maxBytes = checkedInteger("maxBytes", options.maxBytes ?? MAX_BYTES, 0, 2 ** 31 - 1);
    const content = json === undefined ? body : writeJson(json);
    this.#body = typeof content === "string" ? Buffer.from(content) : content;
    this.#method = method ?? (this.#body === undefined ? "GET" : "POST");
    const typed = json === undefined ? {} : { "content-type": "application/json" };
    this.#headers = headersOf(options.headers, { accept: "application/json", "accept-encoding": "gzip, br", ...typed });
  }

  async run(): Promise<HttpAnswer> {
    const { repeatable = REPEATABLE.has(this.#method) } = this.#options;
    for (let failures = 0; ; ) {
      const ended = await this.#attempt();
      if ("answer" in ended) return ended.answer;
      const { isTransient = false, unsent = false, response } = ended;
      const pause = Math.max(backOffMs(failures++), (response && (retryAfterOf(response.headers) ?? 0) * 1000) ?? 0);
      const mayRepeat = isTransient && (repeatable || unsent) && failures < this.#maxAttempts;
      if (!mayRepeat || pause >= this.#msLeft()) throw this.#error(ended);
      await setTimeout(pause, undefined, { signal: this.#context.signal }).catch(() => {});
      this.#context.signal.throwIfAborted();
    }
  }

  #msLeft(): number {
    return this.#context.deadline - performance.now() - RESERVE_MS;
  }

  async #attempt(): Promise<{ readonly answer: HttpAnswer } | Failure> {
    const { signal } = this.#context;
    signal.throwIfAborted();
    const { accept = [], dispatcher, publicOnly = false } = this.#options;
    const limit = Math.floor(Math.min(this.#timeoutMs, this.#msLeft()));
    if (limit <= 0) return { kind: "timeout", why: "too little time is left until the deadline of the call" };
    const read = new AnswerBytes(signal);
    let response: HttpResponse;
    try {
      if (publicOnly) checkHost(this.#url);
      const given = dispatcher ?? (publicOnly ? await publicAgent() : undefined);
      const transport = given === undefined ? SHARED : new HttpClient({ dispatcher: given });
      this.#attempts++;
      response = await transport.send({
        method: this.#method,
        url: this.#url,
        headers: Object.fromEntries(this.#headers),
        ...(this.#body !== undefined && { body: this.#body }),
        timeoutMs: limit,
        maxBytes: this.#maxBytes,
        admit: (bytes) => read.add(bytes),
        signals: [signal],
      });
    } catch (error) {
      read.keep(0);
      signal.throwIfAborted();
      return overloaded(read) ?? failureOf(error);
    }
    const { status } = response;
    if (REDIRECTS.has(status) && !accept.includes(status)) {
      return { kind: "invalid_answer", why: "redirects are not followed: use the final URL", response };
    }
    const body = await this.#decoded(response, read);
    if ("kind" in body) {
      read.keep(0);
      return body;
    }
    read.keep(body.bytes.length);
    if ((status >= 200 && status < 300) || accept.includes(status))
      return { answer: this.#answer(response, body.bytes) };
    return {
      kind: "status",
      why: `status ${status}`,
      isTransient: TRANSIENT.has(status),
      response: { ...response, body: body.bytes },
    };
  }

  async #decoded({ headers, body }: HttpResponse, read: AnswerBytes): Promise<{ readonly bytes: Buffer } | Failure> {
    const encoding = String(headers["content-encoding"] ?? "identity").toLowerCase();
    const decoder = DECODERS.get(encoding);
    if (encoding === "identity" || body.length === 0) return { bytes: body };
    if (decoder === undefined) return { kind: "invalid_answer", why: "the content encoding is neither gzip nor br" };
    const chunks: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of decoder().end(body) as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > this.#maxBytes) return failureOf(tooLarge(this.#maxBytes));
        const full = read.add(chunk.length) ? undefined : overloaded(read);
        if (full !== undefined) return full;
        chunks.push(chunk);
      }
    } catch (error) {
      return { kind: "invalid_answer", why: `the body is not ${encoding}`, cause: error };
    }
    return { bytes: Buffer.concat(chunks, size) };
  }

  #answer({ status, headers }: HttpResponse, bytes: Uint8Array): HttpAnswer {
    const joined = Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : value,
    ]);
    const invalid = (why: string, cause: unknown) => this.#error({ kind: "invalid_answer", why, cause });
    return {
      status,
      headers: Object.fromEntries(joined),
      bytes,
      attempts: this.#attempts,
      text: () => {
        try {
          return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
        } catch (error) {
          throw invalid("the body is not UTF-8", error);
        }
      },
      json: () => {
        try {
          return readJson(bytes);
        } catch (error) {
          if (!(error instanceof JsonError)) throw error;
          throw invalid(`the body is not JSON: ${error.message}`, undefined);
        }
      },
    };
  }

  #error({ kind, why, response, cause }: Failure): HttpError {
    const attempts = this.#attempts;
    const times = attempts === 1 ? "" : `, ${attempts} attempts`;
    const answer = response && this.#answer(response, response.body);
    const message = `${this.#method} ${this.#url.host}: ${why}${times}`;
    return new HttpError(kind, message, { attempts, answer, cause });
  }
}

const DECODERS: ReadonlyMap<string, () => Gunzip | BrotliDecompress> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
]);

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Adds the tool's headers to the default ones. Checks them itself, because the messages of `Headers` contain the value.
 *
 * @throws TypeError
 */
function headersOf(given: HttpOptions["headers"] = {}, defaults: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(defaults);
  for (const [i, [name, value]] of Object.entries(given).entries()) {
    if (!HEADER_NAME.test(name)) {
      throw new TypeError(`http: headers: the name of header ${i + 1} has a character that HTTP does not allow`);
    }
    const place = `http: headers: ${JSON.stringify(name)}`;
    if (typeof value !== "string") throw new TypeError(`${place}: expected a string, got ${kindOf(value)}`);
    // HTTP ignores whitespace around a value, for example the line break at the end of a file.
    const text = value.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, "");
    if (!HEADER_VALUE.test(text)) {
      throw new TypeError(`${place}: the value has a character that HTTP does not allow, such as a line break`);
    }
    headers.set(name, text);
  }
  return headers;
}

/** Whether the entries of a value are its members: not so for `Headers`, `URLSearchParams`, `Map` and lists. */
function isRecord(value: unknown): boolean {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value);
}

function overloaded({ refused }: AnswerBytes): Failure | undefined {
  return refused === undefined ? undefined : { kind: "overloaded", why: refused, isTransient: true };
}

/** Kind of a failed attempt, from the code of its cause. */
function failureOf(error: unknown): Failure {
  if (error instanceof ForbiddenAddress) return { kind: "forbidden_address", why: error.message };
  if (!(error instanceof LeaderError)) throw error;
  const { cause, details: why = "the connection broke" } = error;
  const unsent = error.ran === "no";
  const { code = "", message = "" } = (cause ?? {}) as NodeJS.ErrnoException;
  if (/^UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/.test(code)) {
    throw new TypeError(`http: the request cannot be sent: ${why}`);
  }
  if (error.code === "answer_too_large") return { kind: "too_large", why };
  if (error.code === "timeout") return { kind: "timeout", why, isTransient: true, unsent };
  if (cause instanceof ForbiddenAddress) return { kind: "forbidden_address", why: cause.message };
  if (/^(?:ENOTFOUND|EAI_AGAIN|ENODATA)$/.test(code)) {
    return { kind: "dns", why: "the host name has no address", isTransient: code === "EAI_AGAIN", unsent, cause };
  }
  if (/CERT|SIGNATURE|ISSUER|^ERR_(?:TLS|SSL)|^EPROTO$/.test(code) || /\b(?:TLS|SSL)\b/.test(message)) {
    return { kind: "tls", why: /^the TLS/.test(why) ? why : code || "the handshake failed", unsent, cause };
  }
  return { kind: "connection", why, isTransient: true, unsent, cause };
}
