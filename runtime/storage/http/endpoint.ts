/**
 * A configured publisher or aggregator: its address, and headers that are sent only to this server. Neither appears in
 * messages, `util.inspect` or `JSON.stringify`.
 */

import { validateHeaderName, validateHeaderValue } from "node:http";
import { isLoopback } from "svc-client/internal/loopback";
import { StorageError } from "../storage-error.js";

/** Kind of server; the first word of messages about it. */
export type Role = "publisher" | "aggregator";

/** Headers of one request, by name. Treated as secrets. */
export type SecretHeaders = Readonly<Record<string, string>>;

/** Configuration of a server, set by the operator. Never derive it from a tool's input. */
export interface EndpointOptions {
  /** `https://…` or `http://…` without user information, query and fragment. A path is used as a prefix. */
  readonly url: string | URL;
  /**
   * Credentials such as `{ Authorization: "Bearer …" }`, or a function that returns them for each request (the JWT of a
   * Walrus publisher may be valid for one upload only). Sent only to this server; over plain http only to this machine,
   * unless `plaintextHeaders` is set.
   */
  readonly headers?: SecretHeaders | (() => SecretHeaders | Promise<SecretHeaders>);
  /** Sends `headers` over plain http to other machines too, for a service mesh that encrypts the connection. */
  readonly plaintextHeaders?: boolean;
  /** Trusted certificates in PEM format, instead of the system's. */
  readonly ca?: string | Buffer;
}

/** Headers that http-exchange.ts or undici sets. */
const RESERVED =
  /^(?:accept-encoding|connection|content-(?:encoding|length|type)|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

export class Endpoint {
  readonly #base: URL;
  readonly #headers: EndpointOptions["headers"];
  readonly ca: string | Buffer | undefined;

  /** @throws {@link StorageError} `invalid_option` */
  constructor(
    readonly role: Role,
    { url, headers, plaintextHeaders = false, ca }: EndpointOptions,
  ) {
    const invalid = (reason: string) => new StorageError("invalid_option", `${role}: ${reason}`);
    if (!URL.canParse(String(url))) throw invalid("url: expected an absolute URL");
    const base = new URL(url);
    if (base.protocol !== "https:" && base.protocol !== "http:")
      throw invalid("url: expected the scheme https or http");
    if (base.username !== "" || base.password !== "") {
      throw invalid("url: expected no user name and no password: pass credentials as `headers`");
    }
    if (base.search !== "" || base.hash !== "" || /[?#]/.test(base.href)) {
      throw invalid("url: expected no query and no fragment");
    }
    if (headers !== undefined && base.protocol === "http:" && !isLoopback(base.hostname) && !plaintextHeaders) {
      throw invalid("url: expected https, because `headers` would be sent unencrypted");
    }
    base.pathname = base.pathname.replace(/\/+$/, "");
    this.#base = base;
    this.#headers = typeof headers === "object" ? checkedHeaders(role, headers) : headers;
    this.ca = ca;
  }

  /** Address of a resource below the prefix. */
  address(path: string, query: Readonly<Record<string, string>> = {}): URL {
    const address = new URL(this.#base);
    address.pathname = `${this.#base.pathname === "/" ? "" : this.#base.pathname}${path}`;
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    return address;
  }

  /** @throws {@link StorageError} `invalid_option` if the function fails or returns invalid headers */
  async headers(): Promise<Record<string, string>> {
    if (typeof this.#headers !== "function") return { ...this.#headers };
    let headers: SecretHeaders;
    try {
      headers = await this.#headers();
    } catch {
      // Without the cause, which may contain credentials.
      throw new StorageError("invalid_option", `${this.role}: headers: the function that returns them failed`);
    }
    return checkedHeaders(this.role, headers);
  }
}

function checkedHeaders(role: Role, headers: SecretHeaders): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    try {
      if (RESERVED.test(name)) throw new TypeError("reserved");
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      // Without the error of node:http, which may quote the value.
      throw new StorageError(
        "invalid_option",
        `${role}: headers: expected valid HTTP names and values, without headers that the storage sets itself`,
      );
    }
  }
  return { ...headers };
}
