/** Check of the compiled JavaScript: its contracts are the generated ones. */

import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { displayPath } from "../compile/project/layout.js";
import type { Project } from "../compile/project/program.js";
import { readRegular } from "../files/read-file.js";
import { bad, type Check, good, skipped } from "./check.js";

export function checkBuild({ layout, options: { outDir, rootDir } }: Project): Check[] {
  // Without outDir, a bundler builds the server at a path that is not in tsconfig.json.
  if (outDir === undefined) return [];
  const source = join(layout.out, "contracts.ts");
  // Without rootDir, its default depends on the sources and on the version of TypeScript.
  const roots = rootDir === undefined ? [join(layout.root, "src"), layout.root] : [rootDir];
  const compiled = roots.map((root) => join(outDir, relative(root, layout.out), "contracts.js")).find(existsSync);
  if (compiled === undefined) {
    return [skipped("build", "the server is not built", "run npm run build before npm start")];
  }
  if (existsSync(source) && dataOf(compiled) !== dataOf(source)) {
    const detail = `${displayPath(layout, compiled)} differs from ${displayPath(layout, source)}`;
    return [bad("build", `${detail}: the server would use old contracts`, "npm run build")];
  }
  return [good("build", "the compiled contracts match the generated files")];
}

/** Contracts in a file, without white space, which tsc changes. */
function dataOf(path: string): string | undefined {
  return /contracts(?:: readonly Contract\[\])? = (\[.*\]);/s
    .exec(readRegular(path).toString())?.[1]
    ?.replace(/\s/g, "");
}
