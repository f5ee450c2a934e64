/** The tools at a URL, which may be that of a server, of one tool, or of an endpoint of one. */

import type { TlsOptions } from "svc-runtime/leader";
import { addressAt } from "../tools/tool-addresses.js";
import { canonicalPath } from "../tools/tool-path.js";
import { type ExchangeRequest, exchange, type HttpExchange } from "./exchange.js";

const TIMEOUT_MS = 10_000;
/** Maximum number of tools of one server. */
const MAX_TOOLS = 1_000;

export interface ToolsAt {
  /** Address of the tool or of the server, without a trailing slash. */
  readonly address: string;
  /** Answer to `GET /meta` of this address. */
  readonly meta: HttpExchange;
  /** Addresses that `GET /tools` lists, or else the address if a tool is there. */
  readonly addresses: readonly string[];
}

/** Reads one document of a server. */
export function getDocument(address: string, tls: ExchangeRequest["tls"]): Promise<HttpExchange> {
  const headers = [["Accept", "application/json"]] as const;
  return exchange({ method: "GET", url: new URL(address), headers, timeoutMs: TIMEOUT_MS, tls });
}

/**
 * Finds the tools at a URL.
 *
 * @throws RangeError if the server lists too many
 */
export async function toolsAt(url: string, tls: TlsOptions | undefined): Promise<ToolsAt> {
  const address = await toolAddress(url.replace(/\/tools\/*$/, ""), tls);
  const meta = await getDocument(`${address}/meta`, tls);
  const own = meta.response?.status === 200 ? [address] : [];
  const { response } = meta.response === undefined ? meta : await getDocument(`${address}/tools`, tls);
  const listed = response?.status === 200 ? listedTools(address, response.body) : undefined;
  const addresses = [...new Set(listed === undefined || listed.length === 0 ? own : listed)];
  if (addresses.length > MAX_TOOLS) {
    throw new RangeError(`${address} has ${addresses.length} tools; at most ${MAX_TOOLS} are supported`);
  }
  return { address, meta, addresses };
}

/**
 * Address of a tool, without a trailing slash, from the URL of the tool or of one of its endpoints. If the path ends in
 * the name of an endpoint, which may be the path of a tool, the server is asked for a tool there.
 */
export async function toolAddress(url: string | URL, tls?: ExchangeRequest["tls"]): Promise<string> {
  const { origin, pathname } = new URL(url);
  const whole = `${origin}${pathname.replace(/\/+$/, "")}`;
  const shorter = whole.replace(/\/(?:invoke|meta|health)$/, "");
  if (shorter === whole) return whole;
  const { response } = await getDocument(`${whole}/meta`, tls);
  return response?.status === 200 ? whole : shorter;
}

/**
 * Addresses of the tools that an answer to `GET /tools` lists; undefined for any other answer.
 *
 * @param server address of the server, without a trailing slash
 */
export function listedTools(server: string, answer: Buffer): string[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(answer.toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  return list.filter((each) => typeof each === "string").map((path) => addressAt(server, canonicalPath(path)));
}
