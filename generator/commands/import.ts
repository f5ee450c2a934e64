/** `svc-gen import META.json|URL`: generates tool classes from the metadata of existing tools. */

import { existsSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { escaped } from "svc-runtime/internal/generator";
import {
  asJson,
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  JSON_OPTION,
  plural,
  UsageError,
} from "../cli/command.js";
import { quoted, shellWord } from "../compile/diagnostics/quote.js";
import { specifier } from "../compile/project/layout.js";
import { changeLine } from "../contract/diff.js";
import { UnreadableMetadata } from "../contract/metadata.js";
import { baseOf, replaceFiles } from "../files/atomic-write.js";
import { writeNewFiles } from "../files/new-files.js";
import { type Import, type ImportedTool, importTools } from "../import/import-tools.js";
import { loadMetadata } from "../import/load-metadata.js";
import { type RefusedTool, readImportable } from "../import/metadata.js";
import { testText } from "../import/tool-source.js";
import { packageNameFor } from "../scaffold/names.js";
import { packageSpecs } from "../scaffold/package-specs.js";
import { projectAround } from "../scaffold/project-files.js";
import { shownPath } from "./options/shown-path.js";

const OPTIONS = {
  out: { type: "string", value: "DIR", summary: "folder for the classes (default: src)" },
  force: { type: "boolean", summary: "replace existing files" },
  verbose: { type: "boolean", summary: "print compatible changes too, with their JSON pointers" },
  json: JSON_OPTION,
} as const;

export const command = defineCommand({
  details: `META.json is a file with one metadata document or a list of them; URL is the address of a tool's /meta. Each tool becomes
one file with the types of its schemas, and a class whose invoke returns the failure "not implemented".

Types that several tools share are written once, to a separate file. If a tool cannot be imported, the others still are, and
the exit code is 1.

To check the result, svc-gen generates metadata from the new classes in memory and compares it with the original by the
rules of svc-gen diff. For each tool it prints whether the ports are the same, and the number of changes.

With --json: {"tools":[{"fqn","file","class","path","samePorts","verdict","retagged","changes"}],"shared","refused"}.
A change has the members "kind","port","pointer","old","new","change" of svc-gen diff --json.`,
  options: OPTIONS,
  examples: [
    ["svc-gen import meta.json", "writes src/NAME.ts for each tool in the file"],
    ["svc-gen import https://tools.example.org/sum/meta --out src/tools", "a tool of a running server"],
  ],
  run: async (call) => {
    const [name] = call.args;
    if (!name) throw new UsageError("import expects a file or a URL");
    const imported = await importFrom(name, call);
    const { tools, refused, shared } = imported;
    const folder = resolve(call.cwd, call.values.out ?? "src");
    const sources = [...tools, ...(shared === undefined ? [] : [shared])];
    const around = missingProjectFiles(tools, call);
    const files = [
      ...around.map(({ path, text }) => ({ target: join(call.cwd, path), content: text })),
      ...sources.map(({ file, text }) => ({ target: join(folder, file), content: text })),
      ...testFiles(imported, call, folder),
    ];
    const existing = files.filter(({ target }) => existsSync(target));
    if (call.values.force) replaceFiles(files, () => baseOf(call.cwd, folder));
    else if (existing.length > 0) {
      const names = existing.map(({ target }) => quoted(shownPath(call.cwd, target))).join(", ");
      throw new CommandError(
        `${names} already exists`,
        "choose another folder with --out, or add --force to replace the files",
      );
    } else writeNewFiles(call.cwd, files);
    if (call.json) call.print(asJson(asData(imported, call, folder)));
    else report(imported, call, folder, around.length > 0);
    return refused.length === 0 ? EXIT.done : EXIT.failure;
  },
});

/** Files of a project for the tools, if there is no project yet. */
function missingProjectFiles(tools: readonly ImportedTool[], { cwd }: CommandContext<typeof OPTIONS>) {
  if (existsSync(join(cwd, "package.json")) || tools.length === 0) return [];
  const fqns = tools.map(({ fqn }) => fqn);
  return projectAround(packageNameFor(basename(cwd)), fqns, packageSpecs(cwd)).filter(
    ({ path }) => !existsSync(join(cwd, path)),
  );
}

function testFiles({ tools }: Import, { cwd }: CommandContext<typeof OPTIONS>, folder: string) {
  // `test` has the same subfolders as `src`: the tests of classes in `src/shop` are in `test/shop`.
  const inside = [relative(join(cwd, "src"), folder), relative(cwd, folder)].find((path) => !path.startsWith(".."));
  const tests = join(cwd, "test", inside ?? "");
  const module = (file: string) => specifier(join(tests, "a.test.ts"), join(folder, file));
  return tools.map(({ file, className }) => ({
    target: join(tests, file.replace(/\.ts$/, ".test.ts")),
    content: testText(className, module(file)),
  }));
}

/** @throws CommandError, also if every tool is rejected */
async function importFrom(name: string, call: CommandContext<typeof OPTIONS>): Promise<Import> {
  try {
    const { tools, refused: unreadable } = readImportable(await loadMetadata(name, call.cwd), quoted(name));
    const imported = importTools(tools);
    const refused = [...unreadable, ...imported.refused];
    if (imported.tools.length > 0 || call.json) return { ...imported, refused };
    const [first, ...others] = refused as [RefusedTool, ...RefusedTool[]];
    for (const { message, hint } of others) call.complain(`svc-gen: ${message} (${hint})\n`);
    throw new CommandError(first.message, first.hint);
  } catch (error) {
    if (error instanceof UnreadableMetadata) {
      throw new CommandError(error.message, "import the answer of the tool's server to GET /meta");
    }
    throw error;
  }
}

function asData({ tools, shared, refused }: Import, call: CommandContext<typeof OPTIONS>, folder: string) {
  const path = (file: string) => shownPath(call.cwd, join(folder, file));
  return {
    tools: tools.map(({ fqn, file, className, path: toolPath, samePorts, verdict, retagged, changes }) => ({
      fqn,
      file: path(file),
      class: className,
      path: toolPath,
      samePorts,
      verdict,
      retagged,
      changes,
    })),
    ...(shared === undefined ? {} : { shared: path(shared.file) }),
    refused,
  };
}

function report(
  { tools, shared, refused }: Import,
  call: CommandContext<typeof OPTIONS>,
  folder: string,
  isNewProject: boolean,
): void {
  const path = (file: string) => shownPath(call.cwd, join(folder, file));
  for (const tool of tools) {
    call.print(`wrote ${path(tool.file)}  ${tool.fqn}: ${verdict(tool)}\n`);
    for (const line of warnings(tool, call.values.verbose === true)) call.complain(`warning: ${tool.fqn}: ${line}\n`);
  }
  if (shared !== undefined) call.print(`wrote ${path(shared.file)}  the types that several tools share\n`);
  for (const { message, hint } of refused) call.complain(`svc-gen: ${message} (${hint})\n`);
  if (call.quiet) return;
  if (refused.length > 0) {
    call.complain(`${plural(refused.length, "tool")} of ${tools.length + refused.length} cannot be imported\n`);
  }
  const tests = `wrote test/  a test to complete for each tool\n`;
  call.print(isNewProject ? `wrote package.json and the other files of a new project\n${tests}` : tests);
  const first = isNewProject ? "npm install; then " : "";
  call.print(
    `\nNext: ${first}implement invoke and health in ${shellWord(shownPath(call.cwd, folder))}, then svc-gen\n`,
  );
}

function verdict({ samePorts, verdict: judged, changes }: ImportedTool): string {
  if (!samePorts) return "the ports differ";
  if (judged === "same") return "the same";
  const differ = judged === "compatible" ? "" : ", but their types differ";
  return `the ports are the same${differ}; ${plural(changes.length, "change")}`;
}

function warnings(tool: ImportedTool, isVerbose: boolean): string[] {
  const { samePorts, retagged, isUndescribed } = tool;
  const changes = tool.changes.filter(({ kind }) => isVerbose || (samePorts && kind !== "compatible"));
  return [
    ...(samePorts ? [] : ["the ports differ from the imported ones: register the tool as a new version"]),
    ...changes.map((change) => escaped(changeLine(change), MAX_PLACE)),
    ...(retagged === undefined ? [] : [describeTags(retagged)]),
    ...(isUndescribed ? ["the tool has no description, which svc-gen requires: write one in description()"] : []),
  ];
}

function describeTags({ tag, content }: NonNullable<ImportedTool["retagged"]>): string {
  const was = `${place(tag)}${content === undefined ? "" : ` and ${place(content)}`}`;
  return `the old output distinguishes variants by the member ${was}, which svc-gen does not support; results are now {"VARIANT":{...}}: register the tool as a new version, and change the programs that read its results`;
}

const MAX_PLACE = 200;

function place(text: string): string {
  return escaped(text, MAX_PLACE);
}
