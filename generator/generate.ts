/** The pipeline: a project -> the text of its generated files, or what is wrong with it. Reads, never writes. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { type Acknowledgement, withoutAcknowledged } from "./diagnostics/acknowledge.js";
import { type Diagnostic, diagnostic, hasErrors } from "./diagnostics/diagnostics.js";
import { findMisfits } from "./emit/check-examples.js";
import { type GeneratedFile, type ImportView, render, specifier } from "./emit/render.js";
import { Schemas } from "./emit/schema.js";
import { type Outcome, outcomeOf } from "./emit/tool-artifacts.js";
import type { Tool } from "./model.js";
import type { Reads } from "./project/input-recorder.js";
import {
  compileOnce,
  compilerErrors,
  type Layout,
  openProgram,
  type Program,
  readProject,
  shown,
} from "./project/program.js";
import type { ts } from "./project/typescript.js";
import { lower } from "./types/lower.js";
import { checkPorts } from "./types/ports.js";
import { doubles, findTools } from "./types/tool-classes.js";
import { VERSION } from "./version.js";

export interface GenerateOptions {
  /** The package root; `meta.json` goes there. */
  readonly root: string;
  /** Relative to the root: `tsconfig.json`. */
  readonly tsconfig?: string;
  /** Relative to the root: `src/generated`. */
  readonly out?: string;
}

export interface Generated extends Result {
  readonly reads: Reads;
}

export interface Result {
  /** Paths relative to the root; empty when there are errors. */
  readonly files: readonly GeneratedFile[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Everything that svc-gen would write for a project. */
export function generate(options: GenerateOptions): Generated {
  const project = readProject(layoutOf(options));
  if ("diagnostics" in project) return { files: [], diagnostics: project.diagnostics, reads: project.recorder.reads() };
  const result = generateFrom(openProgram(project, compileOnce(project)));
  return { ...result, reads: project.recorder.reads() };
}

/** The results of source files of a good run by path, reused while the key of the file stays the same. */
export type FileResults = Map<string, { readonly key: string; readonly result: FileResult; readonly texts: Outcome[] }>;

/** The same from an open program. `reusable` has the results of an earlier program; a good run adds its own. */
export function generateFrom(program: Program, reusable: FileResults = new Map()): Result {
  const { layout, notes, sources } = program;
  const schemas = new Schemas(program.checker);
  const compiler = compilerErrors(program);
  const results = sources.map((file) => {
    const key = program.keyOf(file);
    const known = reusable.get(file.fileName);
    const result = known?.key === key ? known?.result : undefined;
    return {
      path: file.fileName,
      key,
      texts: result && known?.texts,
      ...(result ?? readSource(program, file, schemas)),
    };
  });
  const tools = results.flatMap((each) => each.tools);
  const found = results.flatMap((each) => each.diagnostics);
  const all = [
    ...notes,
    ...compiler,
    ...found,
    ...(tools.length === 0 && found.length === 0 ? [noTools(program)] : []),
    ...doubles(tools),
  ];
  const acknowledged = results.flatMap((each) => each.acknowledged);
  const diagnostics = withoutIdleNotes(withoutAcknowledged(all, acknowledged));
  if (hasErrors(diagnostics)) return { files: [], diagnostics };
  const texts = results.flatMap(({ path, key, texts, ...result }) => {
    const written = texts ?? result.tools.map((tool) => outcomeOf(tool, schemas));
    if (key !== undefined && result.tools.every(isAtHome)) reusable.set(path, { key, result, texts: written });
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

function readSource(program: Program, file: ts.SourceFile, schemas: Schemas): FileResult {
  const { tools: classes, diagnostics } = findTools(program, file);
  const lowered = classes.map((tool) => lower(program, tool));
  const tools = lowered.map(({ tool }) => tool);
  return {
    tools,
    diagnostics: [
      ...diagnostics,
      ...lowered.flatMap((each) => each.diagnostics),
      ...lowered.flatMap(({ samples, tool }) => findMisfits(samples, tool, schemas)),
      ...tools.flatMap(checkPorts),
    ],
    acknowledged: lowered.flatMap((each) => each.acknowledged),
  };
}

/** Whether a tool is imported from its own file; otherwise its import depends on files that its own does not import. */
function isAtHome(tool: Tool): boolean {
  return tool.import.file === tool.place.file;
}

function noTools({ layout, sources }: Program): Diagnostic {
  return diagnostic("SVC100", {}, `in the ${sources.length} files of ${shown(layout, layout.tsconfig)}`);
}

/** A note about a member that has an error says nothing. */
function withoutIdleNotes(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const marks = ({ place, subject }: Diagnostic) => [place && `${place.file}:${place.line}:${place.column}`, subject];
  const wrong = new Set(diagnostics.filter(({ severity }) => severity === "error").flatMap(marks));
  wrong.delete(undefined);
  return diagnostics.filter((each) => each.severity !== "note" || !marks(each).some((mark) => wrong.has(mark)));
}

/** Absolute places from the options. */
export function layoutOf({ root, tsconfig = "tsconfig.json", out = "src/generated" }: GenerateOptions): Layout {
  const at = (path: string) => (isAbsolute(path) ? path : join(root, path));
  return { root: resolve(root), tsconfig: resolve(at(tsconfig)), out: resolve(at(out)) };
}

function filesOf(layout: Layout, tools: readonly Outcome[]): GeneratedFile[] {
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

/** What no import can be called, and what the entrypoint uses itself. */
const TAKEN = [
  ..."arguments await break case catch class const continue debugger default delete do else enum eval export".split(
    " ",
  ),
  ..."extends false finally for function if implements import in instanceof interface let new null package".split(" "),
  ..."private protected public return static super switch this throw true try typeof undefined var void".split(" "),
  ..."while with yield bootstrap contracts provideContracts".split(" "),
];

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Imports of the tool classes, one a tool, under names that are unique in the entrypoint. */
function importsOf(tools: readonly Outcome[], { root, out }: Layout): ImportView[] {
  const slashed = (path: string) => path.split(sep).join("/");
  const server = `${slashed(out)}/server.ts`;
  const home = slashed(root);
  const taken = new Set(TAKEN);
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
    return { clause, local, from: specifier(server, `${home}/${file}`) };
  });
}

/** Exported names may be any text (`export { A as "some name" }`). */
function quotedName(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}
