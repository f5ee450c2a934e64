/** The pipeline: a project -> the text of its generated files, or what is wrong with it. Reads, never writes. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { withoutAcknowledged } from "./acknowledge.js";
import { type Diagnostic, hasErrors } from "./diagnostics.js";
import { codec, inputPorts, outputVariants } from "./encoders.js";
import { type JsonObject, printJson } from "./json.js";
import { lower } from "./lower.js";
import { localUrl, metadata } from "./meta.js";
import type { Tool } from "./model.js";
import { findTools } from "./parse.js";
import { checkPorts, derivePorts } from "./ports.js";
import { type Layout, openProgram } from "./program.js";
import type { Reads } from "./reads.js";
import { type ContractView, type GeneratedFile, type ImportView, render, specifier, type View } from "./render.js";
import { findMisfits } from "./samples.js";
import { Schemas } from "./schema.js";
import { asTypeScript, validatorCode } from "./validators.js";
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
}

/** Everything that svc-gen would write for a project. */
export function generate(options: GenerateOptions): Generated {
  const layout = layoutOf(options);
  const { program, diagnostics: compiler, reads } = openProgram(layout);
  if (program === undefined) return { files: [], diagnostics: compiler, reads };
  const { tools: classes, diagnostics: found } = findTools(program);
  const lowered = classes.map((tool) => lower(program, tool));
  const tools = lowered.map(({ tool }) => tool);
  const all = [
    ...compiler,
    ...found,
    ...lowered.flatMap((each) => each.diagnostics),
    ...lowered.flatMap(({ samples, tool }) => findMisfits(samples, tool.definitions)),
    ...tools.flatMap(checkPorts),
  ];
  const acknowledged = lowered.flatMap((each) => each.acknowledged);
  const diagnostics = withoutIdleNotes(withoutAcknowledged(all, acknowledged));
  if (hasErrors(diagnostics)) return { files: [], diagnostics, reads };
  const schemas = new Schemas(program.checker);
  return { files: filesOf(layout, tools, schemas), diagnostics, reads };
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

function filesOf(layout: Layout, tools: readonly Tool[], schemas: Schemas): GeneratedFile[] {
  const out = relative(layout.root, layout.out).split(sep).join("/");
  const contracts: ContractView[] = [];
  const documents: JsonObject[] = [];
  tools.forEach((tool, index) => {
    const input = schemas.input(tool);
    const output = schemas.output(tool);
    documents.push(metadata(tool, localUrl(tool.path), input, output));
    contracts.push(contractOf(tool, printJson(input), printJson(output), `checkInput${index + 1}`));
  });
  const names = contracts.map(({ validator }) => validator);
  const code = validatorCode(tools.map((tool, index) => [names[index] as string, tool] as const));
  const view: View = {
    version: VERSION,
    sources: [...new Set(tools.map((tool) => tool.import.file))],
    contracts,
    imports: importsOf(tools, `${out}/server.ts`),
    several: tools.length > 1,
    validators: asTypeScript(code),
  };
  return [
    { path: `${out}/contracts.ts`, text: render("contracts", view) },
    { path: `${out}/validators.ts`, text: render("validators", view) },
    { path: `${out}/server.ts`, text: render("server", view) },
    { path: "meta.json", text: `${printJson(documents, 2)}\n` },
  ];
}

function contractOf(tool: Tool, inputSchema: string, outputSchema: string, validator: string): ContractView {
  const input = inputPorts(tool);
  const output = outputVariants(tool);
  const derived = JSON.stringify(derivePorts(inputSchema, outputSchema));
  const ports = (list: readonly { name: string; many: boolean }[]) => list.map(({ name, many }) => ({ name, many }));
  const declared = {
    inputPorts: ports(input),
    outputVariants: output.map((variant) => ({ name: variant.name, ports: ports(variant.ports) })),
  };
  if (derived !== JSON.stringify(declared)) throw new Error(`${tool.fqn}: the schemas do not say what the types say`);
  return {
    fqn: tool.fqn,
    description: tool.description,
    path: tool.path,
    timeout: tool.timeout,
    inputSchema,
    outputSchema,
    input,
    closedInput: tool.input.closed,
    output,
    definitions: tool.definitions.map(({ name, shape }) => [name, codec(shape, true)] as const),
    validator,
  };
}

/** Imports of the tool classes, one a tool, under names that are unique in the entrypoint. */
function importsOf(tools: readonly Tool[], server: string): ImportView[] {
  const taken = new Set(["bootstrap", "contracts", "provideContracts"]);
  return tools.map(({ import: { file, exportName, className } }) => {
    const base =
      /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(exportName) && exportName !== "default" ? exportName : className;
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
    return { clause, local, from: specifier(server, file) };
  });
}

/** Exported names may be any text (`export { A as "some name" }`). */
function quotedName(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}
