/** Folders of plain JavaScript modules for the processes that tests start. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A folder of modules that see `svc-runtime` as an application does. Removed at the end of the test file. */
export function moduleFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(ROOT, "node_modules", ".svc-modules-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries({ "package.json": '{"type":"module"}', ...files })) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
