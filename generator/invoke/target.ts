/** Tool that `svc-gen invoke` calls: a URL, or a tool of the project under development. */

import { type CliHost, CommandError, UsageError } from "../cli/command.js";
import { devServers } from "../dev/dev-state.js";
import { type ServedDocument, servedDocuments } from "../dev/served-documents.js";
import { readOutput } from "../files/output-files.js";
import { toolNamed } from "./tool-names.js";

export interface Target {
  /** The tool's address, without a trailing slash. */
  readonly url: string;
  /** Set only for a tool of the project. */
  readonly tool?: ServedDocument;
}

const DEFAULT_SERVER = "http://127.0.0.1:8080";

/**
 * Resolves the tool named on the command line.
 *
 * @param name a URL, an FQN with or without version, the last part of its name, or a path; undefined for the only tool
 * @param signed whether the call is signed; selects between the project's signed and unsigned development server
 * @throws UsageError
 */
export async function targetOf(
  name: string | undefined,
  { cwd, env }: Pick<CliHost, "cwd" | "env">,
  signed: boolean,
): Promise<Target> {
  if (name !== undefined && /^https?:\/\//i.test(name)) return { url: toolUrl(name) };
  if (name !== undefined && /^[\w.-]+:\d{1,5}(?:\/|$)/.test(name)) {
    throw new UsageError(`the URL has no scheme: write http://${name}`);
  }
  const tool = toolNamed("invoke", name, await projectTools(cwd, env, signed), "a URL");
  return { url: tool.url, tool };
}

function toolUrl(text: string): string {
  if (!URL.canParse(text)) throw new UsageError("invoke expects a URL such as http://127.0.0.1:8080/sum");
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/(?:invoke|meta|health)?\/*$/, "")}`;
}

async function projectTools(root: string, env: CliHost["env"], signed: boolean): Promise<ServedDocument[]> {
  const text = readOutput(root, "meta.json")?.toString();
  if (text === undefined) throw new UsageError("this folder has no meta.json: run svc-gen, or pass the URL of a tool");
  const servers = await devServers(root, env);
  const server = servers.find((each) => each.signed === signed) ?? servers[0];
  try {
    return servedDocuments(text, server?.url ?? DEFAULT_SERVER);
  } catch {
    throw new CommandError("meta.json cannot be read", "run svc-gen");
  }
}
