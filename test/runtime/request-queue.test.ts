/** One request of a connection at a time, and bounds on waiting requests and unread answers (docs/settings.md). */

import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import { connect } from "node:tls";
import { HeaviestConnection } from "#runtime/server/http/heaviest-connection.js";
import { MAX_UNANSWERED } from "#runtime/server/http/request-queue.js";
import { tlsFromEnv } from "#runtime/server/http/tls.js";
import { atEnd } from "../teardown.js";
import { certificateFiles } from "./certificate.js";
import { RawConnection, requestText } from "./raw.js";
import {
  type Behaviour,
  type CountingTool,
  echoed,
  expectResult,
  gate,
  plainCall,
  serveHasty,
  until,
  waitingTool,
} from "./tools.js";

type Bounds = NonNullable<Parameters<typeof serveHasty>[6]>;

/** A server with a tool whose runs and health wait for the test. */
async function slowServer({
  bounds = {},
  secure = false,
  ...more
}: Behaviour & { bounds?: Bounds; secure?: boolean } = {}) {
  const health = gate();
  const { tool, open } = waitingTool({ health: () => health.promise.then(() => 200), ...more });
  const tls = secure ? tlsFromEnv(certificateFiles()) : undefined;
  const {
    url,
    server,
    requests: inFlight,
    service,
  } = await serveHasty([tool], {}, undefined, undefined, undefined, tls, bounds);
  let requests = 0;
  server.prependListener("request", () => requests++);
  const connection = async () => {
    if (!secure) return RawConnection.open(url);
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", rejectUnauthorized: false });
    socket.on("error", () => {});
    atEnd(() => socket.destroy());
    await once(socket, "secureConnect");
    return RawConnection.over(socket);
  };
  /** Lets the server read everything that has come: it answers requests that came later. */
  const turns = async () => {
    const other = await connection();
    for (let i = 0; i < 3; i++) assert.equal((await other.send(requestText("GET", "/tools")).response()).status, 200);
    requests -= 3;
    other.close();
  };
  return {
    tool,
    open: () => {
      open();
      health.open();
    },
    connection,
    turns,
    requests: () => requests,
    load: service.load,
    service,
    inFlight,
  };
}

const call = ({ target }: CountingTool, value: number) => plainCall(target, `{"value":${value}}`);
const calls = (tool: CountingTool, from: number, to: number) =>
  Buffer.concat(Array.from({ length: to - from }, (_, i) => call(tool, from + i)));

/** Writes bytes and waits until the system has taken them. */
const written = (connection: RawConnection, bytes: Buffer) =>
  new Promise<void>((resolve) => connection.socket.write(bytes, () => resolve()));

describe("a connection", () => {
  for (const secure of [false, true]) {
    const over = secure ? "TLS" : "TCP";

    it(`runs one call at a time, over ${over}; at four unanswered ones it is not read`, async () => {
      const { tool, open, connection, turns, requests } = await slowServer({ secure });
      const client = await connection();
      await written(client, calls(tool, 0, MAX_UNANSWERED));
      await until(() => requests() === MAX_UNANSWERED, "they have come");
      await written(client, calls(tool, MAX_UNANSWERED, 2 * MAX_UNANSWERED - 1));
      await turns();
      assert.deepEqual([tool.calls.invoked, requests()], [1, MAX_UNANSWERED]);
      open();
      for (let i = 0; i < 2 * MAX_UNANSWERED - 1; i++) expectResult(await client.response(), echoed(`${i}`));
      client.close();
    });

    it(`closes after four answers, over ${over}, if more requests arrive at once; the others start no work`, async () => {
      const { tool, open, connection } = await slowServer({ secure });
      const client = await connection();
      client.send(calls(tool, 0, 300));
      await until(() => tool.calls.invoked === 1, "one runs");
      open();
      for (let i = 0; i < MAX_UNANSWERED; i++) {
        const answer = await client.response();
        expectResult(answer, echoed(`${i}`));
        assert.equal(answer.headers.get("connection"), i < MAX_UNANSWERED - 1 ? "keep-alive" : "close");
      }
      assert.equal((await client.closed()).toString(), "");
      assert.equal(tool.calls.invoked, MAX_UNANSWERED);
    });
  }

  it("gets the answer to its last request when its body arrives in parts", async () => {
    const { tool, open, connection, requests } = await slowServer();
    const client = await connection();
    const last = call(tool, MAX_UNANSWERED - 1);
    client.send(Buffer.concat([calls(tool, 0, MAX_UNANSWERED - 1), last.subarray(0, -5)]));
    await until(() => requests() === MAX_UNANSWERED, "all heads have come");
    client.send(last.subarray(-5));
    open();
    for (let i = 0; i < MAX_UNANSWERED; i++) expectResult(await client.response(), echoed(`${i}`));
    client.close();
  });

  it("that ends leaves nothing behind, and its waiting requests start no work", async () => {
    const hosts: string[] = [];
    const { tool, open, connection, load, requests, inFlight } = await slowServer();
    Object.assign(tool.class, { meta: (url: string) => hosts.push(url) });
    const client = await connection();
    const metadata = (i: number) => requestText("GET", "/tool/meta", [["Host", `host-${i}`]]);
    client.send(Buffer.concat([calls(tool, 0, 1), metadata(0), metadata(1)]));
    await until(() => requests() === 3 && tool.calls.invoked === 1, "one runs, the others wait");
    client.close();
    // A run of an unsigned caller ends with its connection.
    open();
    await until(() => load.runs.inFlight === 0 && inFlight.size === 0, "all have ended");
    const other = await connection();
    assert.equal((await other.send(metadata(99)).response()).status, 200);
    assert.deepEqual([tool.calls.invoked, hosts.length], [1, 1]);
    other.close();
  });
});

describe("the process", () => {
  it("closes the connection with the most requests behind an unanswered one; others get their answers", async () => {
    const { tool, open, connection, load, requests } = await slowServer({ bounds: { maxPipelined: 4 } });
    const modest = await connection();
    modest.send(calls(tool, 0, 3));
    await until(() => requests() === 3, "one runs, two wait");
    const greedy = await connection();
    greedy.send(calls(tool, 100, 600));
    assert.equal((await greedy.closed()).toString(), "", "it is closed");
    // Node makes no requests of the rest of the chunk.
    assert.deepEqual([load.refused.requests, requests(), tool.calls.invoked], [1, 3 + 4, 2]);
    const single = await Promise.all(Array.from({ length: 60 }, connection));
    for (const client of single) client.send(requestText("GET", "/tool/health"));
    await until(() => requests() === 3 + 4 + 60, "each connection has one");
    // The part of a body that Node reads ahead counts too.
    const body = await connection();
    const large = requestText("POST", tool.target, [["Content-Length", "60000"]], "x".repeat(60_000));
    body.send(Buffer.concat([call(tool, 7), large]));
    assert.equal((await body.closed()).toString(), "");
    assert.equal(load.refused.requests, 2);
    open();
    for (let i = 0; i < 3; i++) expectResult(await modest.response(), echoed(`${i}`));
    for (const client of single) assert.equal((await client.response()).status, 200);
    for (let i = 0; i < 3; i++) {
      modest.send(calls(tool, 0, 3));
      for (let n = 0; n < 3; n++) expectResult(await modest.response(), echoed(`${n}`));
    }
    assert.equal(load.refused.requests, 2, "answered requests count no more");
    for (const client of [modest, ...single]) client.close();
  });

  it("counts closed connections until the end of the turn, which may read thousands", async () => {
    let closed = 0;
    const bound = new HeaviestConnection(10, () => closed++);
    const sockets = Array.from({ length: 4 }, () => new PassThrough());
    const [first, second, third, fourth] = sockets as [PassThrough, PassThrough, PassThrough, PassThrough];
    bound.hold(first, 11);
    for (let i = 0; i < 10; i++) bound.hold(second, 1);
    bound.hold(third, 1);
    assert.deepEqual([closed, ...sockets.map(({ destroyed }) => destroyed)], [3, true, true, true, false]);
    await setImmediate();
    bound.hold(fourth, 10);
    assert.equal(fourth.destroyed, false);
  });

  it("a slow health check keeps no requests of disconnected clients", async () => {
    const { connection, requests, inFlight, open } = await slowServer();
    const stays = await connection();
    stays.send(requestText("GET", "/tool/health"));
    const leaving = await Promise.all(Array.from({ length: 20 }, connection));
    for (const client of leaving) client.send(requestText("GET", "/tool/health"));
    await until(() => requests() === 21 && inFlight.size === 21, "all wait");
    for (const client of leaving) client.close();
    await until(() => inFlight.size === 1, "those of the closed connections wait no more");
    open();
    assert.equal((await stays.response()).status, 200);
    stays.close();
  });
});

describe("answers that are not read", () => {
  const LARGE = "x".repeat(60_000);

  it("count until they were sent", async () => {
    const { tool, connection, load } = await slowServer({
      invoke: () => ({ ok: { value: LARGE } }),
      bounds: { maxUnreadBytes: 200_000 },
    });
    const client = await connection();
    for (let i = 0; i < 20; i++) {
      client.send(call(tool, i));
      expectResult(await client.response(), echoed(`"${LARGE}"`));
    }
    assert.equal(load.refused.answers, 0);
    client.close();
  });

  it("of many connections that never read are limited too", async () => {
    const { tool, connection, load } = await slowServer({
      invoke: () => ({ ok: { value: LARGE } }),
      bounds: { maxUnreadBytes: 200_000 },
    });
    const clients = await Promise.all(Array.from({ length: 8 }, connection));
    const sent = clients.map(() => 0);
    for (const client of clients) client.socket.pause();
    // Each gets another answer, until the system buffers no more of them.
    await until(() => {
      for (const [i, client] of clients.entries()) {
        if (tool.calls.inputs.filter(({ value }) => value === i).length < (sent[i] ?? 0)) continue;
        sent[i] = (sent[i] ?? 0) + 1;
        client.send(call(tool, i));
      }
      return load.refused.answers > 0;
    }, "one is closed");
    for (const client of clients) client.close();
  });
});
