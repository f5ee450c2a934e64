/** The client's transport over `fetch`: limits of time and size, redirects, broken connections, options of Node. */

import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { describe, test } from "node:test";
import type { LeaderError } from "svc-runtime/leader";
import { HttpClient } from "#client/leader/portable/http-client.js";
import type { HttpRequest } from "#client/leader/transport/transport.js";
import { listen } from "../listening.js";
import { refusingUrl } from "../runtime/raw.js";

const serve = async (listener: RequestListener) => `http://${await listen(createServer(listener))}/`;

function send(url: string, options: Partial<HttpRequest> = {}) {
  const request = { method: "GET", headers: {}, timeoutMs: 60_000, maxBytes: 1_000, signals: [] } as const;
  return new HttpClient().send({ ...request, url: new URL(url), ...options });
}

const fails =
  (code: string, details: RegExp = /./) =>
  (error: LeaderError) => {
    assert.equal(error.code, code, String(error.cause));
    assert.match(error.message, details);
    return true;
  };

describe("the transport over fetch", () => {
  test("sends a body with its length, and gives status, headers in lower case and the body", async () => {
    const url = await serve((request, response) => {
      request.pipe(response.writeHead(422, { "X-Length": request.headers["content-length"] ?? "none" }));
    });
    const { status, headers, body } = await send(url, { method: "POST", body: Buffer.from("é") });
    assert.deepEqual([status, headers["x-length"], body.toString()], [422, "2", "é"]);
    assert.equal((await send(await serve((_, response) => response.writeHead(204).end()))).body.length, 0);
  });

  test("refuses an answer over the limit while it arrives, and takes one of the limit", async () => {
    const endless = await serve((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(100)));
      };
      response.on("drain", more);
      more();
    });
    await assert.rejects(send(endless), fails("answer_too_large", /larger than 1000 bytes/));
    const full = await serve((_, response) => response.end(Buffer.alloc(1_000)));
    assert.equal((await send(full)).body.length, 1_000);
    const over = await serve((_, response) => response.end(Buffer.alloc(1_001)));
    await assert.rejects(send(over), fails("answer_too_large"));
  });

  test("ends at the time limit, before and within the answer", async () => {
    const silent = await serve(() => {});
    await assert.rejects(send(silent, { timeoutMs: 20 }), fails("timeout", /within 20 ms/));
    const stalled = await serve((_, response) => response.write("x"));
    await assert.rejects(send(stalled, { timeoutMs: 200 }), fails("timeout"));
  });

  test("ends at the caller's signal, with its reason", async () => {
    const control = new AbortController();
    const url = await serve(() => control.abort("enough"));
    const aborted = (error: LeaderError) => fails("aborted")(error) && error.cause === "enough";
    await assert.rejects(send(url, { signals: [control.signal] }), aborted);
    await assert.rejects(send(url, { signals: [AbortSignal.abort("enough")] }), aborted);
  });

  test("follows no redirect", async () => {
    let followed = 0;
    const target = await serve((_, response) => {
      followed++;
      response.end();
    });
    const { status } = await send(await serve((_, response) => response.writeHead(307, { Location: target }).end()));
    assert.deepEqual([status, followed], [307, 0]);
  });

  test("names a server that is not reached and a connection that breaks", async () => {
    await assert.rejects(send(await refusingUrl()), fails("connection_failed", /unreachable.*allowedOrigins/));
    const cut = await serve((_, response) => {
      response.writeHead(200, { "Content-Length": "10" });
      response.write("x", () => response.destroy());
    });
    await assert.rejects(send(cut), fails("connection_failed", /ended before the answer/));
  });

  test("refuses options of connections, which only Node has", () => {
    assert.throws(
      () => new HttpClient({ tls: { servername: "tools.example" } }),
      /^TypeError: tls: supported only in Node/,
    );
    assert.throws(
      () => new HttpClient({ dispatcher: { dispatch: () => true } }),
      /^TypeError: dispatcher: supported only in Node/,
    );
  });

  test("only a call that ended before fetch certainly sent nothing", async () => {
    const ranOf = (sent: Promise<unknown>) =>
      sent.then(
        () => assert.fail("expected a failure"),
        ({ ran }: LeaderError) => ran,
      );
    assert.equal(await ranOf(send(await refusingUrl(), { signals: [AbortSignal.abort()] })), "no");
    assert.equal(await ranOf(send(await refusingUrl())), "maybe");
  });
});
