/** Metadata document of a served tool (protocol.md section 9), and its URL. */

import { isIP } from "node:net";
import type { Contract } from "svc-client/internal/wire/codec/contract";
import { plainText } from "svc-client/internal/wire/json/untyped-json";
import { SvcTool, type SvcToolClass } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import { metadataText } from "../wire/metadata.js";
import type { RequestHeaders } from "./messages.js";

/**
 * Document of a tool: the result of the class's own `meta`, otherwise the document that svc-gen derived.
 *
 * @throws {@link PlainValueError} if `meta` returns a value that JSON cannot represent
 */
export function documentOf(tool: SvcToolClass, contract: Contract, url: string): string {
  if (tool.meta === undefined || tool.meta === SvcTool.meta) return metadataText(contract, url);
  return plainText(tool.meta(url));
}

const LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?";
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*\\.?$`);
/** Names that URL parsers read as an IPv4 address, in any notation (WHATWG URL, "ends in a number"). */
const NUMERIC = /(?:^|\.)(?:\d+|0[xX][0-9A-Fa-f]*)\.?$/;

/** Whether a text is a host name, an IPv4 address or a bracketed IPv6 address, with an optional port. */
function isHost(text: string): boolean {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text);
  if (match === null || text.length > 255 || Number(match[2] ?? 0) > 65_535) return false;
  const host = match[1] as string;
  if (host.startsWith("[")) return isIP(host.slice(1, -1)) === 6;
  return NUMERIC.test(host) ? isIP(host) === 4 : host.length <= 253 && NAME.test(host);
}

/**
 * Scheme and host that a caller used to reach this process.
 *
 * @param secure whether this process terminates TLS
 * @throws {@link RequestError} `invalid_scheme`, `host_header_required`
 */
export function originOf({ headers }: Pick<RequestHeaders, "headers">, secure: boolean): string {
  // A repeated header arrives as a comma-separated list, which is neither a scheme nor a host.
  const scheme = headers["x-forwarded-proto"] ?? (secure ? "https" : "http");
  if (scheme !== "http" && scheme !== "https") {
    throw new RequestError("invalid_scheme", "X-Forwarded-Proto: expected http or https");
  }
  const forwarded = headers["x-forwarded-host"];
  const host = forwarded ?? headers.host;
  if (typeof host !== "string" || !isHost(host)) {
    const name = forwarded === undefined ? "Host" : "X-Forwarded-Host";
    throw new RequestError("host_header_required", `${name}: expected a host name or address with an optional port`);
  }
  return `${scheme}://${host}`;
}
