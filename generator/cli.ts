/** The command line: arguments, exit codes, what is written. Other files have effects only when this one asks for them. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { replaceFiles, UnwritableError } from "./atomic-write.js";
import { readArguments, UsageError } from "./commands/arguments.js";
import { diffDocuments, formatDifferences, isBroken, listDifferences, type NamedText } from "./commands/diff.js";
import { explainCode } from "./commands/explain.js";
import { type Diagnostic, formatDiagnostics, hasErrors } from "./diagnostics/diagnostics.js";
import { quoted } from "./diagnostics/quote.js";
import type { GeneratedFile } from "./emit/render.js";
import type { Generated } from "./generate.js";
import { recordOf, unchangedSince } from "./project/build-info.js";
import type { GenerateOptions } from "./project/layout.js";
import { VERSION } from "./version.js";

/** 0 written or up to date, 1 diagnostics, 2 usage, 3 stale, 4 contract broken. */
export const EXIT = { done: 0, diagnostics: 1, usage: 2, stale: 3, broken: 4 } as const;

const USAGE = `svc-gen ${VERSION}: tool servers from TypeScript classes

  svc-gen                          write src/generated/ and meta.json
  svc-gen --check                  exit 3 and show the difference when they are stale
  svc-gen --watch                  write them now and whenever a file changes that they depend on, until Ctrl-C
  svc-gen explain CODE             what a diagnostic means
  svc-gen meta --fqn F --url URL   the metadata document of one tool, for registration
  svc-gen diff [OLD NEW]           compare two meta.json, or git HEAD's with the one here; exit 4 when a contract is broken

  --project FILE   tsconfig.json of the tool project, or its folder (default: tsconfig.json here)
  --out FOLDER     where generated code goes (default: src/generated)
  --json           what is printed, as JSON on standard output: diagnostics, the page of a code, differences;
                   with --watch one line a run
  --quiet          no notes
`;

const HELP = "see svc-gen --help";

/** What the command line acts on; the tests give their own. */
export interface Surroundings {
  readonly cwd: string;
  readonly colour: boolean;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

/** Runs one command line and says with which code to exit. */
export async function run(args: readonly string[], around: Surroundings): Promise<number> {
  try {
    return await command(args, around);
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof UnwritableError)) throw error;
    const { message } = error;
    const [code, hint] = error instanceof UsageError ? ["usage", HELP] : ["disk", "nothing was replaced"];
    if (args.includes("--json")) around.print(asJson([{ severity: "error", code, message, hint }]));
    else around.complain(`svc-gen: ${message} (${hint})\n`);
    return EXIT.usage;
  }
}

async function command(args: readonly string[], around: Surroundings): Promise<number> {
  const { command: name, rest, values } = readArguments(args);
  if (values.help) {
    around.print(USAGE);
    return EXIT.done;
  }
  if (values.version) {
    around.print(`${VERSION}\n`);
    return EXIT.done;
  }
  if (rest.length > 0 && name !== "explain" && name !== "diff") {
    throw new UsageError(`${name} takes no argument, got ${quoted(rest[0] ?? "")}`);
  }
  const options: GenerateOptions = {
    ...projectOf(values.project, around.cwd),
    ...(values.out === undefined ? {} : { out: values.out }),
  };
  const reporter = { ...around, json: values.json === true, quiet: values.quiet === true };
  switch (name) {
    case "explain":
      around.print(explainCode(rest, reporter.json));
      return EXIT.done;
    case "meta":
      return meta(options, values.fqn, values.url, reporter);
    case "diff":
      return diff(rest, reporter);
    default:
      if (values.watch) return watch(options, reporter);
      return values.check || name === "check" ? check(options, reporter) : write(options, reporter);
  }
}

/** The project of a tsconfig.json, or of the folder that holds one: its root is the folder of the nearest package.json. */
function projectOf(project: string | undefined, cwd: string): Pick<GenerateOptions, "root" | "tsconfig"> {
  if (project === undefined) return { root: cwd };
  const given = resolve(cwd, project);
  const tsconfig = statSync(given, { throwIfNoEntry: false })?.isDirectory() ? join(given, "tsconfig.json") : given;
  let root = dirname(tsconfig);
  while (!existsSync(join(root, "package.json")) && dirname(root) !== root) root = dirname(root);
  if (!existsSync(join(root, "package.json"))) root = dirname(tsconfig);
  return { root, tsconfig: relative(root, tsconfig) };
}

interface Reporter extends Surroundings {
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Prints diagnostics; as JSON also the paths of stale files, in the one array. */
function report(
  { diagnostics }: Pick<Generated, "diagnostics">,
  around: Reporter,
  stale: readonly string[] = [],
): void {
  const shown = shownOf(diagnostics, around);
  if (around.json) {
    const files = stale.map((file) => ({ severity: "error", code: "stale", file, hint: "run `svc-gen`" }));
    around.print(asJson([...shown, ...files]));
    return;
  }
  if (shown.length === 0) return;
  around.complain(formatDiagnostics(shown, around.colour));
  const errors = shown.filter(({ severity }) => severity === "error");
  if (errors.length > 0) around.complain(`\n${summary(errors)}\n`);
}

function shownOf(diagnostics: readonly Diagnostic[], { quiet }: Reporter): readonly Diagnostic[] {
  return quiet ? diagnostics.filter(({ severity }) => severity !== "note") : diagnostics;
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function summary(errors: readonly Diagnostic[]): string {
  const files = new Set(errors.flatMap(({ place }) => (place === undefined ? [] : [place.file]))).size;
  return `svc-gen: ${counted(errors.length, "error")} in ${counted(files, "file")}; nothing was written`;
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** The generator, loaded when it is needed: TypeScript takes longer to load than everything else that is done here. */
async function generateNow(options: GenerateOptions): Promise<Generated> {
  const { generate } = await import("./generate.js");
  return generate(options);
}

/** The options as they name a record. */
function recorded({ root: _, ...options }: GenerateOptions): Record<string, string> {
  return options;
}

async function write(options: GenerateOptions, around: Reporter): Promise<number> {
  const same = unchangedSince(options.root, recorded(options));
  if (same !== undefined) {
    report(same, around);
    if (!around.json) around.print("up to date\n");
    return EXIT.done;
  }
  const generated = await generateNow(options);
  report(generated, around);
  if (hasErrors(generated.diagnostics)) return EXIT.diagnostics;
  const written = writeChanged(options.root, generated.files);
  if (!around.json) {
    const texts = written.map((path) => `wrote ${path}\n`);
    around.print(texts.length === 0 ? "up to date\n" : texts.join(""));
  }
  remember(options, generated);
  return EXIT.done;
}

async function watch(options: GenerateOptions, around: Reporter): Promise<number> {
  const { watchProject } = await import("./commands/watch.js");
  let said = "";
  await watchProject(options, {
    write: (files) => writeChanged(options.root, files),
    tell: ({ diagnostics, wrote, milliseconds }) => {
      const shown = shownOf(diagnostics, around);
      if (around.json) {
        around.print(`${JSON.stringify({ diagnostics: shown, wrote, milliseconds })}\n`);
        return;
      }
      const errors = shown.filter(({ severity }) => severity === "error").length;
      const text = shown.length === 0 ? "" : formatDiagnostics(shown, around.colour);
      // Notes are said once, until there are others.
      if (errors > 0 || text !== said) around.complain(text);
      said = text;
      if (errors > 0) around.print(`${counted(errors, "error")}; waiting\n`);
      else around.print(`${wrote.length === 0 ? "up to date" : `wrote ${wrote.join(", ")}`} in ${milliseconds} ms\n`);
    },
  });
  return EXIT.done;
}

async function check(options: GenerateOptions, around: Reporter): Promise<number> {
  const same = unchangedSince(options.root, recorded(options));
  if (same !== undefined) {
    report(same, around);
    return EXIT.done;
  }
  const generated = await generateNow(options);
  if (hasErrors(generated.diagnostics)) {
    report(generated, around);
    return EXIT.diagnostics;
  }
  const stale = generated.files.flatMap((file) => {
    const old = readIfThere(join(options.root, file.path));
    return old === file.text ? [] : [{ path: file.path, old, text: file.text }];
  });
  report(
    generated,
    around,
    stale.map(({ path }) => path),
  );
  if (stale.length > 0) {
    if (!around.json) {
      const { staleReport } = await import("./commands/check.js");
      around.complain(staleReport(stale));
    }
    return EXIT.stale;
  }
  remember(options, generated);
  return EXIT.done;
}

/** Keeps the record for the next run; there is none without node_modules, or where nothing can be written. */
function remember(options: GenerateOptions, generated: Generated): void {
  if (!existsSync(join(options.root, "node_modules"))) return;
  try {
    replaceFiles([recordOf(options.root, recorded(options), generated)]);
  } catch (error) {
    if (!(error instanceof UnwritableError)) throw error;
  }
}

async function meta(
  options: GenerateOptions,
  fqn: string | undefined,
  url: string | undefined,
  around: Reporter,
): Promise<number> {
  if (url === undefined) throw new UsageError("meta wants --url URL, under which the tool is served");
  const generated = await generateNow(options);
  report(generated, { ...around, quiet: true, json: false });
  if (hasErrors(generated.diagnostics)) return EXIT.diagnostics;
  const { registrationDocument } = await import("./commands/meta.js");
  const documents = generated.files.find(({ path }) => path === "meta.json")?.text ?? "[]";
  around.print(registrationDocument(documents, fqn, url));
  return EXIT.done;
}

function diff(files: readonly string[], around: Reporter): number {
  const [old, next] = files.length === 0 ? headAndHere(around.cwd) : givenDocuments(files, around.cwd);
  const differences = diffDocuments(old, next);
  around.print(around.json ? listDifferences(differences) : formatDifferences(differences));
  return isBroken(differences) ? EXIT.broken : EXIT.done;
}

function givenDocuments(files: readonly string[], cwd: string): [NamedText, NamedText] {
  const [old, next] = files;
  if (old === undefined || next === undefined || files.length > 2)
    throw new UsageError(`diff wants two meta.json files, OLD NEW, or none; got ${files.length}`);
  const read = (path: string): NamedText => {
    const text = readIfThere(resolve(cwd, path));
    if (text === undefined) throw new UsageError(`cannot read ${quoted(path)}`);
    return { name: quoted(path), text };
  };
  return [read(old), read(next)];
}

/** The committed meta.json and the one on disk. */
function headAndHere(cwd: string): [NamedText, NamedText] {
  const { status, stdout } = spawnSync("git", ["show", "HEAD:./meta.json"], { cwd, encoding: "utf8" });
  if (status !== 0) throw new UsageError("diff without files wants a meta.json committed in git HEAD");
  const next = readIfThere(join(cwd, "meta.json"));
  if (next === undefined) throw new UsageError("cannot read meta.json; run svc-gen first");
  return [
    { name: "meta.json of git HEAD", text: stdout },
    { name: "meta.json", text: next },
  ];
}

/** Writes the files that differ from what is there, and returns their paths. */
function writeChanged(root: string, files: readonly GeneratedFile[]): string[] {
  const changed = files
    .map(({ path, text }) => ({ path, target: join(root, path), content: Buffer.from(text) }))
    .map((file) => ({ ...file, old: bytesIfThere(file.target) }))
    .filter(({ old, content }) => old?.equals(content) !== true);
  for (const { path, old } of changed) {
    if (old !== undefined && path.endsWith(".ts") && !old.includes("// Generated by svc-gen ")) {
      throw new UsageError(`${quoted(path)} is not a file of svc-gen; move it, or name another folder: --out FOLDER`);
    }
  }
  replaceFiles(changed);
  return changed.map(({ path }) => path);
}

function readIfThere(path: string): string | undefined {
  return bytesIfThere(path)?.toString();
}

function bytesIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
