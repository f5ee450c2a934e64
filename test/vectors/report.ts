/** Runs every vector file of a directory: a line for each failed case, and the counts last. */

import { runDirectory } from "./conformance.js";

/** Returns the exit code: 0 when there were cases and all passed. */
export async function reportOn(directory: string, print: (line: string) => void): Promise<number> {
  const counts = new Map<string, [passed: number, failed: number]>();
  let passed = 0;
  let failed = 0;
  for await (const { file, name, fault } of runDirectory(directory)) {
    const count = counts.get(file) ?? [0, 0];
    counts.set(file, count);
    if (fault === undefined) {
      passed++;
      count[0]++;
    } else {
      failed++;
      count[1]++;
      print(`FAILED ${file}: ${name}\n  ${fault}`);
    }
  }
  for (const [file, [good, bad]] of counts) print(`${file}: ${good} passed, ${bad} failed`);
  if (passed + failed === 0) print("no vector files there");
  print(`${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0 ? 1 : 0;
}
