/** `npm run conformance -- DIR`: every vector file of a directory; the counts last, the exit code by them. */

import { resolve } from "node:path";
import { runDirectory } from "./conformance.js";
import { VECTORS } from "./read.js";

const counts = new Map<string, [passed: number, failed: number]>();
let passed = 0;
let failed = 0;
for await (const { file, name, fault } of runDirectory(resolve(process.argv[2] ?? VECTORS))) {
  const count = counts.get(file) ?? [0, 0];
  counts.set(file, count);
  if (fault === undefined) {
    passed++;
    count[0]++;
  } else {
    failed++;
    count[1]++;
    console.log(`FAILED ${file}: ${name}\n  ${fault}`);
  }
}
for (const [file, [good, bad]] of counts) console.log(`${file}: ${good} passed, ${bad} failed`);
if (passed + failed === 0) console.log("no vector files there");
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
