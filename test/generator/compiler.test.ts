/** What of ts-morph is loaded. */

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { test } from "node:test";
import { ts } from "#generator/project/typescript.js";

test("of ts-morph its compiler is loaded, and nothing that surrounds it", () => {
  const loaded = Object.keys(createRequire(import.meta.url).cache).map((path) => basename(path));
  assert.match(ts.version, /^5\.9\./);
  assert.ok(loaded.includes("typescript.js"));
  assert.ok(!loaded.includes("ts-morph-common.js"));
});
