/** Values of another copy of svc-client in the same tree of packages are those of this one. */

import assert from "node:assert/strict";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as client from "svc-client";
import { isNexusValue, NexusData, NexusValue } from "#client/wire/bcs/data.js";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";

const folder = scratchFolder();
for (const name of ["dist", "package.json"]) {
  cpSync(join(REPOSITORY, "runtime/client", name), join(folder, name), { recursive: true });
}
symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
const other: typeof client = await import(pathToFileURL(join(folder, "dist/index.js")).href);
const SEED = new Uint8Array(32).fill(7);

test("errors, values and texts have the class of both copies, and no other class", () => {
  assert.notEqual(other.LeaderError, client.LeaderError);
  const made = [
    [client.LeaderError, new other.LeaderError("timeout")],
    [client.JsonText, new other.JsonText("1")],
    [client.InlineValue, new other.InlineValue(Buffer.from("1"))],
    [client.WalrusValue, new other.WalrusValue(Buffer.from("A".repeat(43)), SEED)],
    [client.SigningKey, other.prepareSigningKey(SEED)],
    [client.VerifyKey, other.prepareVerifyKey(other.publicKeyOf(SEED))],
  ] as const;
  for (const [type, value] of made) {
    for (const [each] of made) assert.equal(value instanceof each, each === type, each.name);
  }
  class Own extends client.LeaderError {}
  assert.ok(!(new other.LeaderError("timeout") instanceof Own) && new Own("timeout") instanceof Own);
  for (const value of [null, "timeout", {}] as unknown[]) assert.ok(!(value instanceof client.LeaderError));
});

test("stored and inline values of a copy are values; literals of their shape are not", () => {
  const inline = new other.InlineValue(Buffer.from("1"));
  assert.ok(isNexusValue(inline) && !isNexusValue({ kind: "inline", bytes: inline.bytes }));
  assert.deepEqual(NexusData.one(inline).toBcs(), NexusData.one(NexusValue.json("1")).toBcs());
});

test("a key of a copy signs and verifies", () => {
  const envelope = client.buildEnvelope([], {});
  const sign = (key: client.SigningKey) =>
    client.signRequest(envelope, { id: "leader", keyId: 1, key }, { nonce: SEED }).headers;
  assert.deepEqual(sign(other.prepareSigningKey(SEED)), sign(client.prepareSigningKey(SEED)));
});
