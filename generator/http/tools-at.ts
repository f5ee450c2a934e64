/** The tools at a URL, which may be that of a server, of one tool, or of an endpoint of one. */

import type { ToolHints } from "svc-runtime/internal/generator";
import type { TlsOptions } from "svc-runtime/leader";
import { hintsIn } from "../tools/hints.js";
import { addressAt } from "../tools/tool-addresses.js";
import { canonicalPath } from "../tools/tool-path.js";
import { type ExchangeRequest, exchange, type HttpExchange } from "./exchange.js";

const TIMEOUT_MS = 10_000;
/** Maximum number of tools of one server. */
const MAX_TOOLS = 1_000;

export interface ToolsAt {
  /** Address of the tool or of the server, without a trailing slash. */
  readonly address: string;
  /** Answer to `GET /meta` of this address; undefined if `GET /tools` lists tools. */
  readonly meta: HttpExchange | undefined;
  /** Addresses that `GET /tools` lists, or else the address if a tool is there. */
  readonly addresses: readonly string[];
  /** Hints of the tools by address, as far as the server gives them. */
  readonly hints: ReadonlyMap<string, ToolHints>;
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
  const list = await getDocument(`${address}/tools?details`, tls);
  const listed = toolsIn(address, list);
  // A server without a tool at its root logs a request to /meta as refused.
  const meta = listed.size > 0 ? undefined : await getDocument(`${address}/meta`, tls);
  const isTool = meta?.response?.status === 200;
  const addresses = isTool ? [address] : [...listed.keys()];
  const hints = isTool ? new Map([[address, await hintsOf(address, tls, folderOf(address))]]) : listed;
  if (addresses.length > MAX_TOOLS) {
    throw new RangeError(`${address} has ${addresses.length} tools; at most ${MAX_TOOLS} are supported`);
  }
  return { address, meta, addresses, hints };
}

/** Hints of the tools that a server lists, by address. Empty if it lists none. */
function toolsIn(server: string, { response }: HttpExchange): ReadonlyMap<string, ToolHints> {
  return new Map(response?.status === 200 ? listedTools(server, response.body) : []);
}

/**
 * Hints of one tool, from the list of the server whose address begins that of the tool.
 *
 * @param from longest address of a server to ask
 */
export async function hintsOf(tool: string, tls: TlsOptions | undefined, from = tool): Promise<ToolHints> {
  const { origin } = new URL(tool);
  for (let server = from; server.length >= origin.length; server = folderOf(server)) {
    const found = toolsIn(server, await getDocument(`${server}/tools?details`, tls)).get(tool);
    if (found !== undefined) return found;
  }
  return {};
}

const folderOf = (address: string) => address.slice(0, address.lastIndexOf("/"));

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
 * Addresses and hints of the tools that an answer to `GET /tools` lists, with or without details; undefined for any
 * other answer.
 *
 * @param server address of the server, without a trailing slash
 */
export function listedTools(server: string, answer: Buffer): [address: string, hints: ToolHints][] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(answer.toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((each: unknown): [string, ToolHints][] => {
    const { path = each, hints } = Object(each) as { readonly path?: unknown; readonly hints?: unknown };
    return typeof path === "string" ? [[addressAt(server, canonicalPath(path)), hintsIn(hints)]] : [];
  });
}
