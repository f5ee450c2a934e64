/** Which files of a program reach which, and which of them every file sees: what a change of one file can touch. */

import { dirname, resolve } from "node:path";
import { ts } from "./compiler.js";
import type { Program } from "./program.js";

/** One file of a program. */
export interface FileNode {
  /** The files that it names: imports, references and packages of types. */
  readonly imports: readonly string[];
  /** Every file sees it: it declares something global, or adds to a module. */
  readonly global: boolean;
  /** It is TypeScript's own or part of an installed package. */
  readonly library: boolean;
}

/** The files of a program by their paths, in the program's order. */
export type Graph = Readonly<Record<string, FileNode>>;

/** What TypeScript keeps about programs and files and does not publish (5.9). */
interface Inner extends ts.Program {
  forEachResolvedModule(visit: (found: Found<"resolvedModule">) => void, file: ts.SourceFile): void;
  forEachResolvedTypeReferenceDirective(
    visit: (found: Found<"resolvedTypeReferenceDirective">) => void,
    file: ts.SourceFile,
  ): void;
}
type Found<Name extends string> = { readonly [N in Name]: { readonly resolvedFileName?: string } | undefined };
interface InnerFile extends ts.SourceFile {
  readonly moduleAugmentations: readonly unknown[];
  readonly ambientModuleNames: readonly string[];
  readonly symbol?: { readonly globalExports?: ReadonlyMap<unknown, unknown> };
}

/** The graph of the whole program, without the generated files; what is `known` of a file is taken as it is. */
export function graphOf(
  { program, isGenerated }: Program,
  known: (path: string) => FileNode | undefined = () => undefined,
): Graph {
  const nodes: Record<string, FileNode> = {};
  for (const file of program.getSourceFiles()) {
    const { fileName } = file;
    if (!isGenerated(fileName)) nodes[fileName] = known(fileName) ?? nodeOf(program as Inner, file as InnerFile);
  }
  return nodes;
}

function nodeOf(program: Inner, file: InnerFile): FileNode {
  const imports = new Set<string>();
  const add = (path: string | undefined) => {
    const target = path === undefined ? undefined : program.getSourceFile(path);
    if (target !== undefined && target !== file) imports.add(target.fileName);
  };
  program.forEachResolvedModule(({ resolvedModule }) => add(resolvedModule?.resolvedFileName), file);
  program.forEachResolvedTypeReferenceDirective(
    ({ resolvedTypeReferenceDirective }) => add(resolvedTypeReferenceDirective?.resolvedFileName),
    file,
  );
  for (const { fileName } of file.referencedFiles) add(resolve(dirname(file.fileName), fileName));
  const library = program.isSourceFileDefaultLibrary(file) || program.isSourceFileFromExternalLibrary(file);
  return { imports: [...imports], global: isGlobal(file), library };
}

/** A script, augmentations, ambient modules, a global name for a module; JavaScript, where any assignment may be one. */
function isGlobal(file: InnerFile): boolean {
  return (
    !ts.isExternalModule(file) ||
    file.moduleAugmentations.length > 0 ||
    file.ambientModuleNames.length > 0 ||
    file.symbol?.globalExports !== undefined ||
    /\.[cm]?jsx?$/.test(file.fileName)
  );
}
