/**
 * Counts each part of `budgets.json` and fails if a part exceeds its budget. A code line is neither blank nor a comment. A
 * file belongs to the first part whose `paths`, `except` (beginnings of paths) and `endings` select it.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const CODE = [".ts", ".tsx", ".mjs", ".js", ".hbs", ".css"];
const BLOCK_COMMENT = /^\s*\{?(\/\*[\s\S]*?\*\/|\{!--[\s\S]*?--\}\})\}?\s*$/gm;
const COUNT = {
  "code lines": (text) => text.replace(BLOCK_COMMENT, "").match(/^(?!\s*\/\/)\s*\S.*$/gm)?.length ?? 0,
  lines: (text) => text.split("\n").length - 1,
  files: () => 1,
};

const root = new URL("..", import.meta.url);
const parts = JSON.parse(readFileSync(new URL("budgets.json", import.meta.url), "utf8"));
const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8" });
const counts = new Map(parts.map(({ part }) => [part, 0]));
for (const file of listed.split("\n").filter((path) => existsSync(new URL(path, root)))) {
  const owner = parts.find(({ paths, except = [], endings = CODE }) => {
    const listedIn = (beginnings) => beginnings.some((path) => file.startsWith(path));
    return listedIn(paths) && !listedIn(except) && endings.some((ending) => file.endsWith(ending));
  });
  if (owner === undefined) continue;
  const count = COUNT[owner.unit ?? "code lines"](readFileSync(new URL(file, root), "utf8"));
  counts.set(owner.part, counts.get(owner.part) + count);
}
for (const { part, budget, unit = "code lines" } of parts) {
  process.stdout.write(`${part.padEnd(24)}${String(counts.get(part)).padStart(7)} of ${budget} ${unit}\n`);
  if (counts.get(part) > budget) process.exitCode = 1;
}
if (process.exitCode)
  process.stderr.write("over budget: remove as much elsewhere, or state the reason for the rise in the commit\n");
