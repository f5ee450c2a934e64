/** examples/README.md is true: each form stands in the file that is named, and each example is listed. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const page = readFileSync("examples/README.md", "utf8");

test("each form is in the file that the page names", () => {
  const rows = [...page.matchAll(/^\| .* \| `(.+)` \| \[.*\]\((\S+)\) \|$/gm)];
  assert.ok(rows.length > 15);
  for (const [, spelling = "", path = ""] of rows) {
    const text = readFileSync(join("examples", path), "utf8");
    assert.ok(text.includes(spelling.replaceAll("\\|", "|")), `${path} has no ${spelling}`);
  }
});

test("each example is listed", () => {
  const listed = [...page.matchAll(/^\| \[([\w-]+)\]\(\1\//gm)].map(([, name]) => name);
  const there = readdirSync("examples").filter((name) => existsSync(join("examples", name, "package.json")));
  assert.deepEqual(listed.sort(), there.sort());
});
