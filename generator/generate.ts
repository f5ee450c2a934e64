/** The pipeline: a project -> the text of its generated files, or what is wrong with it. Reads, never writes. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { type Acknowledgement, withoutAcknowledged } from "./acknowledge.js";
import { type Diagnostic, diagnostic, hasErrors } from "./diagnostics.js";
import { graphOf } from "./graph.js";
import { type FileOutcome, isFaithful, type Kept, planFor } from "./kept.js";
import { lower } from "./lower.js";
import type { Tool } from "./model.js";
import { type Outcome, outcomeOf } from "./outcome.js";
import { doubles, findTools } from "./parse.js";
import { checkPorts } from "./ports.js";
import {
  compilerErrors,
  type Earlier,
  type Layout,
  nothingEarlier,
  openProgram,
  openProject,
  type Program,
  type Project,
  shown,
} from "./program.js";
import { mergeReads, type Reads } from "./reads.js";
import { type GeneratedFile, type ImportView, makeFile, render, specifier, type Views } from "./render.js";
import { findMisfits } from "./samples.js";
import { Schemas } from "./schema.js";
import { VERSION } from "./version.js";

export interface GenerateOptions {
  /** The package root; `meta.json` goes there. */
  readonly root: string;
  /** Relative to the root: `tsconfig.json`. */
  readonly tsconfig?: string;
  /** Relative to the root: `src/generated`. */
  readonly out?: string;
}

export interface Generated {
  /** Paths relative to the root; empty when there are errors. */
  readonly files: readonly GeneratedFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** What the result depends on. */
  readonly reads: Reads;
  /** What the next run may build upon; nothing when there are errors. */
  readonly kept?: Kept;
}

/** The last run in which nothing was wrong, and the files that have other texts since, or are gone. */
export interface Last {
  readonly kept: Kept;
  readonly reads: Reads;
  readonly changed: ReadonlySet<string>;
}

/**
 * Everything that svc-gen would write for a project. With `last`, only what has changed is read, if that is enough to say
 * the same; `earlier` spares a process that stays what it has parsed and bound before.
 */
export function generate(options: GenerateOptions, last?: Last, earlier?: Earlier): Generated {
  const memory = earlier ?? nothingEarlier();
  const project = openProject(layoutOf(options), memory);
  if ("diagnostics" in project) return { files: [], ...project };
  const configured = last !== undefined && isConfiguredAs(project, last.reads);
  // It was written after somebody had looked for changes.
  if (last !== undefined && !configured) memory.parsed.clear();
  const again = configured ? generateAgain(project, last, memory) : undefined;
  return again ?? generateWhole(project, memory);
}

/** Whether the configuration has the texts that it had in another run. */
function isConfiguredAs({ recorder }: Project, { files }: Reads): boolean {
  return Object.entries(recorder.reads().files).every(([path, hash]) => files[path] === hash);
}

function generateWhole(project: Project, earlier: Earlier): Generated {
  // Resolved anew: where an earlier program looked in vain was recorded by the run that opened it, not by this one.
  earlier.program = undefined;
  earlier.resolutions = undefined;
  const program = openProgram(project, project.files, earlier);
  const compiler = compilerErrors(program);
  const schemas = new Schemas(program.checker);
  const sources = readSources(program, program.sources, schemas);
  const found = [...sources.values()];
  const tools = found.flatMap((each) => each.tools);
  const all = [
    ...project.notes,
    ...compiler,
    ...found.flatMap((each) => each.diagnostics),
    ...(found.length === 0 ? [noTools(program)] : []),
    ...doubles(tools),
  ];
  const acknowledged = found.flatMap((each) => each.acknowledged);
  const diagnostics = withoutIdleNotes(withoutAcknowledged(all, acknowledged));
  const reads = project.recorder.reads();
  if (hasErrors(diagnostics)) return { files: [], diagnostics, reads };
  const outcomes = outcomesOf(sources, schemas);
  const kept: Kept = { graph: graphOf(program), files: project.files, outcomes: Object.fromEntries(outcomes) };
  const files = filesOf(project.layout, kept, earlier);
  return { files, diagnostics, reads, ...(tools.every(isAtHome) ? { kept } : {}) };
}

/**
 * The same, from the last run and what has changed; undefined when that is not enough, or when anything is wrong. What the
 * affected files do not reach is not even opened.
 */
function generateAgain(project: Project, last: Last, earlier: Earlier): Generated | undefined {
  if (project.references !== undefined) return undefined;
  const plan = planFor(last.kept, last.changed, project.files);
  if (plan === undefined) return undefined;
  const isAffected = (path: string) => plan.affected.has(path);
  const program = openProgram(project, plan.roots, earlier);
  const graph = graphOf(program, (path) => (isAffected(path) ? undefined : last.kept.graph[path]));
  if (!isFaithful(last.kept, graph, project.files) || hasErrors(compilerErrors(program, isAffected))) return undefined;
  const affected = program.sources.filter(({ fileName }) => isAffected(fileName));
  const schemas = new Schemas(program.checker);
  const sources = readSources(program, affected, schemas);
  const found = [...sources.values()];
  const wrong = hasErrors(found.flatMap(({ diagnostics }) => diagnostics));
  if (wrong || !found.flatMap(({ tools }) => tools).every(isAtHome)) return undefined;

  const unaffected = <T>(kept: Readonly<Record<string, T>>) =>
    Object.entries(kept).filter(([path]) => !isAffected(path));
  const outcomes = new Map([...unaffected(last.kept.outcomes), ...outcomesOf(sources, schemas)].sort(byPath));
  const tools = [...outcomes.values()].flatMap((each) => each.tools);
  if (outcomes.size === 0 || doubles(tools).length > 0) return undefined;
  const kept: Kept = {
    graph: { ...Object.fromEntries(unaffected(last.kept.graph)), ...graph },
    files: project.files,
    outcomes: Object.fromEntries(outcomes),
  };
  const unread = Object.fromEntries(Object.entries(last.reads.files).filter(([path]) => !last.changed.has(path)));
  const reads = mergeReads({ ...last.reads, files: unread }, project.recorder.reads());
  const notes = [...project.notes, ...[...outcomes.values()].flatMap((each) => each.notes)];
  const acknowledged = [...outcomes.values()].flatMap((each) => each.acknowledged);
  const diagnostics = withoutAcknowledged(notes, acknowledged);
  if (hasErrors(diagnostics)) return undefined;
  return { files: filesOf(project.layout, kept, earlier), diagnostics, reads, kept };
}

/** What was found in one source file. */
interface Found {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
  readonly acknowledged: readonly Acknowledgement[];
}

/** What is in source files, those without tools and diagnostics left out. */
function readSources(program: Program, files: Program["sources"], schemas: Schemas): ReadonlyMap<string, Found> {
  const sources = new Map<string, Found>();
  for (const file of files) {
    const { tools: classes, diagnostics } = findTools(program, file);
    const lowered = classes.map((tool) => lower(program, tool));
    const tools = lowered.map(({ tool }) => tool);
    const all = [
      ...diagnostics,
      ...lowered.flatMap((each) => each.diagnostics),
      ...lowered.flatMap(({ samples, tool }) => findMisfits(samples, tool, schemas)),
      ...tools.flatMap(checkPorts),
    ];
    const acknowledged = lowered.flatMap((each) => each.acknowledged);
    if (tools.length > 0 || all.length > 0) sources.set(file.fileName, { tools, diagnostics: all, acknowledged });
  }
  return sources;
}

function outcomesOf(sources: ReadonlyMap<string, Found>, schemas: Schemas): Map<string, FileOutcome> {
  const outcome = ({ tools, diagnostics, acknowledged }: Found): FileOutcome => ({
    tools: tools.map((tool) => outcomeOf(tool, schemas)),
    notes: diagnostics,
    acknowledged,
  });
  return new Map([...sources].map(([path, found]) => [path, outcome(found)]));
}

function noTools({ layout, sources }: Program): Diagnostic {
  return diagnostic("SVC100", {}, `in the ${sources.length} files of ${shown(layout, layout.tsconfig)}`);
}

/** Whether a tool is imported from its own file: else any file may turn out to export it. */
function isAtHome(tool: Tool): boolean {
  return tool.import.file === tool.place.file;
}

function byPath([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1;
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

/** The files of a run; one that would be made from the same as in an `earlier` one is that one's. */
function filesOf(layout: Layout, { outcomes }: Kept, { made }: Earlier): GeneratedFile[] {
  const out = relative(layout.root, layout.out).split(sep).join("/");
  const tools = Object.values(outcomes).flatMap((each) => each.tools);
  const header = { version: VERSION };
  const rendered = <Name extends keyof Views>(name: Name, view: Views[Name]) =>
    makeFile(made, `${out}/${name}.ts`, view, (each) => render(name, each));
  return [
    rendered("contracts", { ...header, contracts: tools.map(({ contract }) => contract) }),
    rendered("server", { ...header, imports: importsOf(tools, layout), several: tools.length > 1 }),
    makeFile(
      made,
      "meta.json",
      tools.map(({ document }) => document),
      (documents) => (documents.length === 0 ? "[]\n" : `[\n  ${documents.join(",\n  ")}\n]\n`),
    ),
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
