import type { ToolHints } from "svc-runtime/internal/generator";
import type { TlsOptions } from "svc-runtime/leader";
import { CommandError } from "../cli/command.js";
import { toolsAt } from "../http/tools-at.js";

/**
 * Lists the tools at a URL, by address with their hints: a URL of one tool gives that tool, a URL of a server all tools
 * in its `/tools`.
 *
 * @throws CommandError
 */
export async function toolAddresses(url: string, tls: TlsOptions | undefined): Promise<ReadonlyMap<string, ToolHints>> {
  let found: Awaited<ReturnType<typeof toolsAt>>;
  try {
    found = await toolsAt(url, tls);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandError(error.message, "pass the URL of one tool");
  }
  const { address, meta, addresses, hints } = found;
  if (meta !== undefined && meta.response === undefined)
    throw new CommandError(
      `no answer from ${address}: ${meta.failure?.message}`,
      "start the server, or correct the URL",
    );
  if (addresses.length === 0) throw new CommandError(`${address}/tools lists no tools`, "pass the URL of a tool");
  return new Map(addresses.map((each) => [each, hints.get(each) ?? {}]));
}
