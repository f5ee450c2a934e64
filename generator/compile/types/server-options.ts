/** Options of the generated server, from an optional file next to the output folder. */

import { didYouMean } from "svc-runtime/internal/generator";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import { displayPath } from "../project/layout.js";
import type { Program } from "../project/program.js";
import { type Symbol as MorphSymbol, type Node, type SourceFile, ts } from "../project/typescript.js";
import { nameNode } from "./static-evaluator.js";

const EXPORT = "options";

export interface ServerOptions {
  /** Relative to the root; undefined if the project has no such file. */
  readonly file: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Finds the file of options among the project's sources and checks its export. */
export function findServerOptions(program: Program): ServerOptions {
  const { layout, sources } = program;
  const source = program.program.getSourceFile(layout.serverOptions);
  if (source === undefined || !sources.includes(source)) return { file: undefined, diagnostics: [] };
  const problem = problemOf(program, program.wrap(source));
  const place = problem && program.at(problem.node.compilerNode);
  return {
    file: displayPath(layout, layout.serverOptions),
    diagnostics: problem === undefined ? [] : [diagnostic("SVC124", place ? { place } : {}, problem.detail)],
  };
}

interface Problem {
  readonly node: Node;
  readonly detail: string;
}

function problemOf(program: Program, source: SourceFile): Problem | undefined {
  const { checker } = program;
  const exported = exportOf(source);
  if (exported === undefined) {
    return { node: source.getStatements()[0] ?? source, detail: `it does not export a constant ${EXPORT}` };
  }
  const stub = program.program.getSourceFile(`${program.layout.out}/server.ts`);
  const declared = stub && exportOf(program.wrap(stub));
  if (declared === undefined) return undefined;
  const type = exported.getTypeAtLocation(source);
  const wanted = declared.getTypeAtLocation(source);
  const node = nodeOf(exported, source) ?? source;
  for (const member of type.isObject() || type.isIntersection() ? type.getProperties() : []) {
    const name = member.getName();
    const option = wanted.getProperty(name);
    const at = nodeOf(member, source) ?? node;
    if (option === undefined) {
      const names = wanted.getProperties().map((each) => each.getName());
      return { node: at, detail: `unknown option ${quoted(name)}${didYouMean(name, names)}` };
    }
    // ts-morph's type of an optional member may lack `undefined`.
    const given = checker.getTypeOfSymbol(member.compilerSymbol);
    const expected = checker.getTypeOfSymbol(option.compilerSymbol);
    if (!checker.isTypeAssignableTo(given, expected)) {
      const [got, want] = [given, expected].map((each) => checker.typeToString(each));
      return { node: at, detail: `${name}: expected ${want}, got ${got}` };
    }
  }
  if (type.isAssignableTo(wanted)) return undefined;
  return { node, detail: `${EXPORT} has the type ${checker.typeToString(type.compilerType)}` };
}

/** Value that a file exports as {@link EXPORT}; undefined if there is no such export, or only a type. */
function exportOf(source: SourceFile): MorphSymbol | undefined {
  const found = source.getExportSymbols().find((each) => each.getName() === EXPORT);
  if (found?.compilerSymbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return undefined;
  const symbol = found?.getAliasedSymbol() ?? found;
  return symbol && symbol.getFlags() & ts.SymbolFlags.Value ? symbol : undefined;
}

function nodeOf(symbol: MorphSymbol, source: SourceFile): Node | undefined {
  const declaration = symbol.getDeclarations().find((each) => each.getSourceFile() === source);
  return declaration && nameNode(declaration);
}
