/** The oldest Node.js that the packages run on, and the warning of vulnerable ones. test/e2e/node-versions.test.ts starts real old versions. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const { engines } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as { engines: { node: string } };
const OLDEST = /^>=(\S+)/.exec(engines.node)?.[1] ?? "";

/** Runs a program in a Node.js that gives itself another version. */
function runAs(version: string, ...args: string[]) {
  const versions = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } })`;
  const preload = `data:text/javascript,${encodeURIComponent(versions)}`;
  return spawnSync(process.execPath, ["--import", preload, ...args], { cwd: ROOT, encoding: "utf8" });
}

for (const args of [
  ["generator/bin.js", "--version"],
  ["examples/sum/dist/generated/server.js", "--meta"],
]) {
  test(`${args[0]} starts with the oldest supported Node, and reports an older one`, () => {
    const [major = 0, minor = 0, patch = 0] = OLDEST.split(".").map(Number);
    for (const older of [`${major}.${minor - 1}.9`, `${major - 1}.${minor + 1}.${patch}`]) {
      const { status, stderr } = runAs(older, ...args);
      assert.equal(status, 1);
      assert.equal(
        stderr,
        `Node.js ${older} is too old: svc-gen and svc-runtime need ${OLDEST} or later; install a newer one and run this again\n`,
      );
    }
    assert.equal(runAs(OLDEST, ...args).status, 0);
    assert.equal(runAs(`${major + 2}.0.0`, ...args).status, 0);
  });
}

/** Serves a tool, closes the server, and so prints its log. */
const SERVE = `
  const { serve } = await import("svc-runtime");
  const { Sum } = await import("./examples/sum/dist/sum.js");
  const { contracts } = await import("./examples/sum/dist/generated/contracts.js");
  const { provideContracts } = await import("svc-runtime/v1");
  provideContracts(contracts);
  await (await serve([Sum], { address: [[127, 0, 0, 1], 0] })).close();
`;

const BOTH = [
  ["generator/bin.js", "--version"],
  ["--input-type=module", "--eval", SERVE],
] as const;

for (const [version, fixed, programs] of [
  [OLDEST, "20.20.2", BOTH],
  ["20.20.1", "20.20.2"],
  ["20.20.2", undefined, BOTH],
  ["21.7.3", "22.22.2"],
  ["22.22.2", undefined],
  ["24.13.9", "24.14.1"],
  ["25.8.2", undefined],
  ["26.0.0", undefined],
] as const) {
  const told = fixed === undefined ? "do not warn" : `warn and name ${fixed}`;
  test(`Node ${version}: ${programs === BOTH ? "svc-gen and a server" : "svc-gen"} ${told}`, () => {
    for (const args of programs ?? BOTH.slice(0, 1)) {
      const { status, stdout, stderr } = runAs(version, ...args);
      assert.equal(status, 0, stderr);
      const found = /Node\.js (\S+) has known vulnerabilities: .*; install (\S+) or a later version/.exec(
        stdout + stderr,
      );
      assert.deepEqual(found?.slice(1), fixed && [version, fixed]);
    }
  });
}
