/** What svc-gen and a generated server say in versions of Node.js that are too old for them, from the `node` package of npm. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scratchFolder } from "../scratch-folder.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COMMAND = ["generator/bin.js", "doctor"];
const SERVER = ["examples/sum/dist/generated/server.js", "--meta"];

// Without npm's settings for the scripts that it runs, such as this repository as its prefix.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));

for (const [version, programs] of [
  ["18.20.8", [COMMAND, SERVER]],
  ["16.20.2", [COMMAND, SERVER]],
  // It cannot read the syntax of the runtime.
  ["12.22.12", [COMMAND]],
] as const) {
  test(`Node.js ${version}: an error names the required version`, () => {
    const folder = scratchFolder();
    writeFileSync(join(folder, "package.json"), "{}");
    const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", `node@${version}`];
    const { status, stderr } = spawnSync("npm", install, { cwd: folder, encoding: "utf8", env });
    assert.equal(status, 0, stderr);
    for (const args of programs) {
      const old = spawnSync(join(folder, "node_modules/node/bin/node"), args, { cwd: ROOT, encoding: "utf8" });
      assert.match(
        old.stderr,
        new RegExp(`^Node\\.js ${version} is too old: .* need \\d+\\.\\d+\\.\\d+ or later; .*\\n$`),
      );
      assert.equal(old.status, 1);
    }
  });
}
