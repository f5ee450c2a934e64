/** The command line: arguments, exit codes, output. All effects of svc-gen start here. */

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
import { buildInfoFile, freshBuildInfo } from "./project/build-info.js";
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

/** The environment of the command line. Tests pass their own. */
export interface CliHost {
  readonly cwd: string;
  readonly colour: boolean;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

/**
 * Runs one command line.
 *
 * @returns the exit code
 */
export async function run(args: readonly string[], host: CliHost): Promise<number> {
  try {
    return await command(args, host);
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof UnwritableError)) throw error;
    const { message } = error;
    const [code, hint] = error instanceof UsageError ? ["usage", HELP] : ["disk", "nothing was replaced"];
    if (args.includes("--json")) host.print(asJson([{ severity: "error", code, message, hint }]));
    else host.complain(`svc-gen: ${message} (${hint})\n`);
    return EXIT.usage;
  }
}

async function command(args: readonly string[], host: CliHost): Promise<number> {
  const { command: name, rest, values } = readArguments(args);
  if (values.help) {
    host.print(USAGE);
    return EXIT.done;
  }
  if (values.version) {
    host.print(`${VERSION}\n`);
    return EXIT.done;
  }
  if (rest.length > 0 && name !== "explain" && name !== "diff") {
    throw new UsageError(`${name} takes no argument, got ${quoted(rest[0] ?? "")}`);
  }
  const options: GenerateOptions = {
    ...projectOf(values.project, host.cwd),
    ...(values.out === undefined ? {} : { out: values.out }),
  };
  const reporter = { ...host, json: values.json === true, quiet: values.quiet === true };
  switch (name) {
    case "explain":
      host.print(explainCode(rest, reporter.json));
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

/** The project of a tsconfig.json, or of the folder of one. The root is the folder of the nearest package.json. */
function projectOf(project: string | undefined, cwd: string): Pick<GenerateOptions, "root" | "tsconfig"> {
  if (project === undefined) return { root: cwd };
  const given = resolve(cwd, project);
  const tsconfig = statSync(given, { throwIfNoEntry: false })?.isDirectory() ? join(given, "tsconfig.json") : given;
  let root = dirname(tsconfig);
  while (!existsSync(join(root, "package.json")) && dirname(root) !== root) root = dirname(root);
  if (!existsSync(join(root, "package.json"))) root = dirname(tsconfig);
  return { root, tsconfig: relative(root, tsconfig) };
}

interface Reporter extends CliHost {
  readonly json: boolean;
  readonly quiet: boolean;
}

/** Prints diagnostics. As JSON, the same array also has the paths of stale files. */
function report(
  { diagnostics }: Pick<Generated, "diagnostics">,
  reporter: Reporter,
  stale: readonly string[] = [],
): void {
  const shown = visibleDiagnostics(diagnostics, reporter);
  if (reporter.json) {
    const files = stale.map((file) => ({ severity: "error", code: "stale", file, hint: "run `svc-gen`" }));
    reporter.print(asJson([...shown, ...files]));
    return;
  }
  if (shown.length === 0) return;
  reporter.complain(formatDiagnostics(shown, reporter.colour));
  const errors = shown.filter(({ severity }) => severity === "error");
  if (errors.length > 0) reporter.complain(`\n${summary(errors)}\n`);
}

function visibleDiagnostics(diagnostics: readonly Diagnostic[], { quiet }: Reporter): readonly Diagnostic[] {
  return quiet ? diagnostics.filter(({ severity }) => severity !== "note") : diagnostics;
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function summary(errors: readonly Diagnostic[]): string {
  const files = new Set(errors.flatMap(({ place }) => (place === undefined ? [] : [place.file]))).size;
  return `svc-gen: ${plural(errors.length, "error")} in ${plural(files, "file")}; nothing was written`;
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Runs the generator. It is imported on demand, because TypeScript takes longer to load than everything else here. */
async function generateNow(options: GenerateOptions): Promise<Generated> {
  const { generate } = await import("./generate.js");
  return generate(options);
}

/** The options that identify a build info. */
function buildOptions({ root: _, ...options }: GenerateOptions): Record<string, string> {
  return options;
}

async function write(options: GenerateOptions, reporter: Reporter): Promise<number> {
  const same = freshBuildInfo(options.root, buildOptions(options));
  if (same !== undefined) {
    report(same, reporter);
    if (!reporter.json) reporter.print("up to date\n");
    return EXIT.done;
  }
  const generated = await generateNow(options);
  report(generated, reporter);
  if (hasErrors(generated.diagnostics)) return EXIT.diagnostics;
  const written = writeChanged(options.root, generated.files);
  if (!reporter.json) {
    const texts = written.map((path) => `wrote ${path}\n`);
    reporter.print(texts.length === 0 ? "up to date\n" : texts.join(""));
  }
  saveBuildInfo(options, generated);
  return EXIT.done;
}

async function watch(options: GenerateOptions, reporter: Reporter): Promise<number> {
  const { watchProject } = await import("./commands/watch.js");
  let lastText = "";
  await watchProject(options, {
    write: (files) => writeChanged(options.root, files),
    tell: ({ diagnostics, wrote, milliseconds }) => {
      const shown = visibleDiagnostics(diagnostics, reporter);
      if (reporter.json) {
        reporter.print(`${JSON.stringify({ diagnostics: shown, wrote, milliseconds })}\n`);
        return;
      }
      const errors = shown.filter(({ severity }) => severity === "error").length;
      const text = shown.length === 0 ? "" : formatDiagnostics(shown, reporter.colour);
      // Unchanged notes are printed once.
      if (errors > 0 || text !== lastText) reporter.complain(text);
      lastText = text;
      if (errors > 0) reporter.print(`${plural(errors, "error")}; waiting\n`);
      else reporter.print(`${wrote.length === 0 ? "up to date" : `wrote ${wrote.join(", ")}`} in ${milliseconds} ms\n`);
    },
  });
  return EXIT.done;
}

async function check(options: GenerateOptions, reporter: Reporter): Promise<number> {
  const same = freshBuildInfo(options.root, buildOptions(options));
  if (same !== undefined) {
    report(same, reporter);
    return EXIT.done;
  }
  const generated = await generateNow(options);
  if (hasErrors(generated.diagnostics)) {
    report(generated, reporter);
    return EXIT.diagnostics;
  }
  const stale = generated.files.flatMap((file) => {
    const old = readIfExists(join(options.root, file.path));
    return old === file.text ? [] : [{ path: file.path, old, text: file.text }];
  });
  report(
    generated,
    reporter,
    stale.map(({ path }) => path),
  );
  if (stale.length > 0) {
    if (!reporter.json) {
      const { staleReport } = await import("./commands/check.js");
      reporter.complain(staleReport(stale));
    }
    return EXIT.stale;
  }
  saveBuildInfo(options, generated);
  return EXIT.done;
}

/** Saves the build info for the next run, unless there is no node_modules or it is read-only. */
function saveBuildInfo(options: GenerateOptions, generated: Generated): void {
  if (!existsSync(join(options.root, "node_modules"))) return;
  try {
    replaceFiles([buildInfoFile(options.root, buildOptions(options), generated)]);
  } catch (error) {
    if (!(error instanceof UnwritableError)) throw error;
  }
}

async function meta(
  options: GenerateOptions,
  fqn: string | undefined,
  url: string | undefined,
  reporter: Reporter,
): Promise<number> {
  if (url === undefined) throw new UsageError("meta wants --url URL, under which the tool is served");
  const generated = await generateNow(options);
  report(generated, { ...reporter, quiet: true, json: false });
  if (hasErrors(generated.diagnostics)) return EXIT.diagnostics;
  const { registrationDocument } = await import("./commands/meta.js");
  const documents = generated.files.find(({ path }) => path === "meta.json")?.text ?? "[]";
  reporter.print(registrationDocument(documents, fqn, url));
  return EXIT.done;
}

function diff(files: readonly string[], reporter: Reporter): number {
  const [old, next] = files.length === 0 ? committedAndCurrent(reporter.cwd) : givenDocuments(files, reporter.cwd);
  const differences = diffDocuments(old, next);
  reporter.print(reporter.json ? listDifferences(differences) : formatDifferences(differences));
  return isBroken(differences) ? EXIT.broken : EXIT.done;
}

function givenDocuments(files: readonly string[], cwd: string): [NamedText, NamedText] {
  const [old, next] = files;
  if (old === undefined || next === undefined || files.length > 2)
    throw new UsageError(`diff wants two meta.json files, OLD NEW, or none; got ${files.length}`);
  const read = (path: string): NamedText => {
    const text = readIfExists(resolve(cwd, path));
    if (text === undefined) throw new UsageError(`cannot read ${quoted(path)}`);
    return { name: quoted(path), text };
  };
  return [read(old), read(next)];
}

/** The meta.json of git HEAD and the one on disk. */
function committedAndCurrent(cwd: string): [NamedText, NamedText] {
  const { status, stdout } = spawnSync("git", ["show", "HEAD:./meta.json"], { cwd, encoding: "utf8" });
  if (status !== 0) throw new UsageError("diff without files wants a meta.json committed in git HEAD");
  const next = readIfExists(join(cwd, "meta.json"));
  if (next === undefined) throw new UsageError("cannot read meta.json; run svc-gen first");
  return [
    { name: "meta.json of git HEAD", text: stdout },
    { name: "meta.json", text: next },
  ];
}

/**
 * Writes the files that differ from the disk.
 *
 * @returns their paths
 */
function writeChanged(root: string, files: readonly GeneratedFile[]): string[] {
  const changed = files
    .map(({ path, text }) => ({ path, target: join(root, path), content: Buffer.from(text) }))
    .map((file) => ({ ...file, old: bytesIfExists(file.target) }))
    .filter(({ old, content }) => old?.equals(content) !== true);
  for (const { path, old } of changed) {
    if (old !== undefined && path.endsWith(".ts") && !old.includes("// Generated by svc-gen ")) {
      throw new UsageError(`${quoted(path)} is not a file of svc-gen; move it, or name another folder: --out FOLDER`);
    }
  }
  replaceFiles(changed);
  return changed.map(({ path }) => path);
}

function readIfExists(path: string): string | undefined {
  return bytesIfExists(path)?.toString();
}

function bytesIfExists(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
