/** Programs of TypeScript 5.9 in the process of a test, by the compiler that svc-gen loads: another copy costs 0.6 s. */

import { join } from "node:path";
import { ts } from "#generator/compile/project/typescript.js";
import { COMPILERS } from "./compilers.js";

/** ts-morph has the compiler without its library files. */
const LIBRARY = join(COMPILERS[0].folder, "lib");

/** Declaration files by path and options, shared by the programs of a process. */
const declarations = new Map<string, ts.SourceFile | undefined>();

/**
 * Makes a program.
 *
 * @param paths of its root files
 * @param texts of files that are not on disk, by path
 */
export function programOf(
  paths: readonly string[],
  options: ts.CompilerOptions,
  texts: ReadonlyMap<string, string> = new Map(),
): ts.Program {
  const host = ts.createCompilerHost(options);
  const parse = (path: string, wanted: ts.ScriptTarget | ts.CreateSourceFileOptions) => {
    const text = texts.get(path) ?? host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, wanted);
  };
  return ts.createProgram(paths, options, {
    ...host,
    getDefaultLibLocation: () => LIBRARY,
    getDefaultLibFileName: (wanted) => join(LIBRARY, ts.getDefaultLibFileName(wanted)),
    fileExists: (path) => texts.has(path) || host.fileExists(path),
    readFile: (path) => texts.get(path) ?? host.readFile(path),
    getSourceFile: (path, wanted) => {
      if (!/\.d\.[cm]?ts$/.test(path)) return parse(path, wanted);
      const key = JSON.stringify([path, wanted]);
      if (!declarations.has(key)) declarations.set(key, parse(path, wanted));
      return declarations.get(key);
    },
  });
}

/** The lines of a file, from 0, of which the compiler has something to say. */
export function linesRefused(program: ts.Program, path: string): ReadonlySet<number> {
  const file = program.getSourceFile(path) as ts.SourceFile;
  const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return new Set(found.map(({ start }) => file.getLineAndCharacterOfPosition(start ?? 0).line));
}
