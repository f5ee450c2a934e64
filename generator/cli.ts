/** The command line: arguments, disk, exit codes. The only file of the generator with effects. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { staleReport } from "./commands/check.js";
import { diffDocuments, formatDifferences, isBroken } from "./commands/diff.js";
import { explainCode } from "./commands/explain.js";
import { type Diagnostic, formatDiagnostic, hasErrors } from "./diagnostics.js";
import type { Generated, GenerateOptions } from "./generate.js";
import { manifestOf, manifestPath, unchanged } from "./manifest.js";
import type { GeneratedFile } from "./render.js";
import { VERSION } from "./version.js";

/** 0 written or up to date, 1 diagnostics, 2 usage, 3 stale, 4 contract broken. */
export const EXIT = { done: 0, diagnostics: 1, usage: 2, stale: 3, broken: 4 } as const;

const USAGE = `svc-gen ${VERSION}: tool servers from TypeScript classes

  svc-gen                          write src/generated/ and meta.json
  svc-gen --check                  exit 3 and show the difference when they are stale
  svc-gen explain CODE             what a diagnostic means
  svc-gen meta --fqn F --url URL   the metadata document of one tool, for registration
  svc-gen diff [OLD NEW]           compare two meta.json, or git HEAD's with the one here; exit 4 when a contract is broken

  --project FILE   tsconfig.json of the tool project, or its folder (default: tsconfig.json here)
  --out FOLDER     where generated code goes (default: src/generated)
  --json           diagnostics as JSON, one array on standard output
  --quiet          no notes
`;

/** What the command line acts on; the tests give their own. */
export interface Surroundings {
  readonly cwd: string;
  readonly colour: boolean;
  readonly print: (text: string) => void;
  readonly complain: (text: string) => void;
}

class UsageError extends Error {}

/** Runs one command line and says with which code to exit. */
export async function run(args: readonly string[], around: Surroundings): Promise<number> {
  try {
    return await command(args, around);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    around.complain(`svc-gen: ${error.message}\n\n${USAGE}`);
    return EXIT.usage;
  }
}

async function command(args: readonly string[], around: Surroundings): Promise<number> {
  const { values, positionals } = parse(args);
  if (values.help) {
    around.print(USAGE);
    return EXIT.done;
  }
  if (values.version) {
    around.print(`${VERSION}\n`);
    return EXIT.done;
  }
  const [name, ...rest] = positionals;
  const options: GenerateOptions = {
    ...projectOf(values.project, around.cwd),
    ...(values.out === undefined ? {} : { out: values.out }),
  };
  if (values.json && (name === "explain" || name === "diff")) throw new UsageError(`${name} has no --json`);
  const reporter = { ...around, json: values.json === true, quiet: values.quiet === true };
  switch (name) {
    case undefined:
    case "generate":
      if (rest.length > 0) throw new UsageError(`unexpected argument ${JSON.stringify(rest[0])}`);
      return values.check ? check(options, reporter) : write(options, reporter);
    case "check":
      return check(options, reporter);
    case "explain":
      return explainCommand(rest, around);
    case "meta":
      return meta(options, values.fqn, values.url, reporter);
    case "diff":
      return diff(rest, around);
    default:
      throw new UsageError(`unknown command ${JSON.stringify(name)}`);
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

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        check: { type: "boolean" },
        project: { type: "string", short: "p" },
        out: { type: "string" },
        json: { type: "boolean" },
        quiet: { type: "boolean" },
        fqn: { type: "string" },
        url: { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
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
  const shown = diagnostics.filter(({ severity }) => severity !== "note" || !around.quiet);
  if (around.json) {
    const files = stale.map((file) => ({ severity: "error", code: "stale", file, hint: "run `svc-gen`" }));
    around.print(`${JSON.stringify([...shown, ...files], undefined, 2)}\n`);
    return;
  }
  if (shown.length === 0) return;
  around.complain(`${shown.map((each) => formatDiagnostic(each, around.colour)).join("\n\n")}\n`);
  const errors = shown.filter(({ severity }) => severity === "error");
  if (errors.length > 0) around.complain(`\n${summary(errors)}\n`);
}

function summary(errors: readonly Diagnostic[]): string {
  const files = new Set(errors.flatMap(({ place }) => (place === undefined ? [] : [place.file]))).size;
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  return `svc-gen: ${count(errors.length, "error")} in ${count(files, "file")}; nothing was written`;
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
  const last = unchanged(options.root, recorded(options));
  if (last !== undefined) {
    report(last, around);
    if (!around.json) around.print("up to date\n");
    return EXIT.done;
  }
  const generated = await generateNow(options);
  report(generated, around);
  if (hasErrors(generated.diagnostics)) return EXIT.diagnostics;
  const written = generated.files.filter((file) => writeIfChanged(options.root, file));
  if (!around.json) {
    const texts = written.map(({ path }) => `wrote ${path}\n`);
    around.print(texts.length === 0 ? "up to date\n" : texts.join(""));
  }
  remember(options, generated);
  return EXIT.done;
}

async function check(options: GenerateOptions, around: Reporter): Promise<number> {
  const last = unchanged(options.root, recorded(options));
  if (last !== undefined) {
    report(last, around);
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
    if (!around.json) around.complain(staleReport(stale));
    return EXIT.stale;
  }
  remember(options, generated);
  return EXIT.done;
}

/** Keeps the record for the next run; a project without node_modules is left without one. */
function remember(options: GenerateOptions, { reads, files, diagnostics }: Generated): void {
  if (!existsSync(join(options.root, "node_modules"))) return;
  const path = manifestPath(options.root, recorded(options));
  replaceFile(path, JSON.stringify(manifestOf(recorded(options), reads, files, diagnostics)));
}

function explainCommand(codes: readonly string[], around: Surroundings): number {
  const [code] = codes;
  const text = code === undefined ? undefined : explainCode(code);
  if (text === undefined)
    throw new UsageError(`explain wants a code, such as SVC112; got ${JSON.stringify(code ?? "")}`);
  around.print(text);
  return EXIT.done;
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
  const result = registrationDocument(generated.files.find(({ path }) => path === "meta.json")?.text ?? "[]", fqn, url);
  if ("problem" in result) throw new UsageError(result.problem);
  around.print(result.text);
  return EXIT.done;
}

function diff(files: readonly string[], around: Surroundings): number {
  if (files.length === 0) return diffWithHead(around);
  const [old, next] = files;
  if (old === undefined || next === undefined || files.length > 2)
    throw new UsageError("diff wants two meta.json files: OLD NEW");
  const read = (path: string): string => {
    const text = readIfThere(join(around.cwd, path)) ?? readIfThere(path);
    if (text === undefined) throw new UsageError(`cannot read ${path}`);
    return text;
  };
  const differences = diffDocuments(read(old), read(next));
  around.print(formatDifferences(differences));
  return isBroken(differences) ? EXIT.broken : EXIT.done;
}

/** The committed meta.json against the one on disk. */
function diffWithHead(around: Surroundings): number {
  const { status, stdout } = spawnSync("git", ["show", "HEAD:./meta.json"], { cwd: around.cwd, encoding: "utf8" });
  if (status !== 0) throw new UsageError("diff without files wants a meta.json committed in git HEAD");
  const next = readIfThere(join(around.cwd, "meta.json"));
  if (next === undefined) throw new UsageError("cannot read meta.json; run svc-gen first");
  const differences = diffDocuments(stdout, next);
  around.print(formatDifferences(differences));
  return isBroken(differences) ? EXIT.broken : EXIT.done;
}

/** Replaces the file as a whole, so that nobody reads half of it; leaves it alone when it is the same. */
function writeIfChanged(root: string, { path, text }: GeneratedFile): boolean {
  const target = join(root, path);
  if (readIfThere(target) === text) return false;
  replaceFile(target, text);
  return true;
}

function replaceFile(target: string, text: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
