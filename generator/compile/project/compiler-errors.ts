/** TypeScript's errors in a project, and which of them are errors of svc-gen too. */

import type { Diagnostic } from "../diagnostics/diagnostics.js";
import { messageAndPlace } from "./places.js";
import type { Program } from "./program.js";
import { minorOf } from "./project-typescript.js";
import { ts } from "./typescript.js";

/**
 * TypeScript's errors in the format of tsc, without those of generated files and libraries. If the project uses another
 * TypeScript version, errors in text that no contract depends on become notes, because that version decides about them.
 *
 * @param contractReach whether a contract depends on the text at a position
 */
export function compilerErrors(
  opened: Program,
  contractReach: (program: Program) => (file: ts.SourceFile, position: number) => boolean,
): Diagnostic[] {
  const { program, checked, layout, installed } = opened;
  const unparsed = new Set<ts.Diagnostic>();
  const found = [...checked.getGlobalDiagnostics()];
  for (const file of program.getSourceFiles()) {
    const { fileName, isDeclarationFile } = file;
    if (isDeclarationFile || opened.isGenerated(fileName) || program.isSourceFileFromExternalLibrary(file)) continue;
    // The types of a file with syntax errors are not reliable.
    const syntax = checked.getSyntacticDiagnostics(file);
    for (const each of syntax) unparsed.add(each);
    if (syntax.length === 0) found.push(...checked.getSemanticDiagnostics(file));
  }
  const errors = [[...unparsed], found]
    .flatMap((each) => ts.sortAndDeduplicateDiagnostics(each))
    .filter(({ category }) => category === ts.DiagnosticCategory.Error);
  const isNewer = installed?.version.localeCompare(ts.version, "en", { numeric: true }) === 1;
  const isOther = installed !== undefined && minorOf(installed.version) !== minorOf(ts.version);
  const reach = isOther && errors.length > 0 ? contractReach(opened) : () => true;
  return errors.map((each) => {
    const related = (each.relatedInformation ?? []).map((other) => messageAndPlace(layout, other));
    const isSyntax = !isNewer && unparsed.has(each);
    const isError = isSyntax || AGREED.has(each.code) || each.file === undefined || reach(each.file, each.start ?? 0);
    const hint = isError
      ? HINTS.get(each.code)
      : `run tsc: svc-gen reads the project with TypeScript ${ts.version}; if tsc ${installed?.version} of the project accepts this, no change is needed`;
    const common = {
      code: `TS${each.code}`,
      severity: isError ? "error" : "note",
      ...messageAndPlace(layout, each),
      ...(hint === undefined ? {} : { hint }),
    } as const;
    return related.length === 0 ? common : { ...common, related };
  });
}

/**
 * Codes that are errors in every supported TypeScript: `await` outside an async function, a relative import without
 * extension, an unknown member of an object literal, an abstract member that is not implemented, and `override` without
 * a member of that name in the base class.
 */
const AGREED: ReadonlySet<number> = new Set([1308, 2353, 2515, 2561, 2654, 2834, 2835, 4113, 4117]);

/** Hints for TypeScript errors that the configuration causes. */
const HINTS: ReadonlyMap<number, string> = new Map([
  [1479, 'set "module": "NodeNext" in tsconfig.json, or "type": "module" in package.json'],
]);
