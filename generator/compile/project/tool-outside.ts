import { basename, dirname } from "node:path";
import { isWithin } from "../../files/atomic-write.js";
import { readTextFile } from "../../files/read-file.js";
import { findUpwards } from "./folders-up.js";
import { displayPath } from "./layout.js";
import type { Program } from "./program.js";
import { ts } from "./typescript.js";

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".mjs", ".cjs"];
const JAVASCRIPT = /\.([cm]?)js$/;
const MAX_DEPTH = 4;
const MAX_FILES = 200;

/**
 * Path of a file near tsconfig.json that seems to contain a tool class but is not part of the program, and what to do.
 * JavaScript files are considered only next to sources, because compiled tools contain the classes too.
 *
 * @param fqn name of the tool, by default any
 */
export function toolOutside(program: Program, fqn = "") {
  const { layout, sources } = program;
  const folders = new Set([dirname(layout.out), ...sources.map(({ fileName }) => dirname(fileName))]);
  const found = filesOutside(program)
    .filter((path) => !JAVASCRIPT.test(path) || folders.has(dirname(path)))
    .find((path) => {
      const text = readTextFile(path) ?? "";
      return /\bextends\s+SvcTool\b/.test(text) && text.includes(fqn);
    });
  if (found === undefined) return undefined;
  const path = displayPath(layout, found);
  const typed = basename(path).replace(JAVASCRIPT, ".$1ts");
  const hint = JAVASCRIPT.test(path)
    ? `rename it to ${typed}: svc-gen reads TypeScript only`
    : `add it to "include" in ${displayPath(layout, layout.tsconfig)}`;
  return { path, hint };
}

/** Absolute paths of at most {@link MAX_FILES} files near tsconfig.json that are not part of the program. */
function filesOutside({ layout, program }: Program): string[] {
  return ts.sys
    .readDirectory(layout.root, EXTENSIONS, ["node_modules", "**/*.d.ts"], undefined, MAX_DEPTH)
    .slice(0, MAX_FILES)
    .filter((path) => program.getSourceFile(path) === undefined && isOfPackage(path, layout.root));
}

/** Whether no package.json lies between a file and the root: packages of a workspace are separate projects. */
function isOfPackage(path: string, root: string): boolean {
  const manifest = findUpwards(dirname(path), "package.json");
  return manifest === undefined || isWithin(dirname(manifest), root);
}
