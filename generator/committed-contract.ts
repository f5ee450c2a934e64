/** The `meta.json` of git HEAD. */

import { spawnSync } from "node:child_process";

/** Its text; undefined outside a repository, and when it is not committed. */
export function committedContract(root: string): string | undefined {
  const { status, stdout } = spawnSync("git", ["show", "HEAD:./meta.json"], { cwd: root, encoding: "utf8" });
  return status === 0 ? stdout : undefined;
}
