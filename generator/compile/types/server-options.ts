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
  const node = nodeOf(exported.compilerSymbol, program, source) ?? source;
  const problem = memberProblem(program, source, node, type.compilerType, wanted.compilerType);
  if (problem !== undefined) return problem;
  if (type.isAssignableTo(wanted)) return undefined;
  return { node, detail: `${EXPORT} has the type ${checker.typeToString(type.compilerType)}` };
}

/** First member that the options do not have, or that has another type; also inside object literals. */
function memberProblem(
  program: Program,
  source: SourceFile,
  node: Node,
  type: ts.Type,
  wanted: ts.Type,
  prefix = "",
): Problem | undefined {
  const { checker } = program;
  for (const member of type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection) ? type.getProperties() : []) {
    const option = wanted.getProperty(member.name);
    const at = nodeOf(member, program, source) ?? node;
    const name = prefix + member.name;
    if (option === undefined) {
      const names = wanted.getProperties().map((each) => each.name);
      return {
        node: at,
        detail: `unknown option ${quoted(name)}${didYouMean(member.name, names) || `; expected one of ${names.join(", ")}`}`,
      };
    }
    const given = checker.getTypeOfSymbol(member);
    const expected = checker.getTypeOfSymbol(option);
    const inner = checker.getNonNullableType(expected);
    const written = member.valueDeclaration;
    const isLiteral = written && ts.isPropertyAssignment(written) && ts.isObjectLiteralExpression(written.initializer);
    const isChecked = isLiteral && inner.getProperties().length > 0 && !inner.isUnion();
    const problem = isChecked ? memberProblem(program, source, at, given, inner, `${name}.`) : undefined;
    if (problem !== undefined) return problem;
    if (!checker.isTypeAssignableTo(given, expected)) {
      const [got, want] = [given, expected].map((each) => checker.typeToString(each));
      return { node: at, detail: `${name}: expected ${want}, got ${got}` };
    }
  }
  return undefined;
}

/** Value that a file exports as {@link EXPORT}; undefined if there is no such export, or only a type. */
function exportOf(source: SourceFile): MorphSymbol | undefined {
  const found = source.getExportSymbols().find((each) => each.getName() === EXPORT);
  if (found?.compilerSymbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return undefined;
  const symbol = found?.getAliasedSymbol() ?? found;
  return symbol && symbol.getFlags() & ts.SymbolFlags.Value ? symbol : undefined;
}

function nodeOf({ declarations }: ts.Symbol, { wrap }: Program, source: SourceFile): Node | undefined {
  const declaration = declarations?.find((each) => each.getSourceFile() === source.compilerNode);
  return declaration && nameNode(wrap(declaration));
}
