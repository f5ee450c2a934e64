/** Converts metadata to tool classes, and runs the generator on them to compare the metadata. */

import { isDeepStrictEqual } from "node:util";
import { derivePorts } from "svc-runtime/internal/generator";
import type { Diagnostic } from "../compile/diagnostics/diagnostics.js";
import { errorsIn } from "../compile/diagnostics/diagnostics.js";
import { generateTexts, type Result } from "../compile/generate.js";
import { type Difference, diffDocuments, type NamedText } from "../contract/diff.js";
import { type Json, JsonObject, printJson } from "../text/json.js";
import { metaDocuments, metaJsonIn } from "../tools/meta-documents.js";
import type { ImportableTool, RefusedTool } from "./metadata.js";
import { type SourceFile, type Sources, type ToolSource, toolSources } from "./tool-source.js";

export interface ImportedTool extends ToolSource {
  readonly fqn: string;
  /** Whether the ports equal those of the imported tool. */
  readonly samePorts: boolean;
  /** Whether callers of the imported tool can call the new one, and why, according to `svc-gen diff`. */
  readonly verdict: Difference["verdict"];
  readonly changes: Difference["changes"];
  readonly retagged: ImportableTool["retagged"];
  /** Whether the imported tool has no description. */
  readonly isUndescribed: boolean;
}

/** Tools with the files of their classes. */
export interface Import {
  readonly tools: readonly ImportedTool[];
  /** Types shared by several tools; undefined if there are none. */
  readonly shared: SourceFile | undefined;
  readonly refused: readonly RefusedTool[];
}

/** Maximum number of rounds in which rejected tags are removed; each round may reveal more errors. */
const MAX_ROUNDS = 8;

/** Generates the classes. A class that svc-gen rejects does not affect the other tools. */
export function importTools(tools: readonly ImportableTool[]): Import {
  const refused: RefusedTool[] = [];
  for (let left = tools; left.length > 0; ) {
    const { sources, documents, errors } = writeSources(left);
    if (errors.length === 0) {
      const imported = left.map((tool, index) =>
        compare(tool, sources.tools[index] as ToolSource, documents.get(tool.fqn) as JsonObject),
      );
      return { tools: imported, shared: sources.shared, refused };
    }
    const faulty = left.filter((_, index) => {
      const file = inSource((sources.tools[index] as ToolSource).file);
      return errors.some(({ place }) => place === undefined || place.file === file);
    });
    // If all errors are in the file of shared types, every tool is refused.
    const gone = faulty.length > 0 ? faulty : left;
    for (const tool of gone) {
      const [{ code, message } = errors[0] as Diagnostic] = errors.filter(({ place }) => {
        return place?.file === inSource((sources.tools[left.indexOf(tool)] as ToolSource).file);
      });
      refused.push({
        message: `${tool.fqn} cannot be imported: svc-gen refuses its class: ${code}: ${message}`,
        hint: "change the schema of the old tool, and import it again",
      });
    }
    left = left.filter((tool) => !gone.includes(tool));
  }
  return { tools: [], shared: undefined, refused };
}

interface Written {
  readonly sources: Sources;
  readonly documents: ReadonlyMap<Json | undefined, JsonObject>;
  readonly errors: readonly Diagnostic[];
}

/** Generates sources and removes tags that svc-gen rejects. Returns other errors. */
function writeSources(tools: readonly ImportableTool[]): Written {
  let sources = toolSources(tools);
  for (let round = 0; ; round++) {
    const files = [...sources.tools, ...(sources.shared === undefined ? [] : [sources.shared])];
    const result = generateTexts(new Map(files.map(({ file, text }) => [inSource(file), text])));
    const errors = errorsIn(result.diagnostics);
    const corrected = new Map(files.map((source) => [source.file, withoutRefusedTags(source, errors)]));
    const isSame = files.every(({ file, text }) => corrected.get(file) === text);
    if (errors.length === 0 || round === MAX_ROUNDS || isSame) {
      return { sources, documents: documentsOf(result), errors };
    }
    const correct = <Source extends SourceFile>(source: Source): Source => {
      return { ...source, text: corrected.get(source.file) ?? source.text };
    };
    sources = { tools: sources.tools.map(correct), shared: sources.shared && correct(sources.shared) };
  }
}

function inSource(file: string): string {
  return `src/${file}`;
}

/** Removes the tags that errors point to. Each tag is on its own line. */
function withoutRefusedTags({ file, text }: SourceFile, errors: readonly Diagnostic[]): string {
  const refused = new Set(errors.flatMap(({ place }) => (place?.file === inSource(file) ? [place.line] : [])));
  const kept = text.split("\n").filter((line, index) => !(refused.has(index + 1) && /^\s*(?:\/\*)?\*+ @\w/.test(line)));
  return kept.join("\n").replace(/^ *\/\*\*\n *\*\/\n/gm, "");
}

/** The generated metadata documents by FQN. */
function documentsOf({ files }: Result): ReadonlyMap<Json | undefined, JsonObject> {
  return new Map(metaDocuments(metaJsonIn(files)).map((each) => [each.get("fqn"), each]));
}

function compare(tool: ImportableTool, source: ToolSource, generated: JsonObject): ImportedTool {
  const [input, output] = [generated.get("input_schema") as JsonObject, generated.get("output_schema") as JsonObject];
  const ports = derivePorts(printJson(input), printJson(output));
  const next = { name: "the new metadata", text: printJson(generated) };
  const [judged] = diffDocuments(documentText(tool, source, generated), next);
  return {
    ...source,
    fqn: tool.fqn,
    samePorts: isDeepStrictEqual(ports, tool.ports),
    verdict: judged?.verdict ?? "breaking",
    changes: judged?.changes ?? [],
    retagged: tool.retagged,
    isUndescribed: !/\S/.test(tool.description),
  };
}

/**
 * Imported metadata as a document with the schemas that define its ports. Only the path of its URL counts, because the
 * host depends on the deployment.
 */
function documentText(tool: ImportableTool, source: ToolSource, generated: JsonObject): NamedText {
  const { fqn, description, document, input, output } = tool;
  const url = tool.path === source.path ? generated.get("url") : document.get("url");
  const members = new Map<string, Json>([
    ["timeout", generated.get("timeout") ?? null],
    ...document.members,
    ["url", url ?? null],
    ["fqn", fqn],
    ["description", description],
    ["input_schema", input],
    ["output_schema", output],
  ]);
  return { name: "the imported metadata", text: printJson(new JsonObject(members)) };
}
