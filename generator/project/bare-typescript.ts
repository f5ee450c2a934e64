/**
 * Makes `require("ts-morph")` load its TypeScript only. The rest of ts-morph, with a copy of TypeScript's library
 * files, takes 60 to 100 ms and 20 MB and is unused here. When the compiler is not at the expected path, all of
 * ts-morph is loaded.
 */

import { existsSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const morph = require.resolve("ts-morph");
const compiler = compilerOf(morph);
if (compiler !== undefined) provideModule(morph, () => ({ ts: require(compiler) }));

/** Sets the exports of a module before `require` loads it. A module that is loaded already stays. */
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
