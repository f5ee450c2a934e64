import { metadataListing } from "svc-runtime/internal/generator";
import { VERSION } from "../../process/version.js";
import type { GeneratedFile } from "../model.js";
import { displayPath, type Layout } from "../project/layout.js";
import { entrypointSpecifier, importsOf } from "./entrypoint.js";
import { render } from "./render.js";
import type { ToolArtifacts } from "./tool-artifacts.js";

/**
 * Texts of `contracts.ts`, `server.ts` and `meta.json`.
 *
 * @param optionsFile path, relative to the root, of the file with the author's server options
 */
export function generatedFiles(
  layout: Layout,
  tools: readonly ToolArtifacts[],
  optionsFile: string | undefined,
): GeneratedFile[] {
  const out = displayPath(layout, layout.out);
  const header = { version: VERSION };
  const contracts = render("contracts", { ...header, contracts: tools.map(({ entry }) => entry) });
  const options = optionsFile === undefined ? false : entrypointSpecifier(layout, optionsFile);
  const imports = importsOf(tools, layout, options === false ? [] : ["options"]);
  const server = render("server", { ...header, imports, several: tools.length > 1, options });
  return [
    { path: `${out}/contracts.ts`, text: contracts },
    { path: `${out}/server.ts`, text: server },
    { path: "meta.json", text: metadataListing(tools.map(({ document }) => document)) },
  ];
}
