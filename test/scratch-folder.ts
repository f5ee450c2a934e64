/** Temporary folders of tests. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder, removed when the process exits: everything that uses it has ended by then. */
export function scratchFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-test-")));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
