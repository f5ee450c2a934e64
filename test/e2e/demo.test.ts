/** The demo, as `npm run demo` starts it after the build. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { scratchFolder } from "../scratch-folder.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BUILT = join(ROOT, "examples", "sum", "dist");

const run = (demo: string) => spawnSync(process.execPath, [demo], { encoding: "utf8", timeout: 20_000 });

test("the demo prints every step and exits with 0", () => {
  const { status, stdout, stderr } = run(join(BUILT, "demo.js"));
  assert.equal(status, 0, stderr);
  assert.equal(stderr, "");
  const steps = stdout.split("\n").filter((line) => /^(?:server|call|repeat|refused|stopped|receipt) /.test(line));
  assert.deepEqual(
    steps.map((line) => line.split(/ +/)[0]),
    ["server", "call", "repeat", "refused", "stopped", "receipt"],
  );
  assert.match(stdout, /the connection broke before the answer arrived\nrepeat .* 9007199254740993,/);
  assert.match(stdout, /422 input_integrity_error; unsigned: 401 auth_failed\n/);
  assert.match(stdout, /the tool ran 1 time\n/);
  assert.match(stdout, /✓ the key TOOL answered this result to this request\n/);
  assert.match(stdout, /\n✓ true\n/);
  assert.match(stdout, /\nAll checks passed\. Next: .*\n$/);
  const [, shown = ""] =
    /```text demo\n\$ npm run demo\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
  let rest = stdout;
  for (const line of shown.split("\n").filter((line) => line !== "")) {
    const at = rest.indexOf(`${line}\n`);
    assert.notEqual(at, -1, `README.md shows a line that the demo does not print here: ${line}`);
    rest = rest.slice(at + line.length);
  }
  assert.ok(shown.split("\n").length > 8);
  // Nothing here is a whole hash, signature or key.
  assert.doesNotMatch(stdout, /[0-9a-f]{20}|[\w-]{43}/);
});

test("the demo exits with 1 if the server fails or is unsigned", () => {
  const directory = scratchFolder();
  mkdirSync(join(directory, "generated"));
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  copyFileSync(join(BUILT, "demo.js"), join(directory, "demo.js"));
  const fake = join(directory, "generated", "server.js");
  writeFileSync(fake, "process.exitCode = 7;\n");
  const ended = run(join(directory, "demo.js"));
  assert.equal(ended.status, 1);
  assert.match(ended.stderr, /Failed: the server ended with exit code 7/);
  // A server that serves the right tool wrongly: it does not ask for signatures.
  writeFileSync(
    fake,
    `delete process.env.SVC_TOOLKIT_CONFIG_PATH;\nawait import(${JSON.stringify(join(BUILT, "generated", "server.js"))});\n`,
  );
  const unsigned = run(join(directory, "demo.js"));
  assert.equal(unsigned.status, 1, unsigned.stdout);
  assert.match(unsigned.stderr, /Failed: /);
  assert.match(unsigned.stderr, /The server's log:/);
});
