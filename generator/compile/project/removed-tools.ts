/** Reports tools in the meta.json on disk that no class of the project has any more. */

import { join } from "node:path";
import { readJsonFile } from "../../files/read-file.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import type { Program } from "./program.js";
import { toolOutside } from "./tool-outside.js";

/** An error for a tool whose class is in a file outside the program, a note for every other missing tool. */
export function removedTools(program: Program, present: ReadonlySet<string>): Diagnostic[] {
  return fqnsOf(readJsonFile(join(program.layout.root, "meta.json")))
    .filter((fqn) => !present.has(fqn))
    .map((fqn) => {
      const other = toolOutside(program, fqn);
      if (other === undefined) return diagnostic("SVC106", {}, fqn);
      return diagnostic("SVC107", {}, `${fqn} in ${quoted(other.path)}`, `${other.hint}; or delete it`);
    });
}

/** FQNs in a meta.json of svc-gen; empty for any other JSON. */
function fqnsOf(listed: unknown): string[] {
  return [listed]
    .flat()
    .map((each) => (Object(each) as { readonly fqn?: unknown }).fqn)
    .filter((fqn) => typeof fqn === "string");
}
