/** Replay memory: its clock (protocol.md section 8). */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { proves } from "../proves.js";
import { countingTool, echoCall, echoed, expectResult, serveSigned } from "../runtime/tools.js";

const HOUR = 3_600_000;

/** Moves the time of day of this process until the test has ended, and leaves its monotonic clock alone. */
function movableClock(t: TestContext): (byMs: number) => void {
  const { now } = Date;
  let offsetMs = 0;
  t.mock.method(Date, "now", () => now() + offsetMs);
  return (byMs) => {
    offsetMs += byMs;
  };
}

describe("time is monotonic", () => {
  it("a time of day that jumps ahead ends no entry, one that jumps back keeps none alive", async (t) => {
    const move = movableClock(t);
    const [long, short] = [countingTool({ path: "long" }), countingTool({ path: "short" })];
    const { url } = await serveSigned([long]);
    const brief = await serveSigned([short], { ttlMs: 40 });
    const [call, other] = [echoCall(long, "1"), echoCall(short, "1")];
    expectResult(await call.send(url), echoed("1"), call);
    move(HOUR);
    expectResult(await call.send(url), echoed("1"), call);
    assert.equal(long.calls.invoked, 1);
    expectResult(await other.send(brief.url), echoed("1"), other);
    move(-2 * HOUR);
    await new Promise((resolve) => setTimeout(resolve, 60));
    expectResult(await other.send(brief.url), echoed("1"), other);
    assert.equal(short.calls.invoked, 2);
    proves("8.13");
  });
});
