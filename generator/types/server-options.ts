/** The options of the generated server, which an author may write in a file beside the generated folder. */

import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { didYouMean } from "../diagnostics/did-you-mean.js";
import { quoted } from "../diagnostics/quote.js";
import { displayPath } from "../project/layout.js";
import type { Program } from "../project/program.js";
import { ts } from "../project/typescript.js";

/** The name of the export. */
const EXPORT = "options";

export interface ServerOptions {
  /** Relative to the root; undefined when the project has no such file. */
  readonly file: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Finds the file of options among the sources of a project and checks its export. */
export function findServerOptions(program: Program): ServerOptions {
  const { layout, sources } = program;
  const source = program.program.getSourceFile(layout.serverOptions);
  if (source === undefined || !sources.includes(source)) return { file: undefined, diagnostics: [] };
  const problem = problemOf(program, source);
  const place = problem && program.at(problem.node);
  return {
    file: displayPath(layout, layout.serverOptions),
    diagnostics: problem === undefined ? [] : [diagnostic("SVC124", place ? { place } : {}, problem.detail)],
  };
}

interface Problem {
  readonly node: ts.Node;
  readonly detail: string;
}

function problemOf(program: Program, source: ts.SourceFile): Problem | undefined {
  const { checker } = program;
  const exported = exportOf(checker, source);
  if (exported === undefined) {
    return { node: source.statements[0] ?? source, detail: `it has no export ${EXPORT} with a value` };
  }
  const stub = program.program.getSourceFile(`${program.layout.out}/server.ts`);
  const declared = stub && exportOf(checker, stub);
  if (declared === undefined) return undefined;
  const type = checker.getTypeOfSymbol(exported);
  const wanted = checker.getTypeOfSymbol(declared);
  const node = nodeOf(exported, source) ?? source;
  const isObject = (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
  for (const member of isObject ? checker.getPropertiesOfType(type) : []) {
    const option = checker.getPropertyOfType(wanted, member.name);
    const at = nodeOf(member, source) ?? node;
    if (option === undefined) {
      const names = checker.getPropertiesOfType(wanted).map(({ name }) => name);
      return { node: at, detail: `unknown option ${quoted(member.name)}${didYouMean(member.name, names)}` };
    }
    const [given, expected] = [checker.getTypeOfSymbol(member), checker.getTypeOfSymbol(option)];
    if (!checker.isTypeAssignableTo(given, expected)) {
      const [got, want] = [given, expected].map((each) => checker.typeToString(each));
      return { node: at, detail: `${member.name}: expected ${want}, got ${got}` };
    }
  }
  if (checker.isTypeAssignableTo(type, wanted)) return undefined;
  return { node, detail: `${EXPORT} is of type ${checker.typeToString(type)}` };
}

/** The value that a file exports as {@link EXPORT}; undefined when it exports none, or only a type. */
function exportOf(checker: ts.TypeChecker, source: ts.SourceFile): ts.Symbol | undefined {
  const module = checker.getSymbolAtLocation(source);
  const found = module && checker.getExportsOfModule(module).find(({ name }) => name === EXPORT);
  if (found === undefined || found.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return undefined;
  const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  return symbol.flags & ts.SymbolFlags.Value ? symbol : undefined;
}

/** The name of a declaration in the file itself. */
function nodeOf(symbol: ts.Symbol, source: ts.SourceFile): ts.Node | undefined {
  const declaration = symbol.declarations?.find((each) => each.getSourceFile() === source);
  return declaration && (ts.getNameOfDeclaration(declaration) ?? declaration);
}
