/**
 * Has `require("ts-morph")` give its TypeScript and nothing else: what surrounds it, among it a copy of TypeScript's library
 * files, takes 60 to 100 ms and 20 MB, and nothing here uses it. Where the compiler is not where it is looked for, ts-morph
 * is loaded as a whole.
 */

import { existsSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const morph = require.resolve("ts-morph");
const compiler = compilerOf(morph);
if (compiler !== undefined) provideModule(morph, () => ({ ts: require(compiler) }));

/** Has `require` of a file give these exports, unless the file is loaded already. */
export function provideModule(path: string, exports: () => unknown): void {
  if (require.cache[path] !== undefined) return;
  require.cache[path] = Object.assign(new Module(path), { exports: exports(), loaded: true, filename: path });
}

function compilerOf(morphPath: string): string | undefined {
  try {
    const path = join(dirname(createRequire(morphPath).resolve("@ts-morph/common")), "typescript.js");
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
