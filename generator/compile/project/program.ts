/** Opens a tool project as a TypeScript program. */

import { existsSync, realpathSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, join, resolve } from "node:path";
import { readJsonFile } from "../../files/read-file.js";
import { type Diagnostic, diagnostic, hasErrors } from "../diagnostics/diagnostics.js";
import type { Place } from "../model.js";
import { foldersUp } from "./folders-up.js";
import { InputRecorder } from "./input-recorder.js";
import { displayPath, type Layout } from "./layout.js";
import { checkManifest } from "./manifest.js";
import { placeOf } from "./places.js";
import { type InstalledTypeScript, libraryFile } from "./project-typescript.js";
import { readConfig } from "./tsconfig.js";
import { type CompilerNodeToWrappedType, createWrappedNode, type Node, ts } from "./typescript.js";

export interface Program {
  readonly layout: Layout;
  readonly notes: readonly Diagnostic[];
  readonly installed: InstalledTypeScript | undefined;
  readonly program: ts.Program;
  readonly checked: Checked;
  readonly checker: ts.TypeChecker;
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
    return invalid("SVC102", {}, displayPath(layout, config.source.fileName));
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
  const tsconfig = resolve(config.source.fileName);
  return { layout, options, tsconfig, installed, files, references, notes: diagnostics, recorder };
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

export function openProgram(
  { layout, files, notes, installed }: Project,
  program: ts.Program,
  checked: Checked = program,
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
    program,
    checked,
    checker,
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
