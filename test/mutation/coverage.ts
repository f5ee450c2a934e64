/** The test files that should notice a fault in a source file, by the functions that each test file calls. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** How many tests of each function are selected. */
const DEPTH = 3;

interface Coverage {
  readonly test: string;
  readonly milliseconds: number;
  /** The called functions of each built file, by their places. */
  readonly called: Readonly<Record<string, readonly number[]>>;
}

/** The built file of a source file, relative to the repository. */
export function builtFile(source: string): string {
  const folder = /^runtime\/(?:(?:client|redis|storage)\/)?/.exec(source)?.[0] ?? "";
  return `${folder}dist/${source.slice(folder.length).replace(/\.ts$/, ".js")}`;
}

/** The selected tests of a built file: those that call most of its functions in the least time first. */
export function testsOf(built: string, coverage: readonly Coverage[]): string[] {
  const left = new Map<number, number>();
  for (const { called } of coverage) for (const place of called[built] ?? []) left.set(place, DEPTH);
  const value = ({ called, milliseconds }: Coverage) =>
    (called[built] ?? []).filter((place) => (left.get(place) ?? 0) > 0).length / milliseconds;
  const [selected, candidates] = [[] as string[], new Set(coverage)];
  for (;;) {
    const [best] = [...candidates].sort((a, b) => value(b) - value(a));
    if (best === undefined || value(best) === 0) return selected;
    candidates.delete(best);
    selected.push(best.test);
    for (const place of best.called[built] ?? []) left.set(place, (left.get(place) ?? 0) - 1);
  }
}

/** Runs every test file in the copy of the repository; those that fail there are left out. */
export async function coverageOf(
  tests: readonly string[],
  scriptOf: (test: string) => string,
  copy: string,
): Promise<Coverage[]> {
  const queue = [...tests];
  const coverage: Coverage[] = [];
  const work = async () => {
    for (let test = queue.shift(); test !== undefined; test = queue.shift()) {
      const folder = join(copy, "coverage", `${queue.length}`);
      const began = performance.now();
      const child = spawn(process.execPath, ["--enable-source-maps", scriptOf(test)], {
        cwd: copy,
        stdio: "ignore",
        env: { ...process.env, NODE_V8_COVERAGE: folder },
      });
      const hasPassed = (await endOf(child)) === 0;
      const milliseconds = Math.round(performance.now() - began);
      if (hasPassed) coverage.push({ test, milliseconds, called: calledIn(folder, copy) });
      else console.log(`left out, since it fails in the copy: ${test}`);
      rmSync(folder, { recursive: true, force: true });
    }
  };
  await Promise.all([work(), work()]);
  return coverage;
}

const endOf = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once("close", resolve));

/** The part of V8's report that is read here. */
interface Report {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { startOffset: number; count: number }[] }[];
  }[];
}

function calledIn(folder: string, copy: string): Record<string, number[]> {
  const called: Record<string, Set<number>> = {};
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const result = resultOf(readFileSync(join(folder, name), "utf8"));
    for (const { url, functions } of result.filter(({ url }) => url.startsWith("file:"))) {
      const file = fileURLToPath(url).slice(copy.length + 1);
      if (!/^(?:runtime\/(?:\w+\/)?)?dist\/(?!tests-)/.test(file)) continue;
      called[file] ??= new Set();
      // The first function is the module itself.
      for (const { ranges } of functions.slice(1)) {
        if ((ranges[0]?.count ?? 0) > 0) called[file].add(ranges[0]?.startOffset ?? 0);
      }
    }
  }
  return Object.fromEntries(Object.entries(called).map(([file, places]) => [file, [...places]]));
}

function resultOf(text: string): Report["result"] {
  try {
    return (JSON.parse(text) as Report).result;
  } catch {
    // Of a process that was killed while it wrote.
    return [];
  }
}
