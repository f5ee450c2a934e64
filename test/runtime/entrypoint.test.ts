/** The command line of a generated entrypoint. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { pathToFileURL } from "node:url";
import { entrypoint } from "../e2e/process.js";

const directory = mkdtempSync(join(tmpdir(), "svc-entrypoint-"));
after(() => rmSync(directory, { recursive: true }));

/** Runs a script that must end by itself. */
function run(script: string, ...args: string[]) {
  const env = { ...process.env, BIND_ADDR: "rubbish" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

it("an argument that nobody knows is refused with the usage, exit code 2", () => {
  for (const args of [["--mta"], ["--meta", "extra"], ["--help", "--port=1"], [""]]) {
    const { status, stdout, stderr } = run(entrypoint("sum"), ...args);
    assert.deepEqual([status, stdout], [2, ""]);
    const wrong = args.find((arg) => arg !== "--meta" && arg !== "--help") ?? "";
    const expected = `unknown argument ${JSON.stringify(wrong)}: expected --meta or --help\n\nusage: node server.js`;
    assert.ok(stderr.startsWith(expected), stderr);
  }
});

it("--help prints the usage, --meta the metadata, exit code 0", () => {
  const help = run(entrypoint("sum"), "--help");
  assert.deepEqual([help.status, help.stderr], [0, ""]);
  for (const word of ["usage: ", "--meta", "BIND_ADDR", "SVC_ADMIN_ADDR"]) assert.ok(help.stdout.includes(word));
  const meta = run(entrypoint("sum"), "--meta");
  assert.deepEqual([meta.status, meta.stderr], [0, ""]);
  assert.equal((JSON.parse(meta.stdout) as unknown[]).length, 1);
});

it("a program that loads the entrypoint has arguments of its own", () => {
  const script = join(directory, "main.mjs");
  writeFileSync(script, `await import(${JSON.stringify(pathToFileURL(entrypoint("sum")).href)});`);
  const { status, stderr } = run(script, "--mine");
  assert.deepEqual([status, stderr.split(":")[0]], [1, "cannot start"], "it went on to the address");
});
