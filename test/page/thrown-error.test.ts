/** The place of a thrown error: the first line of the stack that is a source of the project. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { logEvent } from "#generator/dev/page-server/log-events.js";
import { ToolProject } from "../generator/project.js";

test("a thrown error is shown with its source line, without the secrets of the call", () => {
  const { root } = new ToolProject({ "src/tool.ts": "one\ntwo\nthree\nfour\n" });
  const thrownAt = (...frames: string[]) => {
    const stack = ["Error: with canary-1", ...frames].join("\n    ");
    const err = { type: "RangeError", message: "with canary-1", stack };
    const line = JSON.stringify({ level: 50, request: "r", err, msg: "the tool threw an error" });
    return logEvent(`{"level":50,${line.slice(12)}`, { root, secrets: ["canary-1"] });
  };
  const own = join(root, "src/tool.ts");
  const other = join(root, "node_modules/x/y.ts");
  const event = thrownAt(`at x (${other}:1:1)`, "at node:internal:1:1", `at T.invoke (${own}:3:7)`, `at ${own}:1:1`);
  assert.deepEqual(event?.thrown, {
    text: "RangeError: with ••••••••",
    at: "src/tool.ts:3:7",
    frame: "  1 | one\n  2 | two\n> 3 | three\n  4 | four\n  5 | ",
  });
  assert.equal(event.alarms, true);
  assert.doesNotMatch(JSON.stringify(event), /canary/);
  assert.equal(thrownAt(`at async ${pathToFileURL(own).href}:2:1`)?.thrown?.at, "src/tool.ts:2:1");
  assert.equal(thrownAt("at x (/etc/other.ts:1:1)")?.thrown?.at, null, "outside the project");
  assert.equal(thrownAt(`at x (${own}:99:1)`)?.thrown?.frame, null, "the file has changed");
});
