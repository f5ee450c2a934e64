/** The texts of all generated files of a project. */

import { relative, sep } from "node:path";
import type { Layout } from "../project/layout.js";
import { VERSION } from "../version.js";
import { importsOf } from "./entrypoint.js";
import { type GeneratedFile, render } from "./render.js";
import type { ToolArtifacts } from "./tool-artifacts.js";

/** `contracts.ts`, `server.ts` and `meta.json` over the artifacts of every tool. */
export function generatedFiles(layout: Layout, tools: readonly ToolArtifacts[]): GeneratedFile[] {
  const out = relative(layout.root, layout.out).split(sep).join("/");
  const header = { version: VERSION };
  const contracts = render("contracts", { ...header, contracts: tools.map(({ contract }) => contract) });
  const server = render("server", { ...header, imports: importsOf(tools, layout), several: tools.length > 1 });
  const documents = tools.map(({ document }) => document);
  return [
    { path: `${out}/contracts.ts`, text: contracts },
    { path: `${out}/server.ts`, text: server },
    { path: "meta.json", text: documents.length === 0 ? "[]\n" : `[\n  ${documents.join(",\n  ")}\n]\n` },
  ];
}
