/** The body of a call, its JSON document and its tape are released once the input is decoded, not when the tool ends. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { RawConnection, requestText } from "./raw.js";
import { type Behaviour, countingTool, echoCall, gate, serveFor, serveSigned, until } from "./tools.js";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

const MIB = 1024 * 1024;
/** Bytes outside of the JavaScript heap, where bodies and tapes are. */
const buffers = () => {
  gc();
  return process.memoryUsage().arrayBuffers;
};

/** The same, once nothing is freed any more: V8 frees buffers on a thread of its own. */
async function settledBuffers(): Promise<number> {
  const last: number[] = [];
  const isSettled = () => last.push(buffers()) >= 5 && new Set(last.slice(-5)).size === 1;
  await until(isSettled, "nothing is freed any more");
  return last.at(-1) ?? assert.fail();
}

/** Texts whose bodies (4 MiB) or tapes (6.4 MB) are large. */
const VALUES = {
  "a long text": JSON.stringify("a".repeat(4 * MIB)),
  "many small values": `[${"0,".repeat(400_000)}0]`,
};
const CALLS = 3;
const OPTIONS = { maxInputValues: 1_000_000 };

/** Sends requests, and waits until their bytes are released although their tools run. */
async function expectReleased(
  url: string,
  requests: readonly Buffer[],
  begun: () => boolean,
  answered: (connection: RawConnection) => Promise<void> = async () => {},
): Promise<void> {
  const before = await settledBuffers();
  const connections: RawConnection[] = [];
  try {
    for (const request of requests) connections.push((await RawConnection.open(url)).send(request));
    await until(begun, "the tools run");
    for (const connection of connections) await answered(connection);
    await until(() => buffers() < before + MIB, "bodies and tapes are released");
  } finally {
    for (const connection of connections) connection.close();
  }
}

describe("the bytes of a call are released", () => {
  for (const [what, value] of Object.entries(VALUES)) {
    for (const mode of ["signed", "unsigned"] as const) {
      const withTool = async (
        behaviour: Behaviour,
        test: (url: string, requests: Buffer[], tool: ReturnType<typeof countingTool>) => Promise<void>,
      ) => {
        const open = gate();
        const waits = () => open.promise.then(() => ({ ok: { value: 1 } }));
        const tool = countingTool({ path: "t", timeout: 600_000, invoke: waits, ...behaviour });
        const body = `{"value":${value}}`;
        const plain = () => requestText("POST", tool.target, [["Content-Length", `${body.length}`]], body);
        const requests = Array.from({ length: CALLS }, () =>
          mode === "signed" ? echoCall(tool, value).text() : plain(),
        );
        const { url } = await (mode === "signed" ? serveSigned([tool], OPTIONS) : serveFor([tool], OPTIONS));
        try {
          await test(url, requests, tool);
        } finally {
          open.open();
        }
      };

      it(`while the tool runs: ${what}, ${mode}`, async () => {
        await withTool({}, async (url, requests, tool) => {
          // What the test itself keeps of its calls is no buffer.
          await expectReleased(url, requests, () => tool.calls.invoked === CALLS);
        });
      });

      // The deadline knows nothing of signatures: one mode by default.
      const skip = mode === "unsigned" && process.env.SVC_TEST_FULL !== "1";
      it(`at the deadline of a tool whose construction does not end: ${what}, ${mode}`, { skip }, async () => {
        const open = gate();
        try {
          await withTool({ timeout: 200, construct: () => open.promise }, async (url, requests, tool) => {
            const begun = () => tool.calls.constructed === CALLS;
            await expectReleased(url, requests, begun, async (connection) => {
              assert.equal((await connection.response("POST")).status, 504);
            });
            assert.equal(tool.calls.invoked, 0);
          });
        } finally {
          open.open();
        }
      });
    }
  }
});
