/**
 * Work counted in steps, for tests of how it grows: a step is one execution of a block within a function (a turn of a
 * loop, a branch), as V8 counts them for coverage. It depends on no clock. Import this file statically: only functions
 * that are first called after it are counted.
 */

import { Session } from "node:inspector";

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[];
}

const session = new Session();
session.connect();
request("Profiler.enable");
request("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

/** The steps that `work` took in the scripts whose URL holds `script`. */
export function stepsOf(script: string, work: () => void): number {
  request("Profiler.takePreciseCoverage");
  work();
  const { result } = request("Profiler.takePreciseCoverage") as { result: readonly ScriptCoverage[] };
  let steps = 0;
  for (const { url, functions } of result) {
    if (!url.includes(script)) continue;
    // The first range is the function itself: V8 leaves it out for functions without blocks that it has optimized.
    for (const { ranges } of functions) for (const { count } of ranges.slice(1)) steps += count;
  }
  return steps;
}

/** One request to V8's inspector, which answers before the call returns. */
function request(method: string, parameters: object = {}): unknown {
  let answer: unknown;
  session.post(method, parameters, (error, result) => {
    if (error !== null) throw error;
    answer = result;
  });
  return answer;
}
