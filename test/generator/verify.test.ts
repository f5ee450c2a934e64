/** `svc-gen verify`: what it prints, and its exit codes. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scratchFolder } from "../scratch-folder.js";
import { recordedReceipts } from "../vectors/receipts.js";
import { svcGenIn } from "./run-cli.js";

const folder = scratchFolder();
const [first, second] = recordedReceipts(true).map(({ receipt, ...keys }, i) => {
  const file = `${i}.json`;
  writeFileSync(join(folder, file), JSON.stringify(receipt));
  return { file, receipt, ...keys };
}) as [{ file: string; receipt: object; leaderKey: string; toolKey: string }, { file: string }];
writeFileSync(join(folder, "false.json"), JSON.stringify({ ...first.receipt, tool: "xyz" }));
writeFileSync(join(folder, "meta.json"), "[]");
const verify = (args: readonly string[], input = "") =>
  svcGenIn(folder, ["verify", ...args], { readInput: async () => Buffer.from(input) });
const keys = ["--leader-key", first.leaderKey, "--tool-key", first.toolKey];

test("prints the result, each claim and the verdict", async () => {
  const { code, out, err } = await verify([first.file, ...keys]);
  assert.deepEqual([code, err], [0, ""]);
  assert.match(out, /^\{\n[\s\S]*\n\}\n✓ the input hash covers/);
  assert.match(out, /\n✓ this key is the expected key of the tool\n/);
  assert.match(out, /\n· the tool is xyz\.recorded\.call@1 \(claimed\)\n/);
  assert.match(out, /\n✓ true\nnot proven: when and where/);
});

test("exit 1 for a false receipt, 2 if it cannot be decided", async () => {
  const rows: [args: string[], code: number, out: RegExp, err?: RegExp][] = [
    [[first.file], 2, /· this key is the leader's \(claimed: pass --leader-key HEX\)\n[\s\S]*\n\? undecided\n/],
    [["-", ...keys], 0, /✓ true/],
    [
      [first.file, ...keys.with(3, first.leaderKey)],
      1,
      /✗ this key is the expected key of the tool \(--tool-key is another key\)\n[\s\S]*✗ false\n$/,
    ],
    [["false.json"], 1, /^✗ \/tool: expected an FQN in its shortest form\n✗ false\n$/],
    [["missing.json"], 2, /^\? cannot read "missing.json": the file does not exist\n$/],
    [
      ["false.json", first.file, ...keys],
      1,
      /^✗ false\.json: false: \/tool: .*\n✓ 0\.json: true: xyz\.recorded\.call@1 answered "\w+" to \S+\n$/,
    ],
    [[first.file, second.file], 2, /^\? 0\.json: undecided: .*\n\? 1\.json: undecided: /],
    [[first.file, "--tool-key", "0.json"], 2, /^$/, /--tool-key: expected a public key .*got the name of a file/],
    [[first.file, "--contract", "none.json"], 2, /^$/, /--contract: cannot read "none.json"/],
    [
      [first.file, "--contract", "meta.json"],
      2,
      /^$/,
      /--contract: invalid_metadata: list: expected xyz\.recorded\.call@1, got none/,
    ],
  ];
  for (const [args, expected, printed, complained = /^$/] of rows) {
    const { code, out, err } = await verify(args, JSON.stringify(first.receipt));
    assert.equal(code, expected, args.join(" "));
    assert.match(out, printed);
    assert.match(err, complained);
  }
});

test("--json prints verdict, claims and the exact result", async () => {
  const { code, out } = await verify([first.file, "false.json", ...keys, "--json"]);
  assert.equal(code, 1);
  const { receipts } = JSON.parse(out);
  assert.deepEqual(
    receipts.map(({ file, verdict, claims, result }: Record<string, object>) => [
      file,
      verdict,
      claims?.constructor,
      typeof result,
    ]),
    [
      ["0.json", "true", Array, "object"],
      ["false.json", "false", Array, "undefined"],
    ],
  );
});
