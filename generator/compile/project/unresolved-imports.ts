/** Imports that TypeScript resolves and Node does not. */

import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import { specifier } from "./layout.js";
import { type Program, packageOf } from "./program.js";
import { ts } from "./typescript.js";

/** Notes on relative imports without a file extension in ES modules that tsc writes, and on imports through `paths`. */
export function unresolvedImports({ program, checker, sources, emits, at }: Program): Diagnostic[] {
  const options = program.getCompilerOptions();
  // Without outDir a bundler or a loader reads the sources.
  if (!emits || options.outDir === undefined) return [];
  return sources.flatMap((file) =>
    file.statements.flatMap((statement) => {
      if (!(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement))) return [];
      const { moduleSpecifier } = statement;
      if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
      const name = moduleSpecifier.text;
      const target = checker.getSymbolAtLocation(moduleSpecifier)?.valueDeclaration?.getSourceFile();
      if (target === undefined) return [];
      const isRelative = /^\.\.?(?:\/|$)/.test(name);
      const lacksExtension = isRelative && mayLackExtensions(options) && !HAS_EXTENSION.test(name);
      if (!lacksExtension && !(options.paths !== undefined && isAlias(name, target, sources))) return [];
      if (!isEmitted(statement, options, checker)) return [];
      const written = quoted(specifier(file.fileName, target.fileName));
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

/** TypeScript's internal queries about which names are values in JavaScript (6.0). */
interface InnerChecker {
  getEmitResolver(file: ts.SourceFile): {
    isReferencedAliasDeclaration(node: ts.ImportClause, children: true): boolean;
    isValueAliasDeclaration(node: ts.ExportSpecifier): boolean;
  };
}

/** Whether an import or export remains in JavaScript: tsc erases names that are used only as types. */
function isEmitted(
  statement: ts.ImportDeclaration | ts.ExportDeclaration,
  { verbatimModuleSyntax }: ts.CompilerOptions,
  checker: ts.TypeChecker,
): boolean {
  const isImport = ts.isImportDeclaration(statement);
  const names = isImport ? statement.importClause : statement.exportClause;
  if ((isImport ? statement.importClause?.isTypeOnly : statement.isTypeOnly) === true) return false;
  if (names === undefined || ts.isNamespaceExport(names) || verbatimModuleSyntax === true) return true;
  const resolver = (checker as unknown as InnerChecker).getEmitResolver(statement.getSourceFile());
  return ts.isNamedExports(names)
    ? names.elements.some((each) => !each.isTypeOnly && resolver.isValueAliasDeclaration(each))
    : resolver.isReferencedAliasDeclaration(names, true);
}
