/** The demo, as `npm run demo` starts it after the build. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

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
