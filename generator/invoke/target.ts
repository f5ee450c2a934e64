/** Tool that `svc-gen invoke` calls: a URL, or a tool of the project under development. */

import { type CliHost, CommandError, UsageError } from "../cli/command.js";
import { devServers } from "../dev/dev-state.js";
import { type ServedDocument, servedDocuments } from "../dev/served-documents.js";
import { readMetaJson } from "../files/output-files.js";
import type { ExchangeRequest } from "../http/exchange.js";
import { toolAddress } from "../http/tools-at.js";
import { DEFAULT_SERVER, schemeAdvice } from "../tools/tool-addresses.js";
import { toolNamed } from "./tool-names.js";

export interface Target {
  /** The tool's address, without a trailing slash. */
  readonly url: string;
  /** Set only for a tool of the project. */
  readonly tool?: ServedDocument;
}

/**
 * Resolves the tool named on the command line.
 *
 * @param name a URL, an FQN with or without version, the last part of its name, or a path; undefined for the only tool
 * @param root folder of the project
 * @param signed whether the call is signed; selects between the project's signed and unsigned development server
 * @throws UsageError
 */
export async function targetOf(
  name: string | undefined,
  root: string,
  env: CliHost["env"],
  signed: boolean,
  tls?: ExchangeRequest["tls"],
): Promise<Target> {
  if (name !== undefined && /^https?:\/\//i.test(name)) return { url: await addressIn(name, tls) };
  const advice = schemeAdvice(name ?? "");
  if (advice !== "") throw new UsageError(`invoke expects a URL${advice}`);
  const tool = toolNamed("invoke", name, await servedTools(root, env, signed), "a URL");
  return { url: tool.url, tool };
}

async function addressIn(url: string, tls: ExchangeRequest["tls"]): Promise<string> {
  if (!URL.canParse(url)) throw new UsageError(`invoke expects a URL such as ${DEFAULT_SERVER}/sum`);
  return toolAddress(url, tls);
}

async function servedTools(root: string, env: CliHost["env"], signed: boolean): Promise<ServedDocument[]> {
  const text = readMetaJson(root);
  if (text === undefined) throw new UsageError("the project has no meta.json: run svc-gen, or pass the URL of a tool");
  const servers = await devServers(root, env);
  const server = servers.find((each) => each.signed === signed) ?? servers[0];
  try {
    return servedDocuments(text, server?.url ?? DEFAULT_SERVER);
  } catch {
    throw new CommandError("meta.json cannot be read", "run svc-gen");
  }
}
