/** Metadata -> sources of tool classes, generated from once to see which metadata comes back. */

import { isDeepStrictEqual } from "node:util";
import { derivePorts } from "svc-runtime/generator";
import type { Diagnostic } from "../diagnostics/diagnostics.js";
import { generateTexts, type Result } from "../generate.js";
import { type Json, JsonObject, printJson, readJson } from "../json.js";
import { pointerStep } from "../references.js";
import { compareSchemas, type Difference } from "./differences.js";
import type { ImportableTool } from "./metadata.js";
import { type ToolSource, toolSources } from "./tool-source.js";

export interface ImportedTool extends ToolSource {
  readonly fqn: string;
  /** Between the imported metadata and that of the written class. */
  readonly differences: readonly Difference[];
  /** Definitions that are written where they are used, as JSON pointers. */
  readonly inlined: readonly string[];
  /** Whether the ports are those that the imported tool is registered with. */
  readonly samePorts: boolean;
}

/** svc-gen refuses the written classes. */
export class UnimportableTools extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super("svc-gen refuses the classes that the metadata gives");
  }
}

/** Removals of refused tags; each shows the faults that the ones before hid. */
const MAX_ROUNDS = 8;

/** @throws UnimportableTools */
export function importTools(tools: readonly ImportableTool[]): ImportedTool[] {
  let sources = toolSources(tools);
  for (let round = 0; ; round++) {
    const result = generateTexts(new Map(sources.map(({ file, text }) => [inSource(file), text])));
    const errors = result.diagnostics.filter(({ severity }) => severity === "error");
    if (errors.length === 0) {
      const generated = documentsOf(result);
      return tools.map((tool, index) =>
        compare(tool, sources[index] as ToolSource, generated.get(tool.fqn) as JsonObject),
      );
    }
    const corrected = sources.map((source) => ({ ...source, text: withoutTags(source, errors) }));
    if (round === MAX_ROUNDS || corrected.every(({ text }, index) => text === sources[index]?.text)) {
      throw new UnimportableTools(errors);
    }
    sources = corrected;
  }
}

function inSource(file: string): string {
  return `src/${file}`;
}

/** A source without the tags that errors point to. Each tag is on a line of its own. */
function withoutTags({ file, text }: ToolSource, errors: readonly Diagnostic[]): string {
  const refused = new Set(errors.flatMap(({ place }) => (place?.file === inSource(file) ? [place.line] : [])));
  const kept = text.split("\n").filter((line, index) => !(refused.has(index + 1) && /^\s*(?:\/\*)?\*+ @\w/.test(line)));
  return kept.join("\n").replace(/^ *\/\*\*\n *\*\/\n/gm, "");
}

/** The generated metadata documents by FQN. */
function documentsOf({ files }: Result): ReadonlyMap<Json | undefined, JsonObject> {
  const listing = readJson(files.find(({ path }) => path === "meta.json")?.text ?? "[]");
  const documents = (listing as readonly Json[]).filter((each) => each instanceof JsonObject);
  return new Map(documents.map((each) => [each.get("fqn"), each]));
}

function compare(tool: ImportableTool, source: ToolSource, generated: JsonObject): ImportedTool {
  const [input, output] = [generated.get("input_schema") as JsonObject, generated.get("output_schema") as JsonObject];
  const ports = derivePorts(printJson(input), printJson(output));
  const schemas = [
    compareSchemas(tool.input, input, "/input_schema"),
    compareSchemas(tool.output, output, "/output_schema"),
  ];
  return {
    ...source,
    fqn: tool.fqn,
    differences: [
      ...documentDifferences(tool, source, generated),
      ...schemas.flatMap(({ differences }) => differences),
    ],
    inlined: schemas.flatMap(({ inlined }) => inlined),
    samePorts: isDeepStrictEqual(ports, tool.ports),
  };
}

/** Of the members beside the schemas. The host of the URL is where a tool is served, so only its path counts. */
function documentDifferences(tool: ImportableTool, source: ToolSource, generated: JsonObject): Difference[] {
  const found: Difference[] = [];
  for (const name of new Set([...tool.document.members.keys(), ...generated.members.keys()])) {
    if (name === "input_schema" || name === "output_schema") continue;
    const [imported, value] = [tool.document.get(name), generated.get(name)];
    const same = imported === value || (name === "url" && tool.path === source.path);
    if (!same) found.push({ pointer: `/${pointerStep(name)}`, imported, generated: value });
  }
  return found;
}
