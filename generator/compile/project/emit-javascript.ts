/** Compiles a project to JavaScript from the program that was checked, without parsing it again. */

import { join, resolve } from "node:path";
import type { GeneratedFile } from "../model.js";
import type { Project } from "./program.js";
import { ts } from "./typescript.js";

export interface CompiledFile {
  readonly target: string;
  readonly content: string;
}

export interface Compiled {
  readonly files: readonly CompiledFile[];
  readonly entrypoint: string;
}

/**
 * Internal property of source files (TypeScript 6.0): set if the file repeats a file of the same package and version.
 */
interface RedirectingFile extends ts.SourceFile {
  readonly redirectInfo?: { readonly unredirected: ts.SourceFile };
}

/** File at a path, as a compiler host must return it: never a redirect to another copy of the package. */
function fileAt(program: ts.Program, path: string): ts.SourceFile | undefined {
  const file: RedirectingFile | undefined = program.getSourceFile(path);
  return file?.redirectInfo?.unredirected ?? file;
}

/**
 * Compiles the sources of a checked program and its generated files.
 *
 * @param generated texts of the generated files, for which the program has stubs
 * @param fallback output folder if the tsconfig has none
 */
export function compile(
  program: ts.Program,
  { layout: { root, out }, options }: Pick<Project, "layout" | "options">,
  generated: readonly GeneratedFile[],
  fallback: string,
): Compiled {
  const texts = new Map(generated.map(({ path, text }) => [resolve(join(root, path)), text]));
  const wanted: ts.CompilerOptions = {
    ...options,
    noEmit: false,
    emitDeclarationOnly: false,
    outDir: options.outDir ?? fallback,
    sourceMap: false,
    inlineSourceMap: true,
    rewriteRelativeImportExtensions: options.allowImportingTsExtensions === true,
  };
  const files: CompiledFile[] = [];
  const host: ts.CompilerHost = {
    ...ts.createCompilerHost(wanted),
    getSourceFile: (path, version) => {
      const text = texts.get(resolve(path));
      return text === undefined ? fileAt(program, path) : ts.createSourceFile(path, text, version);
    },
    writeFile: (target, content) => files.push({ target: resolve(target), content }),
  };
  const references = program.getProjectReferences();
  const emitting = ts.createProgram({
    rootNames: program.getRootFileNames(),
    options: wanted,
    host,
    oldProgram: program,
    ...(references === undefined ? {} : { projectReferences: references }),
  });
  emitting.emit();
  const entrypoint = ts.getOutputFileNames(
    { options: wanted, fileNames: [...program.getRootFileNames()], errors: [] },
    join(out, "server.ts"),
    !ts.sys.useCaseSensitiveFileNames,
  );
  return { files, entrypoint: resolve(entrypoint.find((name) => /\.[cm]?js$/.test(name)) ?? "") };
}
