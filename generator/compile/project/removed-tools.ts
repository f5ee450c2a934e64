/** Notes the tools in the meta.json on disk that no class of the project has any more. */

import { join } from "node:path";
import { readJsonFile } from "../../files/read-file.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import type { Layout } from "./layout.js";

/** @param present FQNs of the tools of the project */
export function removedTools({ root }: Layout, present: readonly string[]): Diagnostic[] {
  const known = new Set(present);
  // Any JSON may be in the file, if svc-gen did not write it.
  return [readJsonFile(join(root, "meta.json"))]
    .flat()
    .map((each) => (Object(each) as { readonly fqn?: unknown }).fqn)
    .filter((fqn) => typeof fqn === "string")
    .filter((fqn) => !known.has(fqn))
    .map((fqn) => diagnostic("SVC106", {}, fqn));
}
