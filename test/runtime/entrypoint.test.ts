/** The command line of a generated entrypoint. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";
import { entrypoint } from "../e2e/process.js";
import { scratchFolder } from "../scratch-folder.js";

const directory = scratchFolder();

/** Runs a script that must end by itself. */
function run(script: string, ...args: string[]) {
  const env = { ...process.env, BIND_ADDR: "rubbish" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { env, encoding: "utf8" });
  return { status, stdout, stderr };
}

/** Starts the entrypoint with each command line, in one process whose end is kept back; gives exit codes and errors. */
function runEach(...lines: readonly (readonly [script: string, ...args: string[]])[]) {
  const script = join(directory, "each.mjs");
  writeFileSync(
    script,
    `const [{ exit }, ends] = [process, []];
    for (const [i, line] of ${JSON.stringify(lines)}.entries()) {
      process.argv.splice(1, Infinity, ...line);
      const ended = new Promise((resolve) => { process.exit = resolve; });
      void import(${JSON.stringify(pathToFileURL(entrypoint("sum")).href)} + "?" + i);
      ends.push(await ended);
    }
    process.stdout.write(JSON.stringify(ends), () => exit(0));`,
  );
  const { stdout, stderr } = run(script);
  const texts = stderr.split(/^(?=unknown argument |cannot start)/m);
  return (JSON.parse(stdout || assert.fail(stderr)) as number[]).map((code, i) => [code, texts[i] ?? ""] as const);
}

const unknown = (arg: string) =>
  `unknown argument ${JSON.stringify(arg)}: expected --meta or --help\n\nusage: node server.js`;

it("an unknown argument prints the usage and exits with 2", () => {
  const { status, stdout, stderr } = run(entrypoint("sum"), "--mta");
  assert.deepEqual([status, stdout], [2, ""]);
  assert.ok(stderr.startsWith(unknown("--mta")), stderr);
  // A program that loads the entrypoint has arguments of its own.
  const ends = runEach(
    ["/x/server.js", "--meta", "extra"],
    ["/x/server.js", "--help", "--port=1"],
    ["/x/server.js", ""],
    ["/x/main.mjs", "--mine"],
  );
  for (const [i, arg] of ["extra", "--port=1", ""].entries()) {
    assert.equal(ends[i]?.[0], 2);
    assert.ok(ends[i]?.[1].startsWith(unknown(arg)), ends[i]?.[1]);
  }
  const [code, said] = ends[3] ?? assert.fail();
  assert.deepEqual([code, said.split(":")[0]], [1, "cannot start"], "it went on to the address");
});

it("--help prints the usage, --meta the metadata, exit code 0", () => {
  const help = run(entrypoint("sum"), "--help");
  assert.deepEqual([help.status, help.stderr], [0, ""]);
  for (const word of ["usage: ", "--meta", "BIND_ADDR", "SVC_ADMIN_ADDR"]) assert.ok(help.stdout.includes(word));
  const meta = run(entrypoint("sum"), "--meta");
  assert.deepEqual([meta.status, meta.stderr], [0, ""]);
  assert.equal((JSON.parse(meta.stdout) as unknown[]).length, 1);
});

it("--meta on a full disk says so and exits with 1", { skip: existsSync("/dev/full") ? false : "no /dev/full" }, () => {
  const stdio = ["ignore", openSync("/dev/full", "w"), "pipe"] as const;
  const { status, stderr } = spawnSync(process.execPath, [entrypoint("sum"), "--meta"], { stdio: [...stdio] });
  assert.deepEqual([status, String(stderr)], [1, "cannot print: ENOSPC: no space left on device, write\n"]);
});
