/** Each literal of the protocol stands in runtime/client/wire/protocol.ts alone. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const LITERALS = [
  /"X-Svc-"|nexus\.direct|vnd\.nexus|\b(?:1 to 256 (?:values|items)|12 MiB)\b/,
  /(?<![\w.])(?:61[_,]?440|262[_,]?144|300_?000|12_?582_?912n?|2_?147_?483_?647|2 \*\* 31 - 1)\b/,
  /(?:VALUES|DEPTH|LEVELS|"maxItems",) =? ?(?:127|256)\b|\\x21-\\x7e/,
  / = 8 \* 1024 \* 1024\b/,
];

/** Other facts with the same numbers. */
const OTHERS: Readonly<Record<string, string>> = {
  "runtime/server/load/memory-budget.ts": "2_147_483_647",
  "runtime/server/wire/heap-bytes.ts": "300_000",
  "generator/dev/page-server/page-server.ts": " = 8 * 1024 * 1024",
  "runtime/http/request.ts": "2 ** 31 - 1",
};

test("literals of the protocol are defined in one file only", () => {
  const found: string[] = [];
  for (const folder of ["runtime", "generator"]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const file = `${folder}/${name}`;
      if (!/\.tsx?$/.test(file) || /\/(?:dist|node_modules)\/|^runtime\/client\/wire\/protocol\.ts$/.test(file))
        continue;
      const code = readFileSync(file, "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
      const literals = LITERALS.flatMap((literal) => literal.exec(code)?.[0] ?? []);
      found.push(...literals.filter((text) => text !== OTHERS[file]).map((text) => `${file}: ${text}`));
    }
  }
  assert.deepEqual(found, []);
});
