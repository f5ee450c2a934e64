/** Opens a tool project as a TypeScript program and collects TypeScript's errors. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, join, resolve } from "node:path";
import { readJsonFile } from "../../files/read-file.js";
import { type Diagnostic, diagnostic, hasErrors } from "../diagnostics/diagnostics.js";
import type { Place } from "../model.js";
import { findUpwards, foldersUp } from "./folders-up.js";
import { InputRecorder } from "./input-recorder.js";
import { displayPath, type Layout } from "./layout.js";
import { checkManifest, RUNTIME } from "./manifest.js";
import {
  type InstalledTypeScript,
  installedTypeScript,
  libraryFile,
  minorOf,
  registerLibNames,
  withDefaults,
} from "./project-typescript.js";
import { type CompilerNodeToWrappedType, createWrappedNode, type Node, ts } from "./typescript.js";

export interface Program {
  readonly layout: Layout;
  readonly notes: readonly Diagnostic[];
  readonly installed: InstalledTypeScript | undefined;
  /** See {@link Project.emits}. */
  readonly emits: boolean;
  readonly program: ts.Program;
  readonly checked: Checked;
  readonly checker: ts.TypeChecker;
  /** Key that changes whenever the result of a source file may change; undefined if unknown. */
  readonly keyOf: (file: ts.SourceFile) => string | undefined;
  /** Files of the project that may contain tools, ordered by path. */
  readonly sources: readonly ts.SourceFile[];
  /** Returns the ts-morph node that wraps a compiler node, always the same one. */
  readonly wrap: Wrap;
  /** Whether a path is that of a generated file, for which the program has a stub. */
  readonly isGenerated: (path: string) => boolean;
  /** Whether a file belongs to a package or to TypeScript, not to the project. */
  readonly isForeign: (file: ts.SourceFile) => boolean;
  /** Place of a node and its line of source; `end` and `start` limit the marked part. */
  readonly at: (node: ts.Node, end?: number, start?: number) => Place;
}

/** Stubs for the generated files, so that generated text of earlier runs has no influence. */
const STUBS: readonly (readonly [name: string, text: string])[] = [
  [
    "contracts.ts",
    'import type { Contract } from "svc-runtime/v1";\nexport declare const contracts: readonly Contract[];\n',
  ],
  // `findServerOptions` compares the options that `server-options.ts` exports with this type.
  [
    "server.ts",
    'import type { BootstrapOptions } from "svc-runtime";\nexport declare const options: BootstrapOptions;\n',
  ],
];

/** The configuration of a project. */
export interface Project {
  readonly layout: Layout;
  readonly options: ts.CompilerOptions;
  /** Path of the configuration with the files: that of the layout, or one that it references. */
  readonly tsconfig: string;
  /** Whether the project's own tsc writes JavaScript. {@link options} do not tell, because they always set `noEmit`. */
  readonly emits: boolean;
  readonly installed: InstalledTypeScript | undefined;
  /** Absolute paths of the project's source files, without generated files. */
  readonly files: readonly string[];
  readonly references: readonly ts.ProjectReference[] | undefined;
  readonly notes: readonly Diagnostic[];
  readonly recorder: InputRecorder;
  /** Sources that are not on disk, by absolute path. */
  readonly texts?: ReadonlyMap<string, string>;
}

/** The generated files and their folder. The folder may also contain sources. */
function ownPaths({ out, root }: Layout): string[] {
  return [out, ...STUBS.map(([name]) => join(out, name)), join(root, "meta.json")];
}

/** Errors of a configuration, and the files from which it was read. */
export interface InvalidProject {
  readonly diagnostics: readonly Diagnostic[];
  readonly recorder: InputRecorder;
}

export function readProject(layout: Layout): Project | InvalidProject {
  const recorder = new InputRecorder(ownPaths(layout));
  const config = readConfig(layout, recorder);
  const invalid = (...reason: Parameters<typeof diagnostic>): InvalidProject => {
    return { diagnostics: [diagnostic(...reason)], recorder };
  };
  if ("problem" in config) {
    const { place, problem } = config;
    return place === undefined
      ? invalid("SVC101", {}, problem)
      : invalid("SVC101", { place }, problem, "correct the file at this position");
  }
  const diagnostics = checkManifest(layout, recorder);
  if (hasErrors(diagnostics)) return { diagnostics, recorder };
  if (!(config.options.strictNullChecks ?? config.options.strict)) {
    const option = strictOption(config.source);
    return option === undefined
      ? invalid("SVC102", {}, displayPath(layout, config.source.fileName))
      : invalid("SVC102", {
          place: placeOf(layout, config.source, option.getStart(config.source), option.getWidth(config.source)),
        });
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
  const all = config.files.map((path) => resolve(path));
  const files = all.filter((path) => !stubs.includes(path));
  const { installed, references } = config;
  const notes = [...diagnostics, ...config.notes];
  const emits = !config.options.noEmit && !config.options.emitDeclarationOnly;
  const tsconfig = resolve(config.source.fileName);
  return { layout, options, emits, tsconfig, installed, files, references, notes, recorder };
}

/** Creates the program of a single run and records all its lookups. */
export function compileOnce(project: Project): ts.Program {
  const disk = ts.createCompilerHost(project.options);
  const host = adaptHost(project.recorder.wrap(disk), project);
  return ts.createProgram({
    rootNames: rootsOf(project),
    options: project.options,
    host: {
      ...host,
      getSourceFile: (path, wanted) => {
        const text = host.readFile(path);
        if (text === undefined) return undefined;
        const parse = /\.d\.[cm]?ts$/.test(path) ? parseDeclarations : ts.createSourceFile;
        return parse(path, text, wanted);
      },
    },
    ...(project.references === undefined ? {} : { projectReferences: project.references }),
  });
}

/** The project's source files and the generated files. */
export function rootsOf({ files, layout }: Project): string[] {
  return [...files, ...STUBS.map(([name]) => join(layout.out, name))];
}

/** Source of TypeScript's errors: the program, or a builder that reuses errors of unaffected files. */
type Checked = Pick<ts.BuilderProgram, "getGlobalDiagnostics" | "getSyntacticDiagnostics" | "getSemanticDiagnostics">;

/** @param keyOf see {@link Program.keyOf}; without it, no result is reused */
export function openProgram(
  { layout, files, notes, installed, emits }: Project,
  program: ts.Program,
  checked: Checked = program,
  keyOf: Program["keyOf"] = () => undefined,
): Program {
  packageNames.clear();
  const checker = program.getTypeChecker();
  const places = new Map<ts.Node, Place>();
  const own = new Set(files);
  const generated = new Set(STUBS.map(([name]) => join(layout.out, name)));
  return {
    layout,
    notes,
    installed,
    emits,
    program,
    checked,
    checker,
    keyOf,
    sources: program
      .getSourceFiles()
      .filter(
        (file) =>
          own.has(resolve(file.fileName)) &&
          !file.isDeclarationFile &&
          !/\.(?:test|spec)\.[cm]?tsx?$/.test(file.fileName),
      )
      .sort((one, other) => (one.fileName < other.fileName ? -1 : 1)),
    wrap: wrapNodes(checker),
    isGenerated: (path) => generated.has(resolve(path)),
    isForeign: (file) =>
      (file.isDeclarationFile || program.isSourceFileFromExternalLibrary(file)) && !own.has(resolve(file.fileName)),
    at: (node, end, from) => {
      const known = end === undefined ? places.get(node) : undefined;
      if (known !== undefined) return known;
      const file = node.getSourceFile();
      const start = from ?? node.getStart(file);
      const place = placeOf(layout, file, start, Math.max(1, (end ?? node.getEnd()) - start));
      if (end === undefined) places.set(node, place);
      return place;
    },
  };
}

type Wrap = <T extends ts.Node>(node: T) => CompilerNodeToWrappedType<T>;

/**
 * Wraps the nodes of a program. Each call of `createWrappedNode` creates a context, so all nodes of a file share one.
 * Compare nodes of different files by `compilerNode`: a symbol may lead to the same node in another context.
 */
function wrapNodes(typeChecker: ts.TypeChecker): Wrap {
  const wrapped = new Map<ts.Node, Node>();
  const wrap = (node: ts.Node): Node => {
    const known = wrapped.get(node);
    if (known !== undefined) return known;
    const isChild = (child: Node) => (child.compilerNode === node ? child : undefined);
    const own = ts.isSourceFile(node) ? undefined : wrap(node.parent).forEachChild(isChild);
    // `forEachChild` does not visit the nodes of comments.
    const found = own ?? createWrappedNode(node, { typeChecker });
    wrapped.set(node, found);
    return found;
  };
  return wrap as Wrap;
}

type AdaptedHost = Pick<ts.CompilerHost, "fileExists" | "readFile" | "directoryExists">;

/**
 * Adapts a TypeScript host: stubs for generated files, library files of the project's TypeScript, and sources of
 * referenced projects whether they are built or not.
 */
export function adaptHost<Host extends AdaptedHost>(host: Host, { layout, installed, texts = new Map() }: Project) {
  const stubs = new Map([...texts, ...STUBS.map(([name, text]) => [join(layout.out, name), text] as const)]);
  const stubOf = (path: string) => stubs.get(resolve(path));
  const folders = new Set([...stubs.keys()].flatMap((path) => foldersUp(dirname(path))));
  const library = libraryFolder(installed);
  return {
    ...host,
    getDefaultLibLocation: () => library,
    getDefaultLibFileName: (wanted: ts.CompilerOptions) => join(library, ts.getDefaultLibFileName(wanted)),
    directoryExists: (path: string) => folders.has(resolve(path)) || host.directoryExists?.(path) === true,
    fileExists: (path: string) => stubOf(path) !== undefined || host.fileExists(path),
    readFile: (path: string) =>
      stubOf(path) ?? host.readFile(dirname(resolve(path)) === library ? libraryFile(path) : path),
    useSourceOfProjectReferenceRedirect: () => true,
  };
}

/**
 * Folder of the library files, which ts-morph does not contain: that of the project's TypeScript, otherwise that of the
 * TypeScript of typescript-json-schema.
 */
function libraryFolder(installed: InstalledTypeScript | undefined): string {
  if (installed?.libraries !== undefined) return installed.libraries;
  defaultLibrary ??= dirname(schemaRequire().resolve("typescript"));
  return defaultLibrary;
}

let defaultLibrary: string | undefined;

/**
 * Parsed declaration files by path and options, shared by all runs of the process: parsing the library and the runtime
 * is most of a small run.
 */
const declarations = new Map<string, ts.SourceFile>();

/** Parses a declaration file, or returns the one parsed for the same text: TypeScript does not change bound files. */
function parseDeclarations(
  path: string,
  text: string,
  wanted: ts.ScriptTarget | ts.CreateSourceFileOptions,
): ts.SourceFile {
  const { languageVersion, impliedNodeFormat, jsDocParsingMode } =
    typeof wanted === "object" ? wanted : ({ languageVersion: wanted } as ts.CreateSourceFileOptions);
  const key = JSON.stringify([path, languageVersion, impliedNodeFormat, jsDocParsingMode]);
  const parsed = declarations.get(key);
  if (parsed?.text === text) return parsed;
  const file = ts.createSourceFile(path, text, wanted);
  declarations.set(key, file);
  return file;
}

interface Config {
  readonly source: ts.TsConfigSourceFile;
  readonly options: ts.CompilerOptions;
  readonly installed: InstalledTypeScript | undefined;
  readonly notes: readonly Diagnostic[];
  readonly files: readonly string[];
  readonly references: readonly ts.ProjectReference[] | undefined;
}

interface ConfigProblem {
  readonly problem: string;
  readonly place?: Place;
}

/** @param above the configurations whose references lead to this one */
function readConfig(layout: Layout, recorder: InputRecorder, above: readonly string[] = []): Config | ConfigProblem {
  const path = layout.tsconfig;
  if (!existsSync(path)) {
    recorder.file(path, undefined);
    return { problem: `${displayPath(layout, path)} does not exist` };
  }
  const host = recorder.wrap(ts.sys);
  const installed = installedTypeScript(dirname(path), recorder);
  if (installed !== undefined) registerLibNames(installed);
  const source = ts.readJsonConfigFile(path, host.readFile);
  const [unread] = source.statements === undefined ? (source as InnerJsonFile).parseDiagnostics : [];
  if (unread !== undefined) return { problem: messageAndPlace(layout, unread).message };
  const parsed = ts.parseJsonSourceFileConfigFileContent(source, host, dirname(path), undefined, path);
  // Unknown options may be valid in a newer TypeScript; other problems, and a missing base file (TS5083, TS6053), are
  // errors.
  const [fault] = [...(source as InnerJsonFile).parseDiagnostics, ...parsed.errors].filter(isConfigFault);
  if (fault !== undefined) {
    const { message, place } = messageAndPlace(layout, fault);
    return { problem: message, ...(place === undefined ? {} : { place }) };
  }
  const { projectReferences: references } = parsed;
  if (parsed.fileNames.length === 0 && references !== undefined) {
    return firstReferenced(layout, references, recorder, [...above, path]);
  }
  const options = withDefaults(parsed.options, installed);
  return {
    source,
    options,
    installed,
    notes: unknownOptions(layout, parsed.errors, installed),
    files: parsed.fileNames,
    references,
  };
}

/** Node of the option that sets strictness in this configuration file, otherwise of the name `compilerOptions`. */
function strictOption({ statements: [json] }: ts.TsConfigSourceFile): ts.Node | undefined {
  const member = (object: ts.Node | undefined, name: string) =>
    object === undefined || !ts.isObjectLiteralExpression(object)
      ? undefined
      : object.properties
          .filter(ts.isPropertyAssignment)
          .find((property) => ts.isStringLiteral(property.name) && property.name.text === name);
  const options = member(json?.expression, "compilerOptions");
  return member(options?.initializer, "strictNullChecks") ?? member(options?.initializer, "strict") ?? options?.name;
}

/** Internal list of syntax errors (TypeScript 6.0). */
interface InnerJsonFile extends ts.TsConfigSourceFile {
  readonly parseDiagnostics: readonly ts.Diagnostic[];
}

/**
 * Whether a configuration's diagnostic is an error in every TypeScript version: a syntax error, a value of the wrong
 * type, or a base file that is missing or unreadable.
 */
function isConfigFault({ code }: ts.Diagnostic): boolean {
  return (code >= 1000 && code < 2000) || [5012, 5024, 5083, 6053].includes(code);
}

/** Notes on options (TS5023, TS5025) and values of options (TS6046) that svc-gen's compiler does not know. */
function unknownOptions(
  layout: Layout,
  errors: readonly ts.Diagnostic[],
  installed: InstalledTypeScript | undefined,
): Diagnostic[] {
  // If the project's TypeScript is version 6 or later, it may know options that svc-gen's compiler does not, so only
  // likely misspellings (TS5025) are reported.
  const unknown = installed !== undefined && installed.major < 6 ? [5023, 5025] : [5025];
  return errors.flatMap((error) => {
    const { message, place } = messageAndPlace(layout, error);
    const name = /'--(\w+)'/.exec(message)?.[1] ?? "";
    const isValue = error.code === 6046;
    if (!(isValue ? name !== "target" : unknown.includes(error.code))) return [];
    return [diagnostic("SVC104", place === undefined ? {} : { place }, isValue ? name : message)];
  });
}

/** For a tsconfig that only has references: the first referenced configuration with files. */
function firstReferenced(
  layout: Layout,
  references: readonly ts.ProjectReference[],
  recorder: InputRecorder,
  above: readonly string[],
): Config | ConfigProblem {
  for (const reference of references) {
    const tsconfig = resolve(ts.resolveProjectReferencePath(reference));
    if (above.includes(tsconfig)) continue;
    const config = readConfig({ ...layout, tsconfig }, recorder, above);
    if ("problem" in config || config.files.length > 0) return config;
  }
  return { problem: `${displayPath(layout, layout.tsconfig)} includes no files` };
}

/**
 * Diagnostic for a project whose imports of svc-runtime do not resolve. Replaces all TypeScript errors that follow from
 * this.
 */
export function missingRuntime({ program, sources, checker, at, layout }: Program): Diagnostic | undefined {
  // The stub imports svc-runtime/v1, like the generated files.
  const stub = program.getSourceFile(join(layout.out, "contracts.ts"));
  const specifiers = [...sources, ...(stub === undefined ? [] : [stub])].flatMap(importsOfRuntime);
  // A module resolution without "exports" resolves a linked package to its sources instead of its declarations.
  const unresolved = specifiers.find((specifier) => {
    const declaration = checker.getSymbolAtLocation(specifier)?.valueDeclaration;
    return declaration?.getSourceFile().isDeclarationFile !== true;
  });
  if (unresolved === undefined) return undefined;
  const file = unresolved.getSourceFile();
  const where = file === stub ? {} : { place: at(unresolved) };
  const reason = unresolvedReason(layout, file.fileName);
  if (reason.length > 0 || file !== stub || !displayPath(layout, layout.out).startsWith("..")) {
    return diagnostic("SVC103", where, ...reason);
  }
  const out = displayPath(layout, layout.out);
  return diagnostic(
    "SVC103",
    where,
    `no folder above ${out} has it in node_modules`,
    "choose a folder inside the project: --out",
  );
}

/** Specifiers of imports of `svc-runtime` and `svc-runtime/v1`. */
function importsOfRuntime(file: ts.SourceFile): ts.Expression[] {
  return file.statements
    .filter(ts.isImportDeclaration)
    .map(({ moduleSpecifier }) => moduleSpecifier)
    .filter((specifier) => ts.isStringLiteral(specifier) && [RUNTIME, `${RUNTIME}/v1`].includes(specifier.text));
}

/** Folder of the svc-runtime that Node loads for an import in this file; undefined if there is none. */
function runtimeFolder(fileName: string): string | undefined {
  const manifest = findUpwards(dirname(fileName), join("node_modules", RUNTIME, "package.json"));
  return manifest && dirname(manifest);
}

/** Folder of the svc-runtime that Node loads for the second file; undefined if the first file uses the same one. */
export function otherRuntimeFolder(file: string, second: string): string | undefined {
  const [own, other] = [runtimeFolder(file), runtimeFolder(second)];
  if (own === undefined || other === undefined) return undefined;
  return realpathSync(own) === realpathSync(other) ? undefined : other;
}

/** Reason and hint if svc-runtime is in `node_modules` but does not resolve; empty if it is not there. */
function unresolvedReason(layout: Layout, fileName: string): [] | [reason: string, hint: string] {
  const folder = runtimeFolder(fileName);
  if (folder === undefined) return [];
  const place = displayPath(layout, folder);
  return existsSync(join(folder, "dist/index.d.ts"))
    ? [
        `${place} exists, but the module resolution of tsconfig.json does not find it`,
        'set "module": "NodeNext" in tsconfig.json',
      ]
    : [`${place} exists, but is not built: it has no dist/index.d.ts`, "build the package, or install it again"];
}

/**
 * TypeScript's errors in the format of tsc, without those of generated files and libraries. If the project uses another
 * TypeScript version, errors in text that no contract depends on become notes, because that version decides about them.
 *
 * @param contractReach whether a contract depends on the text at a position
 */
export function compilerErrors(
  opened: Program,
  contractReach: (program: Program) => (file: ts.SourceFile, position: number) => boolean,
): Diagnostic[] {
  const { program, checked, layout, installed } = opened;
  const unparsed = new Set<ts.Diagnostic>();
  const found = [...checked.getGlobalDiagnostics()];
  for (const file of program.getSourceFiles()) {
    const { fileName, isDeclarationFile } = file;
    if (isDeclarationFile || opened.isGenerated(fileName) || program.isSourceFileFromExternalLibrary(file)) continue;
    // The types of a file with syntax errors are not reliable.
    const syntax = checked.getSyntacticDiagnostics(file);
    for (const each of syntax) unparsed.add(each);
    if (syntax.length === 0) found.push(...checked.getSemanticDiagnostics(file));
  }
  const errors = [[...unparsed], found]
    .flatMap((each) => ts.sortAndDeduplicateDiagnostics(each))
    .filter(({ category }) => category === ts.DiagnosticCategory.Error);
  const isNewer = installed?.version.localeCompare(ts.version, "en", { numeric: true }) === 1;
  const isOther = installed !== undefined && minorOf(installed.version) !== minorOf(ts.version);
  const reach = isOther && errors.length > 0 ? contractReach(opened) : () => true;
  return errors.map((each) => {
    const related = (each.relatedInformation ?? []).map((other) => messageAndPlace(layout, other));
    const isSyntax = !isNewer && unparsed.has(each);
    const isError = isSyntax || AGREED.has(each.code) || each.file === undefined || reach(each.file, each.start ?? 0);
    const hint = isError
      ? HINTS.get(each.code)
      : `nothing, if tsc ${installed?.version} of this project accepts this; svc-gen reads the project with TypeScript ${ts.version}`;
    const common = {
      code: `TS${each.code}`,
      severity: isError ? "error" : "note",
      ...messageAndPlace(layout, each),
      ...(hint === undefined ? {} : { hint }),
    } as const;
    return related.length === 0 ? common : { ...common, related };
  });
}

/**
 * Codes that are errors in every supported TypeScript: `await` outside an async function, a relative import without
 * extension.
 */
const AGREED: ReadonlySet<number> = new Set([1308, 2834, 2835]);

/** Hints for TypeScript errors that the configuration causes. */
const HINTS: ReadonlyMap<number, string> = new Map([
  [1479, 'set "module": "NodeNext" in tsconfig.json, or "type": "module" in package.json'],
]);

function messageAndPlace(layout: Layout, { file, start, length, messageText }: ts.DiagnosticRelatedInformation) {
  const message = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (file === undefined || start === undefined) return { message };
  return { message, place: placeOf(layout, file, start, length ?? 1) };
}

function placeOf(layout: Layout, file: ts.SourceFile, start: number, length: number): Place {
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  const source = file.text.slice(file.getPositionOfLineAndCharacter(line, 0)).split(/\r?\n/, 1)[0] ?? "";
  const known = displayPaths.get(file);
  const name = known?.root === layout.root ? known.name : displayPath(layout, file.fileName);
  displayPaths.set(file, { root: layout.root, name });
  return { file: name, line: line + 1, column: character + 1, length, source };
}

/** Display paths of files, with the root that they are relative to: projects share library files. */
const displayPaths = new WeakMap<ts.SourceFile, { readonly root: string; readonly name: string }>();

/** Declared symbol of an import or export; any other symbol unchanged. */
export function aliasTarget(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

/** Package names by file and by folder, cleared for each program. */
const packageNames = new Map<string, string | undefined>();

/** Name of the package that a file belongs to; follows symbolic links. */
export function packageOf(fileName: string): string | undefined {
  if (!packageNames.has(fileName)) {
    const real = existsSync(fileName) ? realpathSync(fileName) : fileName;
    packageNames.set(fileName, packageOfFolder(dirname(real)));
  }
  return packageNames.get(fileName);
}

function packageOfFolder(folder: string): string | undefined {
  if (!packageNames.has(folder)) {
    const above = dirname(folder);
    const outer = () => (above === folder ? undefined : packageOfFolder(above));
    // A manifest that a package manager is still writing may be invalid.
    const { name } = Object(readJsonFile(join(folder, "package.json"))) as { readonly name?: string };
    packageNames.set(folder, name ?? outer());
  }
  return packageNames.get(folder);
}

/**
 * Loads typescript-json-schema with ts-morph's TypeScript. Its own is 5.9, whose type flags have other values. Has no
 * effect if the process has already loaded that TypeScript.
 */
export function loadSchemaLibrary(): unknown {
  const fromSchema = schemaRequire();
  const path = fromSchema.resolve("typescript");
  const before = fromSchema.cache[path];
  fromSchema.cache[path] = Object.assign(new Module(path), { exports: ts, loaded: true, filename: path });
  try {
    return fromSchema("typescript-json-schema");
  } finally {
    if (before === undefined) delete fromSchema.cache[path];
    else fromSchema.cache[path] = before;
  }
}

/** Resolves modules from typescript-json-schema. */
function schemaRequire(): NodeJS.Require {
  const require = createRequire(import.meta.url);
  return createRequire(require.resolve("typescript-json-schema"));
}
