/** What the page copies and shares, of hostile values: run by a shell and by node, it gives the values and does nothing else. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { transformSync } from "esbuild";
import { shareView } from "#generator/dev/page-server/share.js";
import { shownTool } from "#generator/dev/page-server/tool-views.js";

const { view } = shownTool(
  JSON.stringify({
    fqn: "xyz.page.share@1",
    url: "http://localhost/",
    timeout: 10_000,
    description: "d",
    input_schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    output_schema: { oneOf: [{ type: "string", const: "nothing" }] },
  }),
  "http://127.0.0.1:1/a$(exit 7)'b",
);

const share = (input: string) =>
  shareView({ fqn: view.fqn, input, signed: true, result: null, error: null }, view, { url: "http://127.0.0.1:1" });

const TEXT = "it's $(exit 7) `exit 7` \\ ! \u2028 \u009b31m \u007f \u202e \n end";
// Written with the characters themselves, as far as JSON allows it.
const INPUT = `{\r\t"text": ${JSON.stringify(TEXT)},\r\n  "__proto__": {"a": 1} }`;

test("commands carry the input through a shell, with nothing that a terminal obeys", () => {
  const { invoke, curl } = share(INPUT);
  for (const command of [invoke, curl]) {
    assert.doesNotMatch(command, /[\p{Cc}\p{Bidi_Control}\u2028]/u);
    const words = command.replace(/^(?:npx|curl) /, "");
    const print = `${JSON.stringify(process.execPath)} -p 'JSON.stringify(process.argv.slice(1))' -- ${words}`;
    const given = JSON.parse(execFileSync("/bin/sh", ["-c", print], { encoding: "utf8" })) as string[];
    const body = given.find((word) => word.startsWith("{")) ?? "";
    assert.deepEqual(JSON.parse(body), JSON.parse(INPUT));
    assert.ok(given.some((word) => word.startsWith("http://127.0.0.1:1/a$(exit 7)'b")));
  }
});

test("a shared test has the input as an own value, with nothing that an editor hides", () => {
  const { test: source } = share(INPUT);
  assert.doesNotMatch(source, /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028]/u);
  const literal = /const input = ([\s\S]*?);\n {2}await/.exec(source)?.[1] ?? "";
  const { code } = transformSync(`(${literal})`, { loader: "ts" });
  const value = runInNewContext(code) as Record<string, unknown>;
  assert.equal(value.text, TEXT);
  assert.ok(Object.hasOwn(value, "__proto__"));
});
