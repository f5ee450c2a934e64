/** Imports of the tool classes in the generated entrypoint. */

import { join } from "node:path";
import { type Layout, specifier } from "../project/layout.js";
import type { ImportView } from "./render.js";
import { RESERVED_WORDS } from "./reserved-words.js";
import type { ToolArtifacts } from "./tool-artifacts.js";

/** Names that the entrypoint uses. */
const OWN_NAMES = ["bootstrap", "contracts", "provideContracts"];

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Import specifier of a file, whose path is relative to the root, in the entrypoint. */
export function entrypointSpecifier({ root, out }: Layout, file: string): string {
  return specifier(join(out, "server.ts"), join(root, file));
}

/**
 * Imports for all tools, with names that are unique in the entrypoint.
 *
 * @param names other names that the entrypoint uses
 */
export function importsOf(
  tools: readonly ToolArtifacts[],
  layout: Layout,
  names: readonly string[] = [],
): ImportView[] {
  const taken = new Set([...RESERVED_WORDS, ...OWN_NAMES, ...names]);
  return tools.map(({ import: { file, exportName, className } }) => {
    const base = IDENTIFIER.test(exportName) && exportName !== "default" ? exportName : className;
    let local = base;
    for (let count = 2; taken.has(local); count++) local = `${base}${count}`;
    taken.add(local);
    const imported = exportName === base ? base : exportName;
    const clause =
      exportName === "default"
        ? local
        : imported === local
          ? `{ ${local} }`
          : `{ ${quotedName(imported)} as ${local} }`;
    return { clause, local, from: entrypointSpecifier(layout, file) };
  });
}

/** Exported names may contain any characters: `export { A as "some name" }`. */
function quotedName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}
