/** Receipts: what is accepted, and that every change of a signed part is found (docs/receipts.md). */

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_RECEIPT_BYTES, type Receipt, ReceiptError, readReceipt } from "svc-runtime/leader";
import { recordedReceipts } from "../vectors/receipts.js";

const recorded = recordedReceipts(true);
const [first] = recorded as [(typeof recorded)[number]];

/** Names of the false claims; empty for a receipt that is true. */
function faultsOf(document: string | Uint8Array, options: Parameters<typeof readReceipt>[1] = {}): string[] {
  try {
    readReceipt(document, options);
    return [];
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    return error.claims.filter(({ verdict }) => verdict === "false").map(({ name }) => name);
  }
}

/** A copy of the receipt with another value at a path, such as `request.nonce`; undefined deletes the member. */
function changed(receipt: Receipt, path: string, value: unknown): string {
  const copy = JSON.parse(JSON.stringify(receipt));
  const names = path.split(".");
  const last = names.pop() as string;
  const owner = names.reduce((object, name) => object[name], copy);
  if (value === undefined) delete owner[last];
  else owner[last] = value;
  return JSON.stringify(copy);
}

test("receipts of recorded calls of the Rust system are true, with inputs, without, and with some redacted", () => {
  for (const { receipt, leaderKey, toolKey } of recorded) {
    const read = readReceipt(JSON.stringify(receipt), { leaderKey, toolKey });
    assert.ok(
      read.claims.every(({ name, verdict }) => verdict === "true" || ["tool", "leader", "time"].includes(name)),
    );
    assert.equal(read.result.value, undefined);
    const redacted = JSON.stringify(receipt, (name, value) => (name === "text" ? undefined : value));
    assert.deepEqual(faultsOf(redacted, { leaderKey, toolKey }), []);
    assert.deepEqual(readReceipt(redacted).result, read.result);
  }
  for (const { receipt } of recordedReceipts()) assert.doesNotMatch(JSON.stringify(receipt), /"text"/);
});

test("without expected keys, the keys are only claimed; another key is false", () => {
  const { receipt, leaderKey, toolKey } = first;
  const text = JSON.stringify(receipt);
  const claimed = readReceipt(text).claims.filter(({ verdict }) => verdict === "claimed");
  assert.deepEqual(
    claimed.map(({ name }) => name),
    ["leader_key", "tool_key", "tool", "leader", "time"],
  );
  assert.deepEqual(faultsOf(text, { leaderKey: toolKey }), ["leader_key"]);
  assert.deepEqual(faultsOf(text, { toolKey: leaderKey }), ["tool_key"]);
  assert.throws(() => readReceipt(text, { leaderKey: "" }), /^RangeError: leader key: expected 64 hex digits/);
  assert.throws(() => readReceipt(text, { leaderkey: leaderKey } as object), /^TypeError: readReceipt: .*leaderkey/);
});

test("parts of different receipts do not fit together", () => {
  const [, second] = recorded as [unknown, (typeof recorded)[number]];
  const rows: [path: string, value: unknown, faults: string[]][] = [
    ["request.nonce", second.receipt.request.nonce, ["tool_signature"]],
    ["request.input_hash", second.receipt.request.input_hash, ["input_hash", "leader_signature"]],
    ["request.signature", second.receipt.request.signature, ["leader_signature", "tool_signature"]],
    ["request.ports", second.receipt.request.ports, ["input_hash"]],
    ["request", second.receipt.request, ["leader_signature", "tool_signature"]],
    ["result.bcs", second.receipt.result.bcs, ["tool_signature"]],
    ["result.bcs", "AAAA", ["result", "tool_signature"]],
    ["result", second.receipt.result, ["tool_signature"]],
    ["leader", second.receipt.leader, ["leader_signature"]],
    ["leader.id", second.receipt.leader.id, []],
    ["tool", "xyz.other.tool@2", []],
    ["time", second.receipt.time, []],
    ["header_prefix", "X-Nexus-", []],
  ];
  for (const [path, value, faults] of rows) {
    assert.deepEqual(faultsOf(changed(first.receipt, path, value)), faults, path);
  }
});

test("a document that is not exactly a receipt is refused, with the place", () => {
  const { receipt } = first;
  const rows: [document: string, fault: RegExp][] = [
    ["", /not JSON/],
    ["[]", /document: expected a receipt \(.*\): an object with each of the members receipt, tool/],
    [changed(receipt, "more", 1), /document: expected a receipt \(.*\): an object/],
    [JSON.stringify(receipt).replace("{", '{"receipt":1,'), /document: expected a receipt .* once/],
    [changed(receipt, "receipt", 2), /\/receipt: expected the version 1/],
    [changed(receipt, "receipt", "1"), /\/receipt: expected the version 1/],
    [JSON.stringify(receipt).replace('"receipt":1', '"receipt":1.0'), /\/receipt: expected the version 1/],
    [changed(receipt, "tool", "xyz.demo.sum@01"), /\/tool: expected an FQN/],
    [changed(receipt, "time", "2026-02-30T00:00:00.000Z"), /\/time: expected a time/],
    [changed(receipt, "leader.key_id", 0), /\/leader\/key_id: expected the digits of a u64/],
    [changed(receipt, "leader.key_id", "18446744073709551616"), /\/leader\/key_id/],
    [changed(receipt, "leader.public_key", receipt.leader.public_key.toUpperCase()), /\/leader\/public_key/],
    [changed(receipt, "request.nonce", receipt.request.nonce.slice(0, -1)), /\/request\/nonce: expected base64/],
    [changed(receipt, "request.nonce", receipt.request.nonce.replace(/.=$/, "/=")), /\/request\/nonce/],
    [changed(receipt, "request.ports.0", { name: "a" }), /\/request\/ports\/0: expected an object/],
    [changed(receipt, "request.ports.0", { name: "", one: {} }), /\/request\/ports\/0\/name/],
    [
      changed(receipt, "request.ports.0", { name: "a", many: [] }),
      /\/request\/ports\/0\/many: expected an array of 1 to 256/,
    ],
    [changed(receipt, "request.ports.0", { name: "a", one: { commitment: null } }), /\/ports\/0\/one\/commitment/],
    [changed(receipt, "result.signature", undefined), /\/result: expected an object/],
    [" ".repeat(MAX_RECEIPT_BYTES + 1), /document: expected at most 12582912 bytes/],
  ];
  for (const [document, fault] of rows) {
    assert.throws(
      () => readReceipt(document),
      (error) => error instanceof ReceiptError && error.claims[0]?.name === "format" && fault.test(error.message),
      `${fault}`,
    );
  }
});

test("each changed byte is found, or changes only what is claimed", () => {
  const { receipt, leaderKey, toolKey } =
    recordedReceipts(true).find(({ receipt }) => receipt.request.ports.length > 2) ?? first;
  const bytes = Buffer.from(JSON.stringify(receipt));
  const claimed = ["tool", "time", "header_prefix"].map((name) => `"${name}":"`);
  const open = claimed
    .map((name) => bytes.indexOf(name) + name.length)
    .concat(bytes.indexOf('"id":"') + 6, bytes.indexOf('"key_id":"') + 10);
  const isClaimed = (at: number) => open.some((from) => at >= from && at < bytes.indexOf('"', from));
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes);
    flipped[at] = (bytes[at] as number) ^ (1 << (at % 7));
    if (!isClaimed(at)) assert.notDeepEqual(faultsOf(flipped, { leaderKey, toolKey }), [], `byte ${at}`);
  }
});
