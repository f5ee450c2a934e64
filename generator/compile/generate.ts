/** Pipeline from a project to the texts of its generated files, or to diagnostics. Does not write files. */

import type { Contract } from "svc-runtime/internal/generator";
import { filterNotes } from "./diagnostics/acknowledge.js";
import { type Diagnostic, hasErrors } from "./diagnostics/diagnostics.js";
import { checkExamples } from "./emit/check-examples.js";
import { checkIntegers } from "./emit/check-integers.js";
import { checkPorts } from "./emit/check-ports.js";
import { generatedFiles } from "./emit/file-texts.js";
import { Schemas } from "./emit/schema.js";
import { artifactsOf } from "./emit/tool-artifacts.js";
import type { GeneratedFile, Tool } from "./model.js";
import { compilerErrors } from "./project/compiler-errors.js";
import { missingRuntime } from "./project/imported-runtime.js";
import { type GenerateOptions, layoutOf } from "./project/layout.js";
import type { InputSnapshot } from "./project/lookups.js";
import { memoryProject } from "./project/memory-project.js";
import { compileOnce, openProgram, type Program, readProject } from "./project/program.js";
import { removedTools } from "./project/removed-tools.js";
import type { ts } from "./project/typescript.js";
import { contractReach } from "./types/contract-reach.js";
import { lower } from "./types/lower/lower.js";
import { readTypes, type TypeReader } from "./types/lower/type-reader.js";
import { findServerOptions } from "./types/server-options.js";
import { duplicateTools, findTools, noTools, type ToolClass } from "./types/tool-classes.js";

export interface Result {
  /** Paths are relative to the root; empty if there are errors. */
  readonly files: readonly GeneratedFile[];
  readonly diagnostics: readonly Diagnostic[];
  /** Content of `contracts.ts` as data; absent if there are errors. */
  readonly contracts?: readonly Contract[];
}

export interface Generated extends Result {
  readonly inputs: InputSnapshot;
}

/** Additional check of each tool, after it was lowered. */
export type Review = (program: Program, found: ToolClass, tool: Tool, schemas: Schemas) => readonly Diagnostic[];

/**
 * Generates all files of a project.
 *
 * @param review additional check for `--check`
 */
export function generate(options: GenerateOptions, review?: Review): Generated {
  const project = readProject(layoutOf(options));
  const result =
    "diagnostics" in project
      ? { files: [], diagnostics: project.diagnostics }
      : generateFrom(openProgram(project, compileOnce(project)), review);
  return { ...result, inputs: project.recorder.snapshot() };
}

/**
 * Generates from source texts in memory, with svc-gen's own runtime.
 *
 * @param texts source texts by path, relative to the root of a project
 */
export function generateTexts(texts: ReadonlyMap<string, string>): Result {
  const project = memoryProject(texts);
  return generateFrom(openProgram(project, compileOnce(project)));
}

/** Generates all files of an open program. */
export function generateFrom(program: Program, review?: Review): Result {
  const uninstalled = missingRuntime(program);
  if (uninstalled !== undefined) return { files: [], diagnostics: [...program.notes, uninstalled] };
  const schemas = new Schemas();
  const types = readTypes(program);
  const compiler = compilerErrors(program, contractReach);
  const reviewed = hasErrors(compiler) ? undefined : review;
  const sources = program.sources.map((file) => readTools(types, file, schemas, reviewed));
  const tools = sources.flatMap((source) => source.tools);
  const found = sources.flatMap((source) => source.diagnostics);
  const options = findServerOptions(program);
  const nothing = tools.length === 0 && !hasErrors(found);
  const alike = new Set(found.filter(({ code }) => code === "SVC105").map(({ place }) => place?.file));
  const diagnostics = filterNotes(
    [
      ...program.notes,
      // In a file with SVC105, errors about `override` (TS4112) or missing type arguments (TS2314) have the same cause.
      ...compiler.filter(({ code, place }) => !["TS4112", "TS2314"].includes(code) || !alike.has(place?.file)),
      // SVC191 reports unresolved types; TypeScript's own errors may already explain them.
      ...(hasErrors(compiler) ? found.filter(({ code }) => code !== "SVC191") : found),
      ...(nothing ? [noTools(program)] : []),
      ...duplicateTools(tools),
      ...options.diagnostics,
    ],
    sources.flatMap((source) => source.acknowledged),
  );
  if (hasErrors(diagnostics)) return { files: [], diagnostics };
  const texts = tools.map((tool) => artifactsOf(tool, schemas));
  const contracts = texts.map(({ contract }) => contract);
  const removed = removedTools(
    program.layout,
    contracts.map(({ fqn }) => fqn),
  );
  const files = generatedFiles(program.layout, texts, options.file);
  return { files, diagnostics: [...diagnostics, ...removed], contracts };
}

/** Finds, lowers and checks the tools of one source file. Reviews those without errors. */
function readTools(types: TypeReader, file: ts.SourceFile, schemas: Schemas, review?: Review) {
  const { program } = types;
  const { tools: classes, diagnostics } = findTools(program, file);
  const lowered = classes.map((found) => {
    const result = lower(types, found);
    return { found, ...result, ...checkExamples(result.examples, result.tool) };
  });
  return {
    tools: lowered.map(({ tool }) => tool),
    diagnostics: [
      ...diagnostics,
      ...lowered.flatMap((each) => each.diagnostics),
      ...lowered.flatMap(({ unfit }) => unfit),
      ...lowered.flatMap(({ tool, tooDeep }) => (tooDeep ? [] : [...checkPorts(tool), ...checkIntegers(tool)])),
      ...lowered.flatMap(({ found, tool, ...each }) =>
        review === undefined || hasErrors(each.diagnostics) ? [] : review(program, found, tool, schemas),
      ),
    ],
    acknowledged: lowered.flatMap((each) => each.acknowledged),
  };
}
