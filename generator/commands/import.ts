/** `svc-gen import META.json|URL`: tool classes from the metadata of existing tools. */

import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { baseOf, replaceFiles } from "../atomic-write.js";
import { quoted, shellWord } from "../diagnostics/quote.js";
import type { Difference } from "../import/differences.js";
import type { ImportedTool } from "../import/import-tools.js";
import { printJson } from "../json.js";
import { writeNewFiles } from "../new-files.js";
import { asJson, type Call, CommandError, defineCommand, EXIT, JSON_OPTION, plural, UsageError } from "./command.js";
import { reportDiagnostics } from "./generate.js";

const OPTIONS = {
  out: { type: "string", value: "DIR", summary: "folder of the classes (default: src)" },
  force: { type: "boolean", summary: "replace files that are there" },
  json: JSON_OPTION,
} as const;

/** Warnings about one tool that are shown to people. */
const MAX_SHOWN = 20;

export const importCommand = defineCommand({
  name: "import",
  arguments: "META.json|URL",
  summary: "tool classes from the metadata of existing tools, whatever language they are in",
  details: `META.json is a file with one metadata document or a list of them, URL the address of a server's /meta. Each tool
becomes one file: types from its schemas, in their order, and a class whose invoke answers "not implemented".

svc-gen generates from the classes once, in memory, and compares the metadata with the imported one. Each difference is a
warning with its JSON pointer; without one, the metadata comes back equal.

With --json: {"tools":[{"fqn","file","class","path","samePorts","notSecret","inlined","differences"}]}, a difference
being {"pointer","imported","generated"} with its values as JSON texts, absent where there is none.`,
  options: OPTIONS,
  examples: [
    ["svc-gen import meta.json", "src/NAME.ts for each tool in the file"],
    ["svc-gen import https://tools.example.org/sum/meta --out src/tools", "the tool of a running server"],
  ],
  run: async (call) => {
    const [name, ...more] = call.args;
    if (name === undefined || name === "" || more.length > 0) {
      throw new UsageError(`import wants one file or URL; got ${call.args.length}`);
    }
    const tools = await importFrom(name, call);
    const folder = resolve(call.cwd, call.values.out ?? "src");
    const files = tools.map(({ file, text }) => ({ target: join(folder, file), content: text }));
    const existing = files.filter(({ target }) => existsSync(target));
    if (call.values.force) replaceFiles(files, () => baseOf(call.cwd, folder));
    else if (existing.length > 0) {
      const names = existing.map(({ target }) => quoted(shown(call, target))).join(", ");
      throw new CommandError(`${names} exists already`, "name another folder with --out, or add --force");
    } else writeNewFiles(call.cwd, files);
    if (call.json) call.print(asJson({ tools: tools.map((tool) => asData(tool, call, folder)) }));
    else report(tools, call, folder);
    return EXIT.done;
  },
});

/** @throws CommandError */
async function importFrom(name: string, call: Call<typeof OPTIONS>): Promise<ImportedTool[]> {
  const { readSource, UnreadableSource } = await import("../import/read-source.js");
  const { readImportable } = await import("../import/metadata.js");
  const { UnreadableMetadata } = await import("../metadata.js");
  const { importTools, UnimportableTools } = await import("../import/import-tools.js");
  try {
    return importTools(readImportable(await readSource(name, call.cwd), quoted(name)));
  } catch (error) {
    if (error instanceof UnreadableSource) throw new CommandError(error.message, error.hint);
    if (error instanceof UnreadableMetadata) {
      throw new CommandError(error.message, "import what the server of a tool answers to GET /meta");
    }
    if (!(error instanceof UnimportableTools)) throw error;
    reportDiagnostics(error.diagnostics, { ...call, quiet: true });
    throw new CommandError(error.message, "nothing was written; change the metadata where the errors say");
  }
}

function shown({ cwd }: Call<typeof OPTIONS>, path: string): string {
  return (relative(cwd, path) || ".").replaceAll("\\", "/");
}

function asData(tool: ImportedTool, call: Call<typeof OPTIONS>, folder: string) {
  const { fqn, file, className, path, samePorts, differences, inlined, secretNames } = tool;
  return {
    fqn,
    file: shown(call, join(folder, file)),
    class: className,
    path,
    samePorts,
    notSecret: secretNames,
    inlined,
    differences: differences.map(({ pointer, imported, generated }) => ({
      pointer,
      ...(imported === undefined ? {} : { imported: printJson(imported) }),
      ...(generated === undefined ? {} : { generated: printJson(generated) }),
    })),
  };
}

function report(tools: readonly ImportedTool[], call: Call<typeof OPTIONS>, folder: string): void {
  for (const tool of tools) {
    call.print(`wrote ${shown(call, join(folder, tool.file))}  ${tool.fqn}\n`);
    for (const line of warnings(tool)) call.complain(`warning: ${tool.fqn}: ${line}\n`);
  }
  const word = shellWord(shown(call, folder));
  if (!call.quiet) call.print(`\nNext: implement invoke and health in ${word}, then svc-gen\n`);
}

function warnings({ differences, inlined, secretNames, samePorts }: ImportedTool): string[] {
  const lines = [
    ...(samePorts ? [] : ["the ports differ from the imported ones: register the tool as a new version"]),
    ...secretNames.map(
      (pointer) => `${place(pointer)} looks like a secret; inputs can become public: @notSecret was added, check it`,
    ),
    ...differences.map(describe),
    ...inlined.map((pointer) => `${place(pointer)}: is written at its use`),
  ];
  const more = lines.length - MAX_SHOWN;
  return more > 0 ? [...lines.slice(0, MAX_SHOWN), `and ${plural(more, "more warning")}; --json has all`] : lines;
}

function describe({ pointer, imported, generated }: Difference): string {
  const at = place(pointer);
  if (imported === undefined) return `${at}: ${value(generated)} is added`;
  if (generated === undefined) return `${at}: ${value(imported)} is left out`;
  return `${at}: ${value(imported)} becomes ${value(generated)}`;
}

const MAX_PLACE = 200;

function place(pointer: string): string {
  return printable(pointer, MAX_PLACE);
}

function value(json: Difference["imported"]): string {
  return json === undefined ? "nothing" : printable(printJson(json), 60);
}

/** Printable ASCII, cut to a length. */
function printable(text: string, length: number): string {
  const cut = text.length > length ? `${text.slice(0, length)}…` : text;
  return cut.replace(/[^\x20-\x7e…]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
