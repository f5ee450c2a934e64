/** The largest inputs of the dearest types: each is answered, within a small heap. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DEFAULT_MAX_INPUT_VALUES } from "#runtime/server/wire/heap-bytes.js";
import { stop } from "./child.js";
import { LARGE_INPUTS, largeBody, largeTarget, serveLargeInputs } from "./large-inputs.js";
import { sendPlain } from "./tools.js";

describe("with a heap of 256 MB", () => {
  const child = serveLargeInputs({ NODE_OPTIONS: "--max-old-space-size=256" });

  for (const [type, { status = 200 }] of Object.entries(LARGE_INPUTS)) {
    it(`${type}: the largest input is answered ${status}, the largest body 413`, async () => {
      const url = await child.url;
      const largest = largeBody(type, DEFAULT_MAX_INPUT_VALUES);
      assert.equal((await sendPlain(url, largeTarget(type), largest)).status, status);
      const over = largeBody(type, Number.POSITIVE_INFINITY);
      const refused = await sendPlain(url, largeTarget(type), over);
      assert.equal(refused.status, 413);
      assert.match(refused.body.toString(), /"payload_too_large".*at most 300000 values.*SVC_MAX_INPUT_VALUES/);
    });
  }

  it("ends no process", () => stop(child));
});
