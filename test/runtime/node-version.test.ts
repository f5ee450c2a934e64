/** The oldest Node.js that the packages run on. test/e2e/old-node.test.ts starts real old versions. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { engines } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { engines: { node: string } };
const OLDEST = /^>=(\S+)/.exec(engines.node)?.[1] ?? "";

/** Starts a program in a Node.js that gives itself another version. */
function startAs(version: string, program: string, ...args: string[]) {
  const versions = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  const preload = `data:text/javascript,${encodeURIComponent(versions)}`;
  return spawnSync(process.execPath, ["--import", preload, `${ROOT}${program}`, ...args], { encoding: "utf8" });
}

for (const [program, ...args] of [
  ["generator/bin.js", "--version"],
  ["examples/sum/dist/generated/server.js", "--meta"],
] as const) {
  test(`${program} starts with the oldest supported Node, and reports an older one`, () => {
    const [major = 0, minor = 0, patch = 0] = OLDEST.split(".").map(Number);
    for (const older of [`${major}.${minor}.${patch - 1}`, `${major - 1}.${minor + 1}.${patch}`]) {
      const { status, stderr } = startAs(older, program, ...args);
      assert.equal(status, 1);
      assert.equal(
        stderr,
        `Node.js ${older} is too old: svc-gen and svc-runtime need ${OLDEST} or later; install a newer one and run this again\n`,
      );
    }
    assert.equal(startAs(OLDEST, program, ...args).status, 0);
    assert.equal(startAs(`${major + 2}.0.0`, program, ...args).status, 0);
  });
}
