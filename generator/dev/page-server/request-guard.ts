/**
 * Restricts the page's server to requests of its own page. Rejects requests from other origins, and those whose host
 * name was rebound to this machine (DNS rebinding), before their body is read.
 */

import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";

export type Admission = { readonly path: string } | { readonly status: 403 | 404 | 405; readonly why: string };

export const MCP_PATH = "/mcp";

export class RequestGuard {
  readonly #token: Buffer;

  readonly #host: string | { readonly names: readonly string[] };

  /**
   * @param host the only accepted `Host` (address and port), or accepted host names. With names, `localhost`, any IP
   * address and any port are accepted too: only names can be rebound to another address, and a port may be forwarded
   * @param token first segment of every path
   */
  constructor(host: string | { readonly names: readonly string[] }, token: string) {
    this.#host = host;
    this.#token = Buffer.from(token);
  }

  /** Path after the token, such as `/api/call`, or the rejection. */
  check({ method, url = "", headers }: Pick<IncomingMessage, "method" | "url" | "headers">): Admission {
    if (!this.#isOwn(headers.host ?? "")) return { status: 403, why: "wrong Host" };
    const isRead = method === "GET";
    const [, token = "", path = ""] = /^\/([^/?]*)(\/[^?]*)?/.exec(url) ?? [];
    const isOpen = this.#isToken(token);
    // Browsers send Origin with every request except GET and HEAD. MCP clients do not.
    const needsOrigin = !isRead && !(isOpen && path === MCP_PATH);
    if (headers.origin === undefined ? needsOrigin : headers.origin !== `http://${headers.host}`) {
      return { status: 403, why: "wrong Origin" };
    }
    const site = headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin" && site !== "none")
      return { status: 403, why: "sent from another site" };
    if (!isOpen) return { status: 404, why: "not found" };
    if (!isRead && method !== "POST") return { status: 405, why: "only GET and POST are allowed" };
    return { path };
  }

  #isOwn(host: string): boolean {
    if (typeof this.#host === "string") return host === this.#host;
    const name = host.replace(/:\d+$/, "");
    return name === "localhost" || this.#host.names.includes(name) || isIP(name.replace(/^\[|\]$/g, "")) > 0;
  }

  #isToken(given: string): boolean {
    const bytes = Buffer.from(given);
    return bytes.length === this.#token.length && timingSafeEqual(bytes, this.#token);
  }
}
