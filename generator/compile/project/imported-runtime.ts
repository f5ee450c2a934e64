/** The svc-runtime that a project imports: installed and built. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { findUpwards } from "./folders-up.js";
import { displayPath, type Layout } from "./layout.js";
import { RUNTIME } from "./manifest.js";
import type { Program } from "./program.js";
import { ts } from "./typescript.js";

/**
 * Diagnostic for a project whose imports of svc-runtime do not resolve. Replaces all TypeScript errors that follow from
 * this.
 */
export function missingRuntime({ program, sources, checker, at, layout }: Program): Diagnostic | undefined {
  // The stub of contracts.ts (STUBS in program.ts) imports svc-runtime/v1, like the generated files.
  const stub = program.getSourceFile(join(layout.out, "contracts.ts"));
  const specifiers = [...sources, ...(stub === undefined ? [] : [stub])].flatMap(importsOfRuntime);
  // A module resolution without "exports" resolves a linked package to its sources instead of its declarations.
  const unresolved = specifiers.find((specifier) => {
    const declaration = checker.getSymbolAtLocation(specifier)?.valueDeclaration;
    return declaration?.getSourceFile().isDeclarationFile !== true;
  });
  if (unresolved === undefined) return undefined;
  const file = unresolved.getSourceFile();
  const reason = unresolvedReason(layout, file.fileName);
  if (file !== stub) return diagnostic("SVC103", { place: at(unresolved) }, ...reason);
  const [detail = `for the generated files in ${displayPath(layout, layout.out)}`, hint] = reason;
  return diagnostic("SVC103", {}, detail, hint);
}

/** Specifiers of imports of `svc-runtime` and `svc-runtime/v1`. */
function importsOfRuntime(file: ts.SourceFile): ts.Expression[] {
  return file.statements
    .filter(ts.isImportDeclaration)
    .map(({ moduleSpecifier }) => moduleSpecifier)
    .filter((specifier) => ts.isStringLiteral(specifier) && [RUNTIME, `${RUNTIME}/v1`].includes(specifier.text));
}

/** Folder of the svc-runtime that Node loads for an import in this file; undefined if there is none. */
function runtimeFolder(fileName: string): string | undefined {
  const manifest = findUpwards(dirname(fileName), join("node_modules", RUNTIME, "package.json"));
  return manifest && dirname(manifest);
}

/** Reason and hint if svc-runtime is in `node_modules` but does not resolve; empty if it is not there. */
function unresolvedReason(layout: Layout, fileName: string): [] | [reason: string, hint: string] {
  const folder = runtimeFolder(fileName);
  if (folder === undefined) return [];
  const place = displayPath(layout, folder);
  return existsSync(join(folder, "dist/index.d.ts"))
    ? [
        `${place} exists, but the module resolution of tsconfig.json does not find it`,
        'set "module": "NodeNext" in tsconfig.json',
      ]
    : [`${place} exists, but is not built: it has no dist/index.d.ts`, "build the package, or install it again"];
}
