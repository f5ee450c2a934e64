/** The pipeline: a project -> the text of its generated files, or what is wrong with it. Reads, never writes. */

import { relative, sep } from "node:path";
import { type Acknowledgement, withoutAcknowledged } from "./diagnostics/acknowledge.js";
import { type Diagnostic, diagnostic, hasErrors } from "./diagnostics/diagnostics.js";
import { checkExamples } from "./emit/check-examples.js";
import { importsOf } from "./emit/entrypoint.js";
import { checkPorts } from "./emit/ports.js";
import { type GeneratedFile, render } from "./emit/render.js";
import { Schemas } from "./emit/schema.js";
import { artifactsOf, type ToolArtifacts } from "./emit/tool-artifacts.js";
import type { Tool } from "./model.js";
import type { InputSnapshot } from "./project/input-recorder.js";
import { displayPath, type GenerateOptions, type Layout, layoutOf } from "./project/layout.js";
import { compileOnce, compilerErrors, openProgram, type Program, readProject } from "./project/program.js";
import type { ts } from "./project/typescript.js";
import { lower, readTypes, type TypeReader } from "./types/lower.js";
import { duplicateTools, findTools } from "./types/tool-classes.js";
import { VERSION } from "./version.js";

export interface Generated extends Result {
  readonly inputs: InputSnapshot;
}

export interface Result {
  /** Paths relative to the root; empty when there are errors. */
  readonly files: readonly GeneratedFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Everything that svc-gen would write for a project. */
export function generate(options: GenerateOptions): Generated {
  const project = readProject(layoutOf(options));
  if ("diagnostics" in project)
    return { files: [], diagnostics: project.diagnostics, inputs: project.recorder.snapshot() };
  const result = generateFrom(openProgram(project, compileOnce(project)));
  return { ...result, inputs: project.recorder.snapshot() };
}

/** The results of source files of a good run by path, reused while the key of the file stays the same. */
export type FileResults = Map<
  string,
  { readonly key: string; readonly result: FileResult; readonly texts: ToolArtifacts[] }
>;

/** The same from an open program. `reusable` has the results of an earlier program; a good run adds its own. */
export function generateFrom(program: Program, reusable: FileResults = new Map()): Result {
  const { layout, notes, sources } = program;
  const schemas = new Schemas(program.checker);
  const types = readTypes(program);
  const compiler = compilerErrors(program);
  const results = sources.map((file) => {
    const key = program.keyOf(file);
    const known = reusable.get(file.fileName);
    const result = known?.key === key ? known?.result : undefined;
    return {
      path: file.fileName,
      key,
      texts: result && known?.texts,
      ...(result ?? readSource(types, file, schemas)),
    };
  });
  const tools = results.flatMap((each) => each.tools);
  const found = results.flatMap((each) => each.diagnostics);
  const all = [
    ...notes,
    ...compiler,
    ...found,
    ...(tools.length === 0 && found.length === 0 ? [noTools(program)] : []),
    ...duplicateTools(tools),
  ];
  const acknowledged = results.flatMap((each) => each.acknowledged);
  const diagnostics = withoutIdleNotes(withoutAcknowledged(all, acknowledged));
  if (hasErrors(diagnostics)) return { files: [], diagnostics };
  const texts = results.flatMap(({ path, key, texts, ...result }) => {
    const written = texts ?? result.tools.map((tool) => artifactsOf(tool, schemas));
    if (key !== undefined && result.tools.every(importedFromOwnFile))
      reusable.set(path, { key, result, texts: written });
    return written;
  });
  return { files: filesOf(layout, texts), diagnostics };
}

/** The tools and diagnostics of one source file. */
interface FileResult {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
  readonly acknowledged: readonly Acknowledgement[];
}

function readSource(types: TypeReader, file: ts.SourceFile, schemas: Schemas): FileResult {
  const { tools: classes, diagnostics } = findTools(types.program, file);
  const lowered = classes.map((tool) => lower(types, tool));
  const tools = lowered.map(({ tool }) => tool);
  return {
    tools,
    diagnostics: [
      ...diagnostics,
      ...lowered.flatMap((each) => each.diagnostics),
      ...lowered.flatMap(({ examples, tool }) => checkExamples(examples, tool, schemas)),
      ...tools.flatMap(checkPorts),
    ],
    acknowledged: lowered.flatMap((each) => each.acknowledged),
  };
}

/** Whether a tool is imported from its own file; otherwise its import depends on files that its own does not import. */
function importedFromOwnFile(tool: Tool): boolean {
  return tool.import.file === tool.place.file;
}

function noTools({ layout, sources }: Program): Diagnostic {
  return diagnostic("SVC100", {}, `in the ${sources.length} files of ${displayPath(layout, layout.tsconfig)}`);
}

/** A note about a member that has an error says nothing. */
function withoutIdleNotes(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const marks = ({ place, subject }: Diagnostic) => [place && `${place.file}:${place.line}:${place.column}`, subject];
  const wrong = new Set(diagnostics.filter(({ severity }) => severity === "error").flatMap(marks));
  wrong.delete(undefined);
  return diagnostics.filter((each) => each.severity !== "note" || !marks(each).some((mark) => wrong.has(mark)));
}

function filesOf(layout: Layout, tools: readonly ToolArtifacts[]): GeneratedFile[] {
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
