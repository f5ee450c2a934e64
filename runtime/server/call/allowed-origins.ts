/**
 * Web pages that may call a server. In unsigned mode, any web page can make a browser send a simple POST to this host
 * or its private network, so requests from pages are rejected unless their origin is listed.
 */

import { RequestError } from "../errors/request-error.js";
import type { RequestHeaders } from "./messages.js";

const REFUSED = "Origin: requests of web pages are refused unless their origin is allowed by name";

/** Origins of web pages that may call a server and read its answers. */
export class AllowedOrigins {
  readonly #names: ReadonlySet<unknown>;

  /** @throws RangeError unless each name is an http or https origin as browsers send it (RFC 6454 section 6.1) */
  constructor(names: readonly string[] = []) {
    for (const name of names) {
      if (URL.canParse(name) && new URL(name).origin === name) continue;
      throw new RangeError(
        `allowedOrigins: expected origins as browsers send them, such as https://app.example or http://localhost:3000, got ${JSON.stringify(name)}`,
      );
    }
    this.#names = new Set(names);
  }

  get isEmpty(): boolean {
    return this.#names.size === 0;
  }

  has(origin: string | readonly string[] | undefined): origin is string {
    return this.#names.has(origin);
  }

  /**
   * Checks the origin of an unsigned request. Does not compare `Host`, because DNS rebinding gives pages of other sites
   * a matching `Host`.
   *
   * @throws {@link RequestError} `permission_denied`
   */
  check({ headers }: RequestHeaders): undefined {
    const { origin, "sec-fetch-site": site } = headers;
    // `none`: the user started the request, not a page (Fetch Metadata section 2.4).
    const isAllowed = origin === undefined ? site === undefined || site === "none" : this.has(origin);
    if (!isAllowed) throw new RequestError("permission_denied", REFUSED);
  }
}
