/** The tool that `svc-gen invoke` calls: a URL, or a tool of the project under development. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, UsageError } from "../commands/command.js";
import { devServers } from "../dev/dev-state.js";
import { type ServedDocument, servedDocuments } from "../dev/served-documents.js";
import { toolNamed } from "./tool-names.js";

export interface Target {
  /** The tool's address, without a trailing slash. */
  readonly url: string;
  /** Known for a tool of the project. */
  readonly tool?: ServedDocument;
}

const DEFAULT_SERVER = "http://127.0.0.1:8080";

/**
 * Finds the tool that a command line names.
 *
 * @param name a URL, an FQN with or without version, the last part of its name, or a path; undefined for the only tool
 * @param signed whether the call is signed: of two servers of the project the one that is meant for it
 * @throws UsageError
 */
export function targetOf(name: string | undefined, root: string, signed: boolean): Target {
  if (name !== undefined && /^https?:\/\//i.test(name)) return { url: toolUrl(name) };
  const tool = toolNamed("invoke", name, projectTools(root, signed), "a URL");
  return { url: tool.url, tool };
}

function toolUrl(text: string): string {
  if (!URL.canParse(text)) throw new UsageError("invoke wants a URL such as http://127.0.0.1:8080/sum");
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replace(/\/(?:invoke|meta|health)?\/*$/, "")}`;
}

function projectTools(root: string, signed: boolean): ServedDocument[] {
  let text: string;
  try {
    text = readFileSync(join(root, "meta.json"), "utf8");
  } catch {
    throw new UsageError("there is no meta.json here: run svc-gen, or give the URL of a tool");
  }
  const servers = devServers(root);
  const server = servers.find((each) => each.signed === signed) ?? servers[0];
  try {
    return servedDocuments(text, server?.url ?? DEFAULT_SERVER);
  } catch {
    throw new CommandError("meta.json cannot be read", "run svc-gen");
  }
}
