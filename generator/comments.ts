/**
 * The comments of declaration files. Hardly any of them is ever looked at, while parsing all of them takes a tenth of the
 * time that a program takes: so these files are parsed without, as tsc does, and get theirs when one is asked for.
 */

import { ts } from "./compiler.js";

/** Files whose comments are still text. */
const uncommented = new WeakSet<ts.SourceFile>();

/** Parses a file; one of declarations without its comments. */
export function parseFile(path: string, text: string, wanted: ts.ScriptTarget | ts.CreateSourceFileOptions) {
  if (!/\.d\.(?:\w+\.)?[cm]?ts$/.test(path)) return ts.createSourceFile(path, text, wanted);
  const options = typeof wanted === "object" ? wanted : { languageVersion: wanted };
  const file = ts.createSourceFile(path, text, {
    ...options,
    jsDocParsingMode: ts.JSDocParsingMode.ParseForTypeErrors,
  });
  uncommented.add(file);
  return file;
}

/** Sees to it that the comments of these nodes can be asked for. */
export function loadComments(nodes: readonly ts.Node[]): void {
  for (const node of nodes) {
    const file = node.getSourceFile();
    if (!uncommented.delete(file)) continue;
    const { fileName, text, languageVersion } = file;
    copyComments(ts.createSourceFile(fileName, text, languageVersion, true), file);
  }
}

/** The same checker, for what is inherited: the comments of a member that it finds can be asked for. */
export function withComments(checker: ts.TypeChecker): ts.TypeChecker {
  return {
    ...checker,
    getPropertyOfType: (type, name) => {
      const property = checker.getPropertyOfType(type, name);
      loadComments(property?.declarations ?? []);
      if (property !== undefined) forgetComment(property);
      return property;
    },
  };
}

/**
 * Makes TypeScript read the comment of a symbol anew. It keeps it with the symbol, which outlives its program where the file
 * is parsed only once, while what is inherited may come from another file.
 */
export function forgetComment(symbol: ts.Symbol): void {
  delete (symbol as { documentationComment?: unknown }).documentationComment;
}

/** Where TypeScript keeps the comments of a node. */
interface Commented extends ts.Node {
  jsDoc?: (Pick<ts.JSDoc, "comment" | "tags"> & { parent: ts.Node })[];
}

/**
 * The comment of a member when there is nothing to it but its text, which is that of nearly all: neither tags nor links, no
 * other declaration, nothing that could be inherited. Undefined for any other.
 */
export function plainComment([node, ...others]: readonly ts.Node[]): string | undefined {
  if (node === undefined || others.length > 0 || !ts.isPropertySignature(node)) return undefined;
  const last = (node as Commented).jsDoc?.at(-1);
  if (last === undefined) return ts.isTypeLiteralNode(node.parent) ? "" : undefined;
  return last.tags === undefined && typeof last.comment === "string" ? last.comment : undefined;
}

/** Between two trees of one text. */
function copyComments(from: Commented, to: Commented): void {
  if (from.jsDoc !== undefined) {
    to.jsDoc = from.jsDoc;
    for (const comment of from.jsDoc) comment.parent = to;
  }
  const targets: ts.Node[] = [];
  ts.forEachChild(to, (child) => void targets.push(child));
  ts.forEachChild(from, (child) => copyComments(child, targets.shift() as ts.Node));
}
