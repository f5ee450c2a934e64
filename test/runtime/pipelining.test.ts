/** What comes behind a request that still runs on its connection: each answer reaches its own request, in order. */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, it } from "node:test";
import type { ConnectionLimits } from "#runtime/server/http/limits.js";
import { expectError, RawConnection } from "./raw.js";
import { type CountingTool, echoed, expectResult, plainCall, serveHasty, until, waitingTool } from "./tools.js";

/** A connection with runs that wait for the test. */
async function running(count: number, deadlines: Partial<ConnectionLimits> = {}) {
  const { tool, open } = waitingTool();
  const { url, server } = await serveHasty([tool], deadlines);
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const connection = await RawConnection.open(url);
  const [socket] = await accepted;
  /** Sends what follows, and waits until the server has read it. */
  const send = async (text: string | Buffer) => {
    const before = socket.bytesRead;
    connection.send(text);
    await until(() => socket.bytesRead === before + text.length, "it is read");
    await new Promise((resolve) => setImmediate(resolve));
  };
  for (let i = 1; i <= count; i++) await send(call(tool, i));
  await until(() => tool.calls.invoked === 1, "the first one runs, and the others wait");
  return { connection, send, open, socket, server };
}

const call = ({ target }: CountingTool, value: number) => plainCall(target, `{"value":${value}}`);

const RUBBISH = "rubbish\r\n\r\n";
const CONNECT = "CONNECT canary.example:80 HTTP/1.1\r\nHost: x\r\n\r\n";
const BEHIND = {
  rubbish: [RUBBISH, 400, "bad_request"],
  "a tunnel": [CONNECT, 400, "bad_request"],
  "a header that is too long": [`GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431, "headers_too_large"],
  "a length that is none": ["GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400, "bad_request"],
} as const;

describe("behind requests without an answer", () => {
  for (const [what, [text, status, code]] of Object.entries(BEHIND)) {
    for (const count of [1, 2]) {
      it(`${what} (${count}): the requests get their answers, the invalid bytes get a refusal, then the connection is closed`, async () => {
        const { connection, send, open } = await running(count);
        await send(text);
        assert.equal(connection.unread.toString(), "", "no answer before the one that is due");
        open();
        for (let i = 1; i <= count; i++) expectResult(await connection.response(), echoed(`${i}`));
        expectError(await connection.response(), status, code);
        assert.equal((await connection.closed()).toString(), "");
      });
    }
  }

  it("invalid bytes follow: one refusal", async () => {
    const { connection, send, open } = await running(1);
    for (let i = 0; i < 3; i++) await send(RUBBISH);
    open();
    expectResult(await connection.response(), echoed("1"));
    expectError(await connection.response(), 400, "bad_request");
    assert.equal((await connection.closed()).toString(), "");
  });

  for (const [what, text, deadline] of [
    ["headers that do not end", "GET / HTTP/1.1\r\nHost:", { headersMs: 500 }],
    [
      "a body that does not end",
      "POST /tool/invoke HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
      { requestMs: 500, headersMs: 500 },
    ],
  ] as const) {
    it(`${what}: 408 after the earlier answer`, async () => {
      const { connection, send, open, server } = await running(1, { ...deadline, checkMs: 10 });
      const late = once(server, "clientError");
      await send(text);
      await late;
      await new Promise((resolve) => setImmediate(resolve));
      assert.equal(connection.unread.toString(), "", "no answer before the one that is due");
      open();
      expectResult(await connection.response(), echoed("1"));
      expectError(await connection.response(), 408, "request_timeout");
      assert.equal((await connection.closed()).toString(), "");
    });
  }

  it("a caller that sends invalid bytes and disconnects leaves no resources behind", async () => {
    const { connection, send, open, socket } = await running(1);
    await send(RUBBISH);
    connection.close();
    await once(socket, "close");
    open();
  });
});
