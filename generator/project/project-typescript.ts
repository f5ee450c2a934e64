/**
 * The TypeScript that the project is compiled with: its version, library files and default options. svc-gen has a
 * compiler of its own and must see the same types.
 */

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { InputRecorder } from "./input-recorder.js";
import { ts } from "./typescript.js";

export interface InstalledTypeScript {
  readonly major: number;
  /** The folder of its `lib.*.d.ts`, when they may be newer than those of svc-gen's compiler. */
  readonly libraries?: string;
}

/** The TypeScript in the nearest `node_modules` above a folder; undefined when there is none. */
export function installedTypeScript(folder: string, recorder: InputRecorder): InstalledTypeScript | undefined {
  const manifest = join(folder, "node_modules/typescript/package.json");
  const text = ts.sys.readFile(manifest);
  recorder.file(manifest, text);
  if (text === undefined)
    return dirname(folder) === folder ? undefined : installedTypeScript(dirname(folder), recorder);
  const major = majorOf(text);
  if (major === undefined) return undefined;
  const libraries = major >= 6 ? librariesOf(realpathSync(dirname(manifest))) : undefined;
  return { major, ...(libraries === undefined ? {} : { libraries }) };
}

/**
 * The major version in a package's manifest; undefined for a manifest without a version or with invalid JSON, such as
 * one that a package manager is still writing.
 */
function majorOf(manifest: string): number | undefined {
  try {
    const major = Number.parseInt(JSON.parse(manifest).version, 10);
    return Number.isNaN(major) ? undefined : major;
  } catch {
    return undefined;
  }
}

/** The folder of library files: beside the compiler, or in the package of its native build. */
function librariesOf(typescript: string): string | undefined {
  const native = `node_modules/@typescript/typescript-${process.platform}-${process.arch}/lib`;
  const folders = [join(typescript, "lib")];
  for (let folder = typescript; dirname(folder) !== folder; folder = dirname(folder))
    folders.push(join(folder, native));
  return folders.find((folder) => existsSync(join(folder, "lib.es5.d.ts")));
}

/** The compiler's internal table of libraries by name. */
const { libMap } = ts as unknown as { readonly libMap: Map<string, string> };

/** Registers library names that are newer than svc-gen's compiler: `"lib": ["es2025"]`. */
export function registerLibNames({ libraries }: InstalledTypeScript): void {
  for (const file of libraries === undefined ? [] : readdirSync(libraries)) {
    const name = /^lib\.(.+)\.d\.ts$/.exec(file)?.[1];
    if (name !== undefined && !libMap.has(name)) libMap.set(name, file);
  }
}

/**
 * The file of a library. A proposal that became part of an edition has moved: `lib.esnext.promise.d.ts` is now
 * `lib.es2025.promise.d.ts`.
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

/** Adds the defaults of the project's TypeScript that change what types mean. */
export function withDefaults(
  given: ts.CompilerOptions,
  installed: InstalledTypeScript | undefined,
  recorder: InputRecorder,
): ts.CompilerOptions {
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  // Unknown library names are dropped; an empty list means the libraries of the target.
  if (given.lib?.length === 0) delete options.lib;
  if (installed === undefined) return { strict: true, target: ts.ScriptTarget.ESNext, ...options };
  if (installed.major < 6) return options;
  const { module = ts.ModuleKind.ESNext } = given;
  const resolvesLikeBundlers =
    module === ts.ModuleKind.CommonJS || (module >= ts.ModuleKind.ES2015 && module <= ts.ModuleKind.ESNext);
  return {
    strict: true,
    target: ts.ScriptTarget.ESNext,
    module,
    ...(resolvesLikeBundlers ? { moduleResolution: ts.ModuleResolutionKind.Bundler } : {}),
    esModuleInterop: true,
    noUncheckedSideEffectImports: true,
    libReplacement: false,
    ...options,
    types: typesOf(given, recorder),
  };
}

/** Type packages. TypeScript 6 includes none by default; `*` means all that are installed. */
function typesOf(options: ts.CompilerOptions, recorder: InputRecorder): string[] {
  const { types: _, ...rest } = options;
  return (options.types ?? []).flatMap((name) =>
    name === "*" ? ts.getAutomaticTypeDirectiveNames(rest, recorder.wrap(ts.sys)) : [name],
  );
}
