/** Tool classes in files that tsconfig.json leaves out. */

import { join } from "node:path";
import { readSource } from "../../files/read-file.js";
import { displayPath } from "./layout.js";
import type { Program } from "./program.js";
import { ts } from "./typescript.js";

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts"];
const MAX_DEPTH = 4;
const MAX_FILES = 200;

/** A file near tsconfig.json that is not of the program and seems to have a tool class; undefined without one. */
export function toolOutside({ layout, program }: Pick<Program, "layout" | "program">): string | undefined {
  return ts.sys
    .readDirectory(layout.root, EXTENSIONS, ["node_modules", "**/*.d.ts"], undefined, MAX_DEPTH)
    .slice(0, MAX_FILES)
    .filter((path) => program.getSourceFile(path) === undefined)
    .map((path) => displayPath(layout, path))
    .find((path) => /\bextends\s+SvcTool\b/.test(readSource(join(layout.root, path)) ?? ""));
}
