/** svc-gen and a generated server in other versions of Node.js, from the `node` package of npm: too old, vulnerable, and with the permission model. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scratchFolder } from "../scratch-folder.js";
import { entrypoint, startServer } from "./process.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = `${ROOT}docs/deploy/README.md`;
const COMMAND = ["generator/bin.js", "doctor"];
const SERVER = ["examples/sum/dist/generated/server.js", "--meta"];

// Without npm's settings for the scripts that it runs, such as this repository as its prefix.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));

/** Path of a version of Node.js that it installs, with other packages. */
function install(version: string, ...others: string[]): string {
  const folder = scratchFolder();
  writeFileSync(join(folder, "package.json"), "{}");
  const install = ["install", "--no-audit", "--no-fund", "--prefer-offline", `node@${version}`, ...others];
  const { status, stderr } = spawnSync("npm", install, { cwd: folder, encoding: "utf8", env });
  assert.equal(status, 0, stderr);
  return join(folder, "node_modules/node/bin/node");
}

for (const [version, programs] of [
  ["18.20.8", [COMMAND, SERVER]],
  ["16.20.2", [COMMAND, SERVER]],
  // It cannot read the syntax of the runtime.
  ["12.22.12", [COMMAND]],
] as const) {
  test(`Node.js ${version}: an error names the required version`, () => {
    const node = install(version);
    for (const args of programs) {
      const old = spawnSync(node, args, { cwd: ROOT, encoding: "utf8" });
      assert.match(
        old.stderr,
        new RegExp(`^Node\\.js ${version} is too old: .* need \\d+\\.\\d+\\.\\d+ or later; .*\\n$`),
      );
      assert.equal(old.status, 1);
    }
  });
}

test("Node.js 20.19.0: svc-gen generates, and the signed demo passes", () => {
  const node = install("20.19.0");
  const inNode = { ...env, PATH: `${dirname(node)}:${env.PATH}` };
  for (const args of [["../../generator/bin.js", "--check"], ["dist/demo.js"]]) {
    const { status, stderr } = spawnSync(node, args, { cwd: `${ROOT}examples/sum`, encoding: "utf8", env: inNode });
    assert.equal(status, 0, stderr);
  }
});

for (const [version, flags] of [
  ["24", []],
  ["26", ["--allow-net"]],
] as const) {
  test(`Node.js ${version} with --permission: a server uses libsodium with the documented flags`, async () => {
    const [, documented = ""] =
      /node (--permission .*) dist\/generated\/server\.js/.exec(readFileSync(PAGE, "utf8")) ?? [];
    const paths = [realpathSync(ROOT), realpathSync(tmpdir())].map((path) => `--allow-fs-read=${path}`);
    const given = documented.split(" ").filter((flag) => !/=\/(?:srv|etc)\/my-tool$/.test(flag));
    const config = { signed_http: { mode: "disabled" } };
    const command = [install(version), ...given, ...flags, ...paths] as const;
    const server = await startServer(entrypoint("sum"), config, {}, command);
    assert.match(server.log(), /"ed25519":"libsodium /);
    assert.equal(await server.stop(), 0);
  });
}

test("Node.js 24: a client sends calls by an agent of undici 8, which the application installed", async () => {
  const node = install("24", "undici@8");
  const server = await startServer(entrypoint("sum"), { signed_http: { mode: "disabled" } });
  const program = `
    const { Agent } = createRequire(${JSON.stringify(node)})("undici");
    const dispatcher = new Agent();
    const client = await LeaderClient.connect("${server.url}/sum", { dispatcher });
    console.log((await client.invokeUnsigned({ a: 1n, b: 2n, label: "three", tags: ["x"] })).tag);
    await dispatcher.close();`;
  const imports = 'import { createRequire } from "node:module"; import { LeaderClient } from "svc-runtime/leader";';
  const args = ["--input-type=module", "--eval", imports + program];
  const { stdout, stderr } = spawnSync(node, args, { cwd: ROOT, encoding: "utf8", env });
  assert.equal(stdout, "ok\n", stderr);
  assert.equal(await server.stop(), 0);
});
