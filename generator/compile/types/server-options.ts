/** Options of the generated server, from an optional file next to the output folder. */

import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { displayPath } from "../project/layout.js";
import { aliasTarget, type Program } from "../project/program.js";
import { ts } from "../project/typescript.js";

const EXPORT = "options";

export interface ServerOptions {
  /** Relative to the root; undefined if the project has no such file. */
  readonly file: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Finds the file of options among the project's sources. Its export must be declared as `BootstrapOptions`, because
 * TypeScript then reports unknown names in it.
 */
export function findServerOptions(program: Program): ServerOptions {
  const { layout, sources, checker, at } = program;
  const source = program.program.getSourceFile(layout.serverOptions);
  if (source === undefined || !sources.includes(source)) return { file: undefined, diagnostics: [] };
  const file = displayPath(layout, layout.serverOptions);
  const exported = exportOf(program, source);
  const type = exported && checker.getTypeOfSymbol(exported);
  // The stub of server.ts (STUBS in program.ts) exports a constant of the wanted type.
  const stub = program.program.getSourceFile(`${layout.out}/server.ts`);
  const wanted = stub && exportOf(program, stub);
  if (type !== undefined && (wanted === undefined || type === checker.getTypeOfSymbol(wanted)))
    return { file, diagnostics: [] };
  const detail =
    type === undefined
      ? `it does not export a constant ${EXPORT}`
      : `${EXPORT} has the type ${checker.typeToString(type)}`;
  const declaration = exported?.declarations?.find((each) => each.getSourceFile() === source);
  const node = (declaration && ts.getNameOfDeclaration(declaration)) ?? source.statements[0] ?? source;
  return { file, diagnostics: [diagnostic("SVC124", { place: at(node) }, detail)] };
}

/** Value that a file exports as {@link EXPORT}; undefined if there is no such export, or only a type. */
function exportOf({ checker }: Program, source: ts.SourceFile): ts.Symbol | undefined {
  const module = checker.getSymbolAtLocation(source);
  const found = module && checker.getExportsOfModule(module).find(({ name }) => name === EXPORT);
  if (found === undefined || found.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return undefined;
  const symbol = aliasTarget(checker, found);
  return symbol.flags & ts.SymbolFlags.Value ? symbol : undefined;
}
