/** Log lines as `svc-gen dev` shows them: readable, and harmless to the terminal. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readableLine } from "#generator/dev/log-lines.js";

const line = (entry: object) => readableLine(JSON.stringify({ level: 50, ...entry }), true);

test("a line is formatted as level, message, fields and stack", () => {
  assert.equal(line({ msg: "failed", err: "thrown" }), 'error failed err="thrown"');
  assert.equal(
    line({ msg: "failed", tool: "a", err: { stack: "Error: x\n    at y" } }),
    'error failed tool="a"\n  Error: x\n      at y',
  );
  assert.equal(readableLine("printed by the tool", true), "printed by the tool");
});

test("text of a caller neither controls the terminal nor starts a line", () => {
  const hostile = "\u001b]0;title\u0007\u001b[2J\u009b31m\u202e\r\n00:00:00 info forged";
  const shown = line({ msg: hostile, field: hostile, [hostile]: 1, err: { stack: `Error: ${hostile}` } }) ?? "";
  assert.doesNotMatch(shown, /(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
  assert.doesNotMatch(shown, /^00:00:00/m);
  assert.match(shown, /^error \\u001b\]0;title\\u0007\\u001b\[2J\\u009b31m\\u202e\\u000d\n {2}00:00:00 info forged/);
});
