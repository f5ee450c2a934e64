/** The entry module of threads that run the tools of mode-tools.ts: plain JavaScript, because threads do not inherit tsx. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const ENTRY = `import { bootstrap } from "svc-runtime";
import { tools } from "./mode-tools.js";
await bootstrap(Object.values(tools).map((tool) => tool.class));
`;

/** A folder of modules that see `svc-runtime` as an application does; gone at the end of the test file. */
export function moduleFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(ROOT, "node_modules", ".svc-threads-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Makes the module; gives its file. */
export function threadEntry(): string {
  const compiled = (name: string) =>
    transformSync(readFileSync(new URL(`${name}.ts`, import.meta.url), "utf8"), {
      loader: "ts",
      target: "node20",
    }).code.replace(/"#runtime\/(index|v1)\.js"/g, (_, door) => (door === "v1" ? '"svc-runtime/v1"' : '"svc-runtime"'));
  const files = {
    "counting-tool.js": compiled("counting-tool"),
    "mode-tools.js": compiled("mode-tools"),
    "entry.js": ENTRY,
  };
  return join(moduleFolder(files), "entry.js");
}
