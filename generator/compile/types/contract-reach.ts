/** Finds the source text that contracts depend on, by following the names in it. */

import type { Program } from "../project/program.js";
import { ts } from "../project/typescript.js";
import { toolDeclarations } from "./tool-classes.js";

interface InnerChecker extends ts.TypeChecker {
  /** Internal (TypeScript 6.0): follows an import or export by one step. */
  getImmediateAliasedSymbol(symbol: ts.Symbol): ts.Symbol | undefined;
}

/**
 * Whether a contract depends on the declaration at a position, directly or through other declarations. Of a tool class,
 * only its bases and static members count.
 */
export function contractReach(program: Program): (file: ts.SourceFile, position: number) => boolean {
  const checker = program.checker as InnerChecker;
  const tools = new Set<ts.Node>(program.sources.flatMap((file) => toolDeclarations(program, file)));
  const reached = new Set<ts.Node>();
  const open: ts.Node[] = [];
  const add = (node: ts.Node): void => {
    if (reached.has(node) || node.getSourceFile().isDeclarationFile) return;
    if (tools.has(node)) open.push(...contractParts(node as ts.ClassLikeDeclaration));
    else open.push(node);
    reached.add(node);
  };
  const visit = (node: ts.Node): void => {
    let symbol = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
    while (symbol !== undefined) {
      for (const declaration of symbol.declarations ?? []) add(statementOf(declaration));
      symbol = symbol.flags & ts.SymbolFlags.Alias ? checker.getImmediateAliasedSymbol(symbol) : undefined;
    }
    ts.forEachChild(node, visit);
  };
  const parts: ts.Node[] = [];
  for (const tool of tools) add(tool);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    parts.push(node);
    visit(node);
  }
  return (file, position) =>
    parts.some((node) => node.getSourceFile() === file && node.pos <= position && position <= node.end);
}

/** Parts of a tool class that its contract is read from. */
function contractParts({ heritageClauses, typeParameters, members }: ts.ClassLikeDeclaration): ts.Node[] {
  const statics = members.filter((member) => ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static);
  return [...(heritageClauses ?? []), ...(typeParameters ?? []), ...statics];
}

/** Import, export or variable statement that contains a declaration; any other declaration itself. */
function statementOf(declaration: ts.Node): ts.Node {
  const whole = (node: ts.Node) =>
    ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isVariableStatement(node);
  return ts.findAncestor(declaration, (node) => (ts.isStatement(node) ? whole(node) || "quit" : false)) ?? declaration;
}
