/** `#platform/http-client` without Node: the platform's `fetch`, with the same limits of time and size. */

import { Buffer } from "#platform/bytes";
import { MAX_TIMER_MS } from "../../storage/deadline.js";
import { LeaderError } from "../error.js";
import {
  aborted,
  connectionLost,
  type HttpRequest,
  type HttpResponse,
  late,
  type TlsOptions,
  tooLarge,
} from "../http-messages.js";

/** Client of one server. The platform keeps the connections. */
export class HttpClient {
  /** @throws TypeError for TLS options, which `fetch` does not have */
  constructor(_secure: boolean, tls?: TlsOptions) {
    if (tls !== undefined)
      throw new TypeError("tls: expected none, since only Node can change which servers are trusted");
  }

  /** @throws {@link LeaderError} `connection_failed`, `timeout`, `aborted`, `answer_too_large`, `invalid_answer` */
  async send({ method, url, headers, body, timeoutMs, maxBytes, signal }: HttpRequest): Promise<HttpResponse> {
    if (signal?.aborted) throw aborted(signal);
    const control = new AbortController();
    const onAbort = () => control.abort(aborted(signal));
    const timer = setTimeout(() => control.abort(late(timeoutMs)), Math.min(Math.max(0, timeoutMs), MAX_TIMER_MS));
    signal?.addEventListener("abort", onAbort, { once: true });
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
      signal?.removeEventListener("abort", onAbort);
    }
  }

  close(): void {}
}

/** Neither cookies nor a cache, on platforms that have them: others refuse the members. */
const PRIVATE: RequestInit = {
  ...("credentials" in Request.prototype && { credentials: "omit" }),
  ...("cache" in Request.prototype && { cache: "no-store" }),
};

async function begin(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    // A browser gives a page no reason, which could reveal something about another site.
    const reason = "no answer: the server is not reached, or does not allow this page by `allowedOrigins`";
    throw new LeaderError("connection_failed", reason, { cause });
  }
}

async function collect({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw connectionLost(cause);
    });
    if (done) break;
    size += value.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(value);
  }
  return Buffer.concat(chunks, size);
}
