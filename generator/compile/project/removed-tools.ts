/** Notes the tools in the meta.json on disk that no class of the project has any more. */

import { join } from "node:path";
import { readJsonFile } from "../../files/read-file.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import type { Layout } from "./layout.js";

/** @param present FQNs of the tools of the project */
export function removedTools({ root }: Layout, present: readonly string[]): Diagnostic[] {
  const known = new Set(present);
  return fqnsOf(readJsonFile(join(root, "meta.json")))
    .filter((fqn) => !known.has(fqn))
    .map((fqn) => diagnostic("SVC106", {}, fqn));
}

/** FQNs in a meta.json of svc-gen; empty for any other JSON. */
function fqnsOf(listed: unknown): string[] {
  return [listed]
    .flat()
    .map((each) => (Object(each) as { readonly fqn?: unknown }).fqn)
    .filter((fqn) => typeof fqn === "string");
}
