/** JavaScript of a project, compiled from the program that was checked: nothing is parsed or read again. */

import { join, resolve } from "node:path";
import type { Project } from "./program.js";
import { ts } from "./typescript.js";

/** A compiled file: an absolute path and its text. */
export interface CompiledFile {
  readonly target: string;
  readonly content: string;
}

/** The compiled files of a project, and the path of its entrypoint. */
export interface Compiled {
  readonly files: readonly CompiledFile[];
  readonly entrypoint: string;
}

/** An internal property of source files (TypeScript 6.0): set for a file that repeats one of the same package version. */
interface InnerFile extends ts.SourceFile {
  readonly redirectInfo?: { readonly unredirected: ts.SourceFile };
}

/** The file at a path, as a compiler host must return it: never a redirect to another copy of the package. */
function fileAt(program: ts.Program, path: string): ts.SourceFile | undefined {
  const file: InnerFile | undefined = program.getSourceFile(path);
  return file?.redirectInfo?.unredirected ?? file;
}

/**
 * Compiles the sources of a checked program and its generated files.
 *
 * @param generated the texts of the generated files, which the program knows as stubs
 * @param fallback the output folder of a project whose tsconfig names none
 */
export function compile(
  program: ts.Program,
  { layout: { root, out }, options }: Pick<Project, "layout" | "options">,
  generated: readonly { readonly path: string; readonly text: string }[],
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
