/** docs/troubleshooting.md and docs/error-codes.md: their headings are texts of the software, and doctor names them. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";

const page = readFileSync("docs/troubleshooting.md", "utf8");
const codes = readFileSync("docs/error-codes.md", "utf8");
const sources = readdirSync("runtime", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.startsWith("dist"))
  .map((name) => readFileSync(join("runtime", name), "utf8"))
  .join("\n");
/** Not ours: from the system. */
const FOREIGN = new Set(["listen EADDRINUSE"]);

it("every other text in a heading is in the source", () => {
  const texts = [...page.matchAll(/^### `([^`]+)`$/gm)].map(([, text]) => text as string);
  assert.ok(texts.length >= 10);
  for (const text of texts) {
    for (const part of text.split("…").map((each) => each.trim())) {
      assert.ok(part.length < 3 || FOREIGN.has(part) || sources.includes(part), `nothing says ${JSON.stringify(part)}`);
    }
  }
});

it("every heading and code that svc-gen doctor prints is on one of the pages", () => {
  const folder = "generator/doctor";
  const steps = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  const named = [...steps.join("\n").matchAll(/\((?:see docs\/troubleshooting\.md|error code): ([^)$]+)\)/g)].map(
    ([, row = ""]) => row,
  );
  assert.ok(named.length > 5);
  const headings =
    `${page}\n${codes}`
      .match(/^(?:### |\| `).*$/gm)
      ?.join("\n")
      .toLowerCase() ?? "";
  assert.deepEqual(
    named.filter((row) => !headings.includes(row.toLowerCase())),
    [],
  );
});
