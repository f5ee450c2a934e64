/**
 * Version, library files and default options of the project's own TypeScript. svc-gen's compiler must see the same
 * types.
 */

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { foldersUp } from "./folders-up.js";
import type { InputRecorder } from "./input-recorder.js";
import { installedManifest, packageVersion } from "./manifest.js";
import { ts } from "./typescript.js";

export interface InstalledTypeScript {
  readonly version: string;
  readonly major: number;
  /** Folder of its `lib.*.d.ts` files. */
  readonly libraries?: string;
}

/** TypeScript in the nearest `node_modules` above a folder; undefined if there is none. */
export function installedTypeScript(folder: string, recorder: InputRecorder): InstalledTypeScript | undefined {
  const manifest = installedManifest(folder, "typescript", recorder);
  const version = manifest && packageVersion(manifest.text);
  if (manifest === undefined || version === undefined) return undefined;
  const libraries = librariesOf(realpathSync(dirname(manifest.path)));
  return { version, major: Number.parseInt(version, 10), ...(libraries === undefined ? {} : { libraries }) };
}

/** Major and minor version. Patch releases of a minor version accept the same programs. */
export function minorOf(version: string): string {
  return version.split(".").slice(0, 2).join(".");
}

/** Folder of library files: that of the compiler, or in the package of the native build. */
function librariesOf(typescript: string): string | undefined {
  const native = `node_modules/@typescript/typescript-${process.platform}-${process.arch}/lib`;
  const folders = [join(typescript, "lib"), ...foldersUp(typescript).map((folder) => join(folder, native))];
  return folders.find((folder) => existsSync(join(folder, "lib.es5.d.ts")));
}

/** Internal table of the compiler: library files by name. */
const { libMap } = ts as unknown as { readonly libMap: Map<string, string> };

/** Registers library names that are newer than svc-gen's compiler, such as `"lib": ["es2025"]`. */
export function registerLibNames({ libraries }: InstalledTypeScript): void {
  for (const file of libraries === undefined ? [] : readdirSync(libraries)) {
    const name = /^lib\.(.+)\.d\.ts$/.exec(file)?.[1];
    if (name !== undefined && !libMap.has(name)) libMap.set(name, file);
  }
}

/**
 * File of a library. The file of a proposal moves when the proposal becomes part of an edition:
 * `lib.esnext.promise.d.ts` is now `lib.es2025.promise.d.ts`.
 */
export function libraryFile(path: string): string {
  const feature = /^lib\.esnext\.(.+)$/.exec(basename(path))?.[1];
  if (feature === undefined || existsSync(path)) return path;
  const editions = readdirSync(dirname(path)).filter(
    (file) => /^lib\.es\d+\./.test(file) && file.endsWith(`.${feature}`),
  );
  const newest = editions.sort().at(-1);
  return newest === undefined ? path : join(dirname(path), newest);
}

/** Adds the defaults of the project's TypeScript that affect types. */
export function withDefaults(
  given: ts.CompilerOptions,
  installed: InstalledTypeScript | undefined,
): ts.CompilerOptions {
  const options: ts.CompilerOptions = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  // TypeScript drops unknown library names. If none is left, the libraries of the target are used.
  if (given.lib?.length === 0) delete options.lib;
  if (installed === undefined) return { strict: true, target: ts.ScriptTarget.ESNext, ...options };
  return installed.major >= 6 ? { strict: true, ...options } : { ...defaultsBefore6(options), ...options };
}

const { ModuleKind, ModuleResolutionKind, ScriptTarget } = ts;

/** Defaults of TypeScript 5 that version 6 changed. */
function defaultsBefore6(given: ts.CompilerOptions): ts.CompilerOptions {
  const target = given.target ?? TARGETS.get(given.module) ?? ScriptTarget.ES5;
  const module = given.module ?? (target >= ScriptTarget.ES2015 ? ModuleKind.ES2015 : ModuleKind.CommonJS);
  const fixed = module < ModuleKind.Node16;
  const moduleResolution = module === ModuleKind.CommonJS ? ModuleResolutionKind.Node10 : ModuleResolutionKind.Classic;
  const esModuleInterop = given.esModuleInterop ?? !fixed;
  const resolvesLikeBundlers = (given.moduleResolution ?? moduleResolution) === ModuleResolutionKind.Bundler;
  return {
    target,
    module,
    ...(fixed ? { moduleResolution } : {}),
    esModuleInterop,
    allowSyntheticDefaultImports: esModuleInterop || module === ModuleKind.System || resolvesLikeBundlers,
    strict: false,
    alwaysStrict: given.strict === true,
    types: ["*"],
    noUncheckedSideEffectImports: false,
    libReplacement: true,
  };
}

/** Default target for a value of `module`, before TypeScript 6. */
const TARGETS: ReadonlyMap<ts.ModuleKind | undefined, ts.ScriptTarget> = new Map([
  [ModuleKind.Node16, ScriptTarget.ES2022],
  [ModuleKind.Node18, ScriptTarget.ES2022],
  [ModuleKind.Node20, ScriptTarget.ES2023],
  [ModuleKind.NodeNext, ScriptTarget.ESNext],
]);
