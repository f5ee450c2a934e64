/** Opens a tool project: one program for everything that svc-gen reads, and TypeScript's own opinion of it. */

import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { provideModule } from "./bare-compiler.js";
import { parseFile } from "./comments.js";
import { ts } from "./compiler.js";
import { contentHash } from "./content.js";
import { type Diagnostic, diagnostic } from "./diagnostics.js";
import { type Installed, installedTypeScript, learnLibraries, libraryFile, withDefaults } from "./installed.js";
import { Comments } from "./jsdoc.js";
import type { Place } from "./model.js";
import { type Reads, Recorder } from "./reads.js";
import type { Made } from "./render.js";
import { DeclaredOrder } from "./written.js";

/** Where the project is and where generated files go; all paths absolute. */
export interface Layout {
  readonly tsconfig: string;
  /** The package root: diagnostics and headers name files relative to it. */
  readonly root: string;
  /** The folder of the generated files. */
  readonly out: string;
}

export interface Program {
  readonly layout: Layout;
  readonly program: ts.Program;
  readonly checker: ts.TypeChecker;
  readonly order: DeclaredOrder;
  readonly comments: Comments;
  /** Files of the project that may hold tools, in the order of their paths. */
  readonly sources: readonly ts.SourceFile[];
  /** Whether a path is that of a file that is generated, for which a stub stands. */
  readonly isGenerated: (path: string) => boolean;
  /** The place of a node, which may be told to end earlier, and the line of source there. */
  readonly at: (node: ts.Node, end?: number) => Place;
}

/** What stands for the generated files while the project is read, so that their last state does not matter. */
const STUBS: readonly (readonly [name: string, text: string])[] = [
  [
    "contracts.ts",
    'import type { Contract } from "svc-runtime/v1";\nexport declare const contracts: readonly Contract[];\n',
  ],
  ["server.ts", "export {};\n"],
];

/** A project before it is read: what its configuration says. */
export interface Project {
  readonly layout: Layout;
  readonly options: ts.CompilerOptions;
  readonly installed: Installed | undefined;
  /** Absolute paths, without the generated files. */
  readonly files: readonly string[];
  readonly references: readonly ts.ProjectReference[] | undefined;
  /** What is remarkable about the configuration. */
  readonly notes: readonly Diagnostic[];
  readonly recorder: Recorder;
}

/** What the generator writes, and the folder that it may make; sources may lie beside them. */
function ownPaths({ out, root }: Layout): string[] {
  return [out, ...STUBS.map(([name]) => join(out, name)), join(root, "meta.json")];
}

/** What is wrong with a configuration, and what it was read from. */
interface Unusable {
  readonly diagnostics: readonly Diagnostic[];
  readonly reads: Reads;
}

/** Reads the configuration that `layout` names, unless it is known from before. */
export function openProject(layout: Layout, earlier: Earlier): Project | Unusable {
  const project = earlier.project ?? readProject(layout);
  if ("diagnostics" in project) return project;
  earlier.project = project;
  return { ...project, recorder: project.recorder.copy() };
}

function readProject(layout: Layout): Project | Unusable {
  const recorder = new Recorder(ownPaths(layout));
  const config = readConfig(layout, recorder);
  const unusable = (...complaint: Parameters<typeof diagnostic>): Unusable => {
    return { diagnostics: [diagnostic(...complaint)], reads: recorder.reads() };
  };
  if ("problem" in config) return unusable("SVC101", {}, config.problem);
  if (!(config.options.strictNullChecks ?? config.options.strict)) {
    return unusable("SVC102", {}, shown(layout, layout.tsconfig));
  }
  const stubs = STUBS.map(([name]) => join(layout.out, name));
  const options: ts.CompilerOptions = {
    ...config.options,
    noEmit: true,
    composite: false,
    incremental: false,
    declaration: false,
    skipLibCheck: true,
    noUnusedLocals: false,
    noUnusedParameters: false,
  };
  const files = config.files.map((path) => resolve(path)).filter((path) => !stubs.includes(path));
  const { installed, references, notes } = config;
  return { layout, options, installed, files, references, notes, recorder };
}

/** What an earlier run in the same process leaves for the next. */
export interface Earlier {
  /** What the configuration says, for as long as it says that; its recorder knows what it was read from. */
  project: Project | undefined;
  program: ts.Program | undefined;
  /** What names of modules stand for, and packages that were read on the way. */
  resolutions: ts.ModuleResolutionCache | undefined;
  /** Parsed files, by path: those whose texts have not changed. */
  readonly parsed: Map<string, Parsed>;
  readonly made: Made;
}

/** At the beginning. */
export function nothingEarlier(): Earlier {
  return { project: undefined, program: undefined, resolutions: undefined, parsed: new Map(), made: new Map() };
}

interface Parsed {
  readonly file: ts.SourceFile;
  /** Of its text. */
  readonly hash: string;
}

/** Reads the project, or as much of it as some of its files reach. */
export function openProgram(project: Project, roots: readonly string[], earlier: Earlier): Program {
  const { layout, options, references } = project;
  const generated = new Map(STUBS.map(([name, text]) => [join(layout.out, name), text]));
  const program = ts.createProgram({
    rootNames: [...roots, ...generated.keys()],
    options,
    host: hostWith(generated, project, earlier),
    ...(references === undefined ? {} : { projectReferences: references }),
    ...(earlier.program === undefined ? {} : { oldProgram: earlier.program }),
  });
  earlier.program = program;
  packageNames.clear();
  const checker = program.getTypeChecker();
  const places = new Map<ts.Node, Place>();
  const own = new Set(project.files);
  return {
    layout,
    program,
    checker,
    order: new DeclaredOrder(checker),
    comments: new Comments(checker),
    sources: program
      .getSourceFiles()
      .filter(
        (file) =>
          own.has(resolve(file.fileName)) &&
          !file.isDeclarationFile &&
          !/\.(?:test|spec)\.[cm]?tsx?$/.test(file.fileName),
      )
      .sort((one, other) => (one.fileName < other.fileName ? -1 : 1)),
    isGenerated: (path) => generated.has(resolve(path)),
    at: (node, end) => {
      const known = end === undefined ? places.get(node) : undefined;
      if (known !== undefined) return known;
      const file = node.getSourceFile();
      const start = node.getStart(file);
      const place = placeOf(layout, file, start, Math.max(1, (end ?? node.getEnd()) - start));
      if (end === undefined) places.set(node, place);
      return place;
    },
  };
}

/** TypeScript's own host, so that files have the module format that tsc gives them, with some files given as texts. */
function hostWith(
  texts: ReadonlyMap<string, string>,
  { options, installed, recorder }: Project,
  earlier: Earlier,
): ts.CompilerHost {
  const { parsed } = earlier;
  const disk = ts.createCompilerHost(options);
  const host = recorder.over(disk);
  const textOf = (path: string) => texts.get(resolve(path));
  const folders = foldersOf(texts.keys());
  // ts-morph carries the compiler without its library files; typescript-json-schema's has them.
  const library = installed?.libraries ?? dirname(schemaRequire().resolve("typescript"));
  earlier.resolutions ??= ts.createModuleResolutionCache(
    host.getCurrentDirectory(),
    host.getCanonicalFileName,
    options,
  );
  const { resolutions } = earlier;
  const complete: ts.CompilerHost & { useSourceOfProjectReferenceRedirect: () => boolean } = {
    ...host,
    getDefaultLibLocation: () => library,
    getDefaultLibFileName: (wanted) => join(library, ts.getDefaultLibFileName(wanted)),
    directoryExists: (path) => folders.has(resolve(path)) || host.directoryExists?.(path) === true,
    fileExists: (path) => textOf(path) !== undefined || host.fileExists(path),
    readFile: (path) => textOf(path) ?? host.readFile(path),
    getSourceFile: (path, wanted) => {
      const known = parsed.get(path);
      if (known !== undefined) {
        recorder.file(known.file.fileName, known.file.text, known.hash);
        return known.file;
      }
      const isLibrary = dirname(resolve(path)) === library;
      const found = isLibrary ? libraryFile(path) : path;
      const text = textOf(path) ?? disk.readFile(found);
      if (text === undefined) {
        recorder.file(found, undefined);
        return undefined;
      }
      const hash = contentHash(text);
      recorder.file(found, text, hash);
      const file = parseFile(found, text, wanted);
      // TypeScript 6 has dropped the mark in them by which earlier ones know their library files.
      if (isLibrary) file.hasNoDefaultLib = true;
      parsed.set(path, { file, hash });
      return file;
    },
    getModuleResolutionCache: () => resolutions,
    resolveModuleNameLiterals: (names, from, redirected, given, file) =>
      names.map((name) => {
        const mode = ts.getModeForUsageLocation(file, name, given);
        return ts.resolveModuleName(name.text, from, given, complete, resolutions, redirected, mode);
      }),
    // What a referenced project exports is read from its sources, built or not.
    useSourceOfProjectReferenceRedirect: () => true,
  };
  return complete;
}

/** The folders that files are in, and all those that these are in. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  }
  return folders;
}

interface Config {
  /** With the defaults of the project's own TypeScript. */
  readonly options: ts.CompilerOptions;
  readonly installed: Installed | undefined;
  readonly notes: readonly Diagnostic[];
  readonly files: readonly string[];
  readonly references: readonly ts.ProjectReference[] | undefined;
}

/** @param above the configurations that refer to this one */
function readConfig(
  layout: Layout,
  recorder: Recorder,
  above: readonly string[] = [],
): Config | { readonly problem: string } {
  const path = layout.tsconfig;
  if (!existsSync(path)) recorder.file(path, undefined);
  if (!existsSync(path)) return { problem: `${shown(layout, path)} does not exist` };
  const host = recorder.over(ts.sys);
  const installed = installedTypeScript(dirname(path), recorder);
  if (installed !== undefined) learnLibraries(installed);
  const { config, error } = ts.readConfigFile(path, host.readFile);
  if (error !== undefined) return { problem: ts.flattenDiagnosticMessageText(error.messageText, "\n") };
  const parsed = ts.parseJsonConfigFileContent(config, host, dirname(path), undefined, path);
  const { projectReferences: references } = parsed;
  if (parsed.fileNames.length === 0 && references !== undefined) {
    return firstReferenced(layout, references, recorder, [...above, path]);
  }
  // What a newer TypeScript understands is no fault; a base file that is missing is one (TS5083, TS6053).
  const missing = parsed.errors.find(({ code }) => code === 5083 || code === 6053);
  if (missing !== undefined) return { problem: ts.flattenDiagnosticMessageText(missing.messageText, "\n") };
  const options = withDefaults(parsed.options, installed, recorder);
  return { options, installed, notes: unknownValues(parsed.errors), files: parsed.fileNames, references };
}

/** Values that svc-gen's compiler does not know (TS6046), but for targets: every unknown one is the newest. */
function unknownValues(errors: readonly ts.Diagnostic[]): Diagnostic[] {
  const names = errors
    .filter(({ code }) => code === 6046)
    .map(({ messageText }) => /'--(\w+)'/.exec(ts.flattenDiagnosticMessageText(messageText, "\n"))?.[1] ?? "");
  return [...new Set(names)].filter((name) => name !== "target").map((name) => diagnostic("SVC104", {}, name));
}

/** A tsconfig that only names others: the first of them that has files. */
function firstReferenced(
  layout: Layout,
  references: readonly ts.ProjectReference[],
  recorder: Recorder,
  above: readonly string[],
): Config | { readonly problem: string } {
  for (const reference of references) {
    const tsconfig = resolve(ts.resolveProjectReferencePath(reference));
    if (above.includes(tsconfig)) continue;
    const config = readConfig({ ...layout, tsconfig }, recorder, above);
    if ("problem" in config || config.files.length > 0) return config;
  }
  return { problem: `${shown(layout, layout.tsconfig)} has no files` };
}

/** TypeScript's own errors in the files that `wanted` names, in tsc's form; generated files and libraries have none. */
export function compilerErrors(opened: Program, wanted: (path: string) => boolean = () => true): Diagnostic[] {
  const { program, layout } = opened;
  const found = [...program.getGlobalDiagnostics()];
  for (const file of program.getSourceFiles()) {
    const { fileName, isDeclarationFile } = file;
    if (isDeclarationFile || opened.isGenerated(fileName) || program.isSourceFileFromExternalLibrary(file)) continue;
    if (wanted(fileName)) found.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file));
  }
  return found
    .filter(({ category }) => category === ts.DiagnosticCategory.Error)
    .map((each) => {
      const related = (each.relatedInformation ?? []).map((other) => said(layout, other));
      const common = { code: `TS${each.code}`, severity: "error", ...said(layout, each) } as const;
      return related.length === 0 ? common : { ...common, related };
    });
}

/** The message of a diagnostic of TypeScript and its place. */
function said(layout: Layout, { file, start, length, messageText }: ts.DiagnosticRelatedInformation) {
  const message = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (file === undefined || start === undefined) return { message };
  return { message, place: placeOf(layout, file, start, length ?? 1) };
}

function placeOf(layout: Layout, file: ts.SourceFile, start: number, length: number): Place {
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  const source = file.text.slice(file.getPositionOfLineAndCharacter(line, 0)).split(/\r?\n/, 1)[0] ?? "";
  const name = shownNames.get(file) ?? shown(layout, file.fileName);
  shownNames.set(file, name);
  return { file: name, line: line + 1, column: character + 1, length, source };
}

/** Of files in which places were looked up: a file is parsed for one project. */
const shownNames = new WeakMap<ts.SourceFile, string>();

/** A path as people and generated files see it: relative to the project, forward slashes. */
export function shown(layout: Layout, path: string): string {
  return relative(layout.root, path).split(sep).join("/");
}

/** By file and by folder; both are looked up anew for every program. */
const packageNames = new Map<string, string | undefined>();

/** The name of the package that a file belongs to, symlinks followed. */
export function packageOf(fileName: string): string | undefined {
  if (!packageNames.has(fileName)) packageNames.set(fileName, findPackage(fileName));
  return packageNames.get(fileName);
}

function findPackage(fileName: string): string | undefined {
  const folders: string[] = [];
  let folder = dirname(existsSync(fileName) ? realpathSync(fileName) : fileName);
  for (;;) {
    if (packageNames.has(folder)) break;
    folders.push(folder);
    const manifest = join(folder, "package.json");
    if (existsSync(manifest)) {
      const name = nameIn(manifest);
      if (name !== undefined) {
        packageNames.set(folder, name);
        break;
      }
    }
    if (dirname(folder) === folder) {
      packageNames.set(folder, undefined);
      break;
    }
    folder = dirname(folder);
  }
  const name = packageNames.get(folder);
  for (const each of folders) packageNames.set(each, name);
  return name;
}

/** The name in a package's manifest; none in one that is being written. */
function nameIn(manifest: string): string | undefined {
  try {
    return JSON.parse(readFileSync(manifest, "utf8")).name;
  } catch {
    return undefined;
  }
}

/**
 * typescript-json-schema brings a TypeScript of its own. It gets ts-morph's instead, before it is loaded: one compiler
 * in the process, 0.2 s less to load, and the types of one are the types of the other. Both must be of one minor version.
 */
export function shareCompiler(): void {
  const fromSchema = schemaRequire();
  const path = fromSchema.resolve("typescript");
  const { version } = fromSchema("typescript/package.json") as { version: string };
  const minor = (text: string) => text.split(".").slice(0, 2).join(".");
  if (minor(version) !== minor(ts.version)) {
    throw new Error(
      `typescript-json-schema wants TypeScript ${version}, ts-morph has ${ts.version}: versions must agree`,
    );
  }
  provideModule(path, () => ts);
}

/** Finds what typescript-json-schema finds. */
function schemaRequire(): NodeJS.Require {
  return createRequire(createRequire(import.meta.url).resolve("typescript-json-schema"));
}
