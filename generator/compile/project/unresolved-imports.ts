/** Imports that TypeScript resolves and Node does not. */

import { dirname, relative } from "node:path";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import { type Program, packageOf } from "./program.js";
import { ts } from "./typescript.js";

/** Notes on relative imports without a file extension in ES modules that tsc writes, and on imports through `paths`. */
export function unresolvedImports({ program, checker, sources, emits, at }: Program): Diagnostic[] {
  const options = program.getCompilerOptions();
  // Without outDir a bundler or a loader reads the sources.
  if (!emits || options.outDir === undefined) return [];
  return sources.flatMap((file) =>
    file.statements.flatMap((statement) => {
      if (!isValueImport(statement, checker)) return [];
      const { moduleSpecifier } = statement;
      if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
      const name = moduleSpecifier.text;
      const target = checker.getSymbolAtLocation(moduleSpecifier)?.valueDeclaration?.getSourceFile();
      if (target === undefined) return [];
      const isRelative = /^\.\.?(?:\/|$)/.test(name);
      const lacksExtension = isRelative && mayLackExtensions(options) && !HAS_EXTENSION.test(name);
      if (!lacksExtension && !(options.paths !== undefined && isAlias(name, target, sources))) return [];
      const path = relative(dirname(file.fileName), target.fileName).replace(/(?:\.d)?\.([cm]?)tsx?$/, ".$1js");
      const written = quoted(path.startsWith(".") ? path : `./${path}`);
      return [diagnostic("SVC192", { place: at(moduleSpecifier) }, `${quoted(name)}; write ${written}`)];
    }),
  );
}

const HAS_EXTENSION = /\.(?:[cm]?[jt]sx?|json|node)$/;

/** Whether a name resolves to a file of the project only through `paths`, which tsc does not rewrite. */
function isAlias(name: string, target: ts.SourceFile, sources: readonly ts.SourceFile[]): boolean {
  const own = packageOf(target.fileName);
  return !/^[.#/]/.test(name) && name !== own && !name.startsWith(`${own}/`) && sources.includes(target);
}

/** Whether TypeScript accepts relative imports without an extension in ES modules. */
export function mayLackExtensions({ module = ts.ModuleKind.CommonJS, moduleResolution }: ts.CompilerOptions): boolean {
  return moduleResolution === ts.ModuleResolutionKind.Bundler && module >= ts.ModuleKind.ES2015;
}

/** Whether an import or export remains in JavaScript because some of its names are values. */
function isValueImport(
  statement: ts.Statement,
  checker: ts.TypeChecker,
): statement is ts.ImportDeclaration | ts.ExportDeclaration {
  if (ts.isExportDeclaration(statement)) return !statement.isTypeOnly;
  if (!ts.isImportDeclaration(statement)) return false;
  const { importClause: clause } = statement;
  const named = clause?.namedBindings;
  if (clause === undefined || clause.name !== undefined || named === undefined || !ts.isNamedImports(named))
    return clause?.isTypeOnly !== true;
  return (
    !clause.isTypeOnly &&
    named.elements.some(({ isTypeOnly, name }) => {
      const symbol = checker.getSymbolAtLocation(name);
      return (
        !isTypeOnly && symbol !== undefined && (checker.getAliasedSymbol(symbol).flags & ts.SymbolFlags.Value) !== 0
      );
    })
  );
}
