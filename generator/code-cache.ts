/**
 * What V8 has compiled of a large module, kept for the next process: to compile TypeScript anew is a tenth of a run of many
 * tools and a quarter of one of a single tool. Lies in the build of svc-gen, beside the code that it stands for, and is made
 * anew when it is not of the same text, the same V8 and the same flags. No compiler in this file.
 */

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { contentHash } from "./content.js";
import { replaceFiles } from "./disk.js";

/** Files that stay: versions of Node and flags differ. */
const MOST = 8;

/** A module that was compiled without help, and what may be kept of it where. */
interface Compiled {
  readonly script: Script;
  /** The hash of its text. */
  readonly text: string;
  readonly tag: number;
  readonly target: string;
}

const compiled: Compiled[] = [];

/** The exports of a CommonJS file, as `require` gives them for one that is not loaded yet. */
export function requireCompiled(
  path: string,
  folder = fileURLToPath(new URL("../code-cache", import.meta.url)),
): unknown {
  const source = readFileSync(path);
  const text = contentHash(source);
  const tag = cachedDataVersionTag();
  const target = join(folder, `${basename(path)}.${tag}.bin`);
  const cachedData = readKept(target, text);
  const script = new Script(Module.wrap(source.toString()), { filename: path, ...(cachedData && { cachedData }) });
  if (cachedData === undefined || script.cachedDataRejected === true) compiled.push({ script, text, tag, target });
  const require = createRequire(path);
  const module = Object.assign(new Module(path), { filename: path });
  require.cache[path] = module;
  const run = script.runInThisContext() as (...scope: unknown[]) => void;
  run.call(module.exports, module.exports, require, module, path, dirname(path));
  module.loaded = true;
  return module.exports;
}

/**
 * Keeps what V8 has compiled by now, with the functions that were called. Where nothing can be written, nothing is kept and
 * the next process compiles again.
 */
export function keepCompiled(): void {
  for (const { script, text, tag, target } of compiled.splice(0)) {
    // V8 takes it for the flags with which it was made.
    if (tag !== cachedDataVersionTag()) continue;
    const data = script.createCachedData();
    try {
      replaceFiles([{ target, content: Buffer.concat([sealOf(text, data), data]) }]);
      tidy(dirname(target));
    } catch {}
  }
}

/** What was kept of a text, when it is whole. */
function readKept(target: string, text: string): Buffer | undefined {
  try {
    const kept = readFileSync(target);
    const data = kept.subarray(SEAL);
    return kept.subarray(0, SEAL).equals(sealOf(text, data)) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Which text it was made of, of which V8 compares the length alone, and whether anything has changed since. */
function sealOf(text: string, data: Buffer): Buffer {
  return Buffer.from(`${text}${contentHash(data)}`, "hex");
}
/** Bytes. */
const SEAL = 40;

/** Removes the oldest files but for some. */
function tidy(folder: string): void {
  const age = (name: string) => statSync(join(folder, name)).mtimeMs;
  const names = readdirSync(folder).sort((one, other) => age(other) - age(one));
  for (const name of names.slice(MOST)) rmSync(join(folder, name), { force: true });
}
