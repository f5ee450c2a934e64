/** SHA-256 of the portable engine. test/portable runs all vectors with it, on other platforms too. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sha256 } from "#client/wire/signature/portable-crypto.js";

test("its SHA-256 equals Node's for lengths around a block", () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 0xff);
    assert.equal(Buffer.from(sha256(bytes)).toString("hex"), createHash("sha256").update(bytes).digest("hex"));
  }
});
