/**
 * Runs several test files in one process, each in a suite with its name. Compiled code and parsed declaration files are
 * shared, which take most of the processor time of a small file that generates.
 *
 *     node batch.js '[["name", "/path/of/the/script.js"], …]'
 */

import { appendFileSync } from "node:fs";
import { after, describe } from "node:test";
import { pathToFileURL } from "node:url";
import { endAll } from "./teardown.js";

const { cpuSeconds } = (await import(new URL("cpu-time.mjs", import.meta.url).href)) as { cpuSeconds(): number };

after(endAll);

let [began, used] = [0, 0];
for (const [name, script] of JSON.parse(process.argv[2] as string) as [string, string][]) {
  // The script that proves.ts records.
  process.argv[1] = script;
  await new Promise<void>((resolve) => {
    describe(name, async () => {
      after(() => resolve());
      await import(pathToFileURL(script).href);
    });
  });
  const [now, cpu] = [performance.now() / 1000, cpuSeconds()];
  appendFileSync(`${process.env.TEST_CPU}.files`, `${JSON.stringify([name, now - began, cpu - used])}\n`);
  [began, used] = [now, cpu];
}
