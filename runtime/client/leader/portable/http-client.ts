/**
 * `#platform/http-client` for platforms without Node: the platform's `fetch`, with the same limits of time and size.
 * `fetch` reports nothing about the connection, so a call certainly sent nothing only if it failed before `fetch`.
 */

import { Buffer } from "#platform/bytes";
import { MAX_TIMEOUT_MS } from "../../wire/protocol.js";
import { LeaderError } from "../error.js";
import {
  aborted,
  type HttpRequest,
  type HttpResponse,
  late,
  type Transport,
  type TransportOptions,
  tooLarge,
} from "../transport/transport.js";
import { onAbort } from "../waiting.js";

/** HTTP client. The platform manages the connections. */
export class HttpClient implements Transport {
  /** @throws TypeError for connection options, which `fetch` does not support */
  constructor(options: TransportOptions = {}) {
    for (const name of ["tls", "dispatcher"] as const) {
      if (options[name] !== undefined) {
        throw new TypeError(`${name}: supported only in Node; remove it`);
      }
    }
  }

  /** @throws {@link LeaderError} `connection_failed`, `timeout`, `aborted`, `answer_too_large`, `invalid_answer` */
  async send({ method, url, headers, body, timeoutMs, maxBytes, signals }: HttpRequest): Promise<HttpResponse> {
    const fired = signals.find(({ aborted }) => aborted);
    if (fired !== undefined) throw aborted(fired).with({ ran: "no" });
    const control = new AbortController();
    const ignore = onAbort(signals, (signal) => control.abort(aborted(signal)));
    const timer = setTimeout(() => control.abort(late(timeoutMs)), Math.min(Math.max(0, timeoutMs), MAX_TIMEOUT_MS));
    try {
      const response = await begin(url, {
        method,
        headers,
        redirect: "manual",
        signal: control.signal,
        ...PRIVATE,
        ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
      });
      if (response.type === "opaqueredirect") {
        throw new LeaderError("invalid_answer", "the server answered with a redirect, which is not followed");
      }
      const bytes = await collect(response, maxBytes);
      return { status: response.status, headers: Object.fromEntries(response.headers), body: bytes };
    } catch (error) {
      control.abort();
      throw control.signal.reason instanceof LeaderError ? control.signal.reason : error;
    } finally {
      clearTimeout(timer);
      ignore();
    }
  }

  close(): void {}
}

/** Disables cookies and cache on platforms that have them; other platforms reject these members. */
const PRIVATE: RequestInit = {
  ...("credentials" in Request.prototype && { credentials: "omit" }),
  ...("cache" in Request.prototype && { cache: "no-store" }),
};

async function begin(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    // Browsers hide the reason from pages, because it could reveal something about another site.
    const reason = "no answer: the server is unreachable, or its `allowedOrigins` do not include this page";
    throw new LeaderError("connection_failed", reason, { cause });
  }
}

async function collect({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new LeaderError("connection_failed", "the connection ended before the answer did", { cause });
    });
    if (done) break;
    size += value.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
  return Buffer.concat(chunks, size);
}
