import type { TlsOptions } from "svc-runtime/leader";
import { CommandError } from "../cli/command.js";
import { exchange } from "../http-exchange.js";
import { listedTools, toolAddress } from "../tool-addresses.js";

const TIMEOUT_MS = 10_000;
/** Maximum number of tools. */
const MAX_TOOLS = 1_000;

/**
 * Lists the addresses of tools: a URL of one tool gives that tool, a URL of a server all tools in its `/tools`.
 *
 * @throws CommandError
 */
export async function toolAddresses(url: string, tls: TlsOptions | undefined): Promise<readonly string[]> {
  const { origin, pathname } = new URL(url);
  const address = toolAddress(`${origin}${pathname.replace(/\/tools\/*$/, "")}`);
  if (address !== origin) return [address];
  const headers = [["Accept", "application/json"]] as const;
  const to = { method: "GET", url: new URL("/tools", origin), headers } as const;
  const { response, failure } = await exchange({ ...to, timeoutMs: TIMEOUT_MS, tls });
  if (response === undefined)
    throw new CommandError(`no answer from ${origin}: ${failure?.message}`, "start the server, or correct the URL");
  const tools = response.status === 200 ? (listedTools(origin, response.body) ?? []) : [];
  if (tools.length === 0) throw new CommandError(`${origin}/tools lists no tools`, "pass the URL of a tool");
  if (tools.length > MAX_TOOLS) {
    throw new CommandError(
      `${origin} lists ${tools.length} tools; at most ${MAX_TOOLS} are supported`,
      "pass the URL of one tool",
    );
  }
  return tools;
}
