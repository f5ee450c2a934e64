/** Temporary folders of tests. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const folders: string[] = [];

// One listener for all: more than ten cause a warning.
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * A new folder with these files, which only their owner can read. Removed when the process exits: everything that uses it
 * has ended by then.
 */
export function scratchFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-test-")));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o600 });
  }
  return folder;
}
