/** What the body of a request may hold of a server while it is read: bytes, a share of them, time (protocol.md section 1). */

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, it, mock } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ToolkitRuntimeConfig } from "#runtime/index.js";
import { RequestError } from "#runtime/server/errors/request-error.js";
import { BodyPace } from "#runtime/server/http/request-body.js";
import { Account } from "#runtime/server/load/account.js";
import type { Refusals } from "#runtime/server/load/refusals.js";
import { proves } from "../proves.js";
import { holdTimers } from "./held-timers.js";
import { drip, expectError, RawConnection, requestText } from "./raw.js";
import {
  alice,
  bob,
  type CountingTool,
  countingTool,
  data,
  echoCall,
  echoed,
  expectResult,
  type Leader,
  sendPlain,
  serveFor,
  serveHasty,
  serveSigned,
  signedCall,
  until,
} from "./tools.js";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

const MIB = 1024 * 1024;

/** The headers of a signed call with a body of its own length, all of them valid; the body comes later, or never. */
function announcement(tool: CountingTool, length: number, leader: Leader, ...extra: [string, string][]): Buffer {
  const { headers, target } = echoCall(tool, "1", { leader });
  return requestText("POST", target, [...headers, ...extra, ["Content-Length", `${length}`]]);
}

const openAll = (url: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => RawConnection.open(url)));
const at = (connections: readonly RawConnection[], i: number) => connections[i] ?? assert.fail();

describe("bodies that are announced and not sent", () => {
  it("six with one captured set of headers, 64 MiB together, do not block another leader", async () => {
    const tool = countingTool({ path: "sum" });
    const { url, load } = await serveSigned([tool]);
    const connections = await openAll(url, 6);
    for (const [i, connection] of connections.entries()) {
      const length = (i < 5 ? 12 : 4) * MIB;
      connection.send(announcement(tool, length, alice, ["Expect", "100-continue"]));
      assert.equal((await connection.response("POST")).status, 100, "it is admitted");
    }
    assert.equal(load().bodyBytes.inFlight, 0);
    for (const leader of [bob, alice]) {
      const call = echoCall(tool, "1", { leader });
      expectResult(await call.send(url), echoed("1"), call);
    }
  });

  it("take memory only for the bytes that have arrived", async () => {
    const tool = countingTool({ path: "sum" });
    const { url, load } = await serveFor([tool]);
    const connections = await openAll(url, 40);
    const before = process.memoryUsage().arrayBuffers;
    for (const connection of connections) {
      connection.send(requestText("POST", tool.target, [["Content-Length", `${12 * MIB}`]], "["));
    }
    await until(() => load().bodyBytes.inFlight === 40, "a byte of each is there");
    const taken = process.memoryUsage().arrayBuffers - before;
    assert.ok(taken < 40 * MIB, `${taken} bytes for 40`);
  });
});

describe("the bytes of bodies", () => {
  const LIMIT = 1_000;
  const BOUND = 4_000;
  const signed = async (tool: CountingTool) =>
    serveSigned([tool], { maxBody: LIMIT, maxBodyBytesInFlight: BOUND, minBodyBytesPerSecond: 1 });
  /** A signed call with a body of about so many bytes. */
  const sized = (tool: CountingTool, length: number, leader: Leader) =>
    signedCall(tool, { value: data(`"${"a".repeat(length - 100)}"`) }, { leader });

  it("of one leader are at most as many as remain for others", async () => {
    const tool = countingTool({ path: "sum" });
    const { url, load } = await signed(tool);
    const connections = await openAll(url, 3);
    for (const [i, connection] of connections.slice(0, 2).entries()) {
      connection.send(announcement(tool, LIMIT, alice)).send(Buffer.alloc(999));
      await until(() => load().bodyBytes.inFlight === 999 * (i + 1), "all but a byte is there");
    }
    // Under another key too, and before a byte of it is kept.
    at(connections, 2).send(
      announcement(tool, 10, { ...alice, kid: 18446744073709551615n, seed: Buffer.alloc(32, 2) }),
    );
    expectError(await at(connections, 2).response("POST"), 503, "overloaded");
    const large = sized(tool, 990, bob);
    assert.ok(large.body.length > 900 && large.body.length <= LIMIT);
    expectResult(await large.send(url), echoed(`"${"a".repeat(890)}"`), large);
    assert.equal(load().bodyBytes.inFlight, 1_998);
    assert.equal(load().refused.bodyBytes, 1);
    for (const connection of connections) connection.close();
    await until(() => load().bodyBytes.inFlight === 0, "nothing is held");
    const call = sized(tool, 990, alice);
    assert.equal((await call.send(url)).status, 200);
  });

  it("of one leader are refused as they arrive, if they are more than remain", async () => {
    const tool = countingTool({ path: "sum" });
    const { url, load } = await signed(tool);
    const connections = await openAll(url, 3);
    for (const connection of connections) {
      connection.send(announcement(tool, LIMIT, alice, ["Expect", "100-continue"]));
      assert.equal((await connection.response("POST")).status, 100, "it is admitted");
    }
    for (const connection of connections) connection.send(Buffer.alloc(600));
    await until(() => load().bodyBytes.inFlight === 1_800, "600 of each are there");
    at(connections, 0).send(Buffer.alloc(200));
    await until(() => load().bodyBytes.inFlight === 2_000, "half of the bound is held");
    at(connections, 1).send(Buffer.alloc(1));
    expectError(await at(connections, 1).response("POST"), 503, "overloaded");
    assert.equal(load().bodyBytes.inFlight, 1_400, "what had come of it is not held any more");
    const call = echoCall(tool, "1", { leader: alice });
    expectResult(await call.send(url), echoed("1"), call);
  });

  it("without signatures are counted by connection, so there is always room for a small call", async () => {
    const tool = countingTool({ path: "sum" });
    const config = ToolkitRuntimeConfig.fromJsonStr(`{"invoke_max_body_bytes":${LIMIT}}`);
    const { url, load } = await serveFor([tool], { config, maxBodyBytesInFlight: BOUND, minBodyBytesPerSecond: 1 });
    const connections = await openAll(url, 6);
    let held = 0;
    for (const connection of connections) {
      const most = Math.min(LIMIT, Math.floor((BOUND - held) / 2));
      connection.send(requestText("POST", tool.target, [["Content-Length", `${most}`]])).send(Buffer.alloc(most - 1));
      held += most - 1;
      await until(() => load().bodyBytes.inFlight === held, "all but a byte of what it may send is there");
    }
    assert.ok(held > BOUND - 200);
    assert.equal(load().refused.bodyBytes, 0);
    expectResult(await sendPlain(url, tool.target, '{"value":1}'), echoed("1"));
  });

  it("are not held for an unverified caller: it gets 401 even if there is no room for a leader", async () => {
    const tool = countingTool({ path: "sum" });
    const { url, load } = await signed(tool);
    const connections = await openAll(url, 5);
    for (const [i, leader] of [alice, alice, bob].entries()) {
      at(connections, i)
        .send(announcement(tool, LIMIT, leader))
        .send(Buffer.alloc(999));
    }
    await until(() => load().bodyBytes.inFlight === 2_997, "they hold what they may");
    const mallory = { id: "bob", kid: 0n, seed: Buffer.alloc(32, 66) };
    for (const [i, leader, status, code] of [
      [3, mallory, 401, "auth_failed"],
      [4, bob, 503, "overloaded"],
    ] as const) {
      expectError(
        await at(connections, i)
          .send(announcement(tool, LIMIT, leader))
          .response("POST"),
        status,
        code,
      );
    }
    assert.deepEqual([load().bodyBytes.inFlight, load().refused.bodyBytes], [2_997, 1]);
  });
});

describe("a slow body", () => {
  const half = (tool: CountingTool, sent: string | Uint8Array, length = 100_000) =>
    requestText("POST", tool.target, [["Content-Length", `${length}`]], sent);

  for (const [what, sent] of [
    ["nothing of it", ""],
    ["a byte of it", "["],
    ["all of it but a byte, in one burst", Buffer.alloc(12 * MIB - 1, " ")],
  ] as const) {
    it(`${what}: 408, and the connection ends`, async () => {
      const tool = countingTool({ path: "sum" });
      const { url, service } = await serveHasty([tool], { bodyGraceMs: 100, checkMs: 20, lingerMs: 50, requestMs: 0 });
      const connection = await RawConnection.open(url);
      connection.send(half(tool, sent, 12 * MIB));
      const response = await connection.response("POST");
      assert.equal(expectError(response, 408, "request_timeout"), "the body: at least 16384 bytes/s");
      assert.equal(response.headers.get("connection"), "close");
      assert.equal(service.load.bodyBytes.inFlight, 0);
      await connection.closed();
      assert.equal(tool.calls.constructed, 0);
    });
  }

  it("a drip below the rate: 408, however long it goes on", async () => {
    const tool = countingTool({ path: "sum" });
    const { url, service } = await serveHasty([tool], { bodyGraceMs: 100, checkMs: 20, lingerMs: 50, requestMs: 0 });
    const connection = await RawConnection.open(url);
    connection.send(half(tool, ""));
    drip(connection.socket, " ", 5);
    expectError(await connection.response("POST"), 408, "request_timeout");
    await connection.closed();
    assert.equal(service.load.bodyBytes.inFlight, 0);
    proves("1.20");
  });

  it("is not a body that the server was too busy to read", async () => {
    const tool = countingTool({ path: "sum" });
    const { url, service } = await serveHasty([tool], { bodyGraceMs: 200, checkMs: 20, requestMs: 0 });
    const connection = await RawConnection.open(url);
    connection.send(half(tool, '{"value":', 11));
    await until(() => service.load.bodyBytes.inFlight === 9, "the first bytes are there");
    connection.send("1}");
    const end = performance.now() + 300;
    while (performance.now() < end);
    expectResult(await connection.response("POST"), echoed("1"));
  });
});

describe("the pace of bodies", () => {
  // 1,000 bytes a second, looked at ten times in it, after 500 ms.
  const paced = (test: (pace: BodyPace, tick: (times: number) => void) => void) => {
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      test(new BodyPace(1_000, { bodyGraceMs: 500, checkMs: 100 }), (times) => {
        for (let i = 0; i < times; i++) mock.timers.tick(100);
      });
    } finally {
      mock.timers.reset();
    }
  };
  const body = (pace: BodyPace) => {
    let ended = 0;
    const one = pace.begin(() => ended++);
    return { one, ended: () => ended };
  };

  it("forgets a complete body, and checks the next one", () => {
    paced((pace, tick) => {
      for (let i = 0; i < 3; i++) {
        const [whole, slow] = [body(pace), body(pace)];
        pace.end(whole.one);
        tick(10);
        assert.deepEqual([whole.ended(), slow.ended()], [0, 1]);
      }
    });
  });

  it("has one timer while there are bodies, and none afterwards", (t) => {
    const timers = holdTimers(100);
    t.after(timers.restore);
    const pace = new BodyPace(1_000, { bodyGraceMs: 500, checkMs: 100 });
    for (let i = 0; i < 3; i++) {
      const bodies = [body(pace), body(pace)];
      assert.equal(timers.waiting.length, 1);
      for (const { one } of bodies) pace.end(one);
      timers.waiting[0]?.fire();
      assert.equal(timers.waiting.length, 0);
    }
  });
});

describe("the account of bodies", () => {
  const refusals = { refuse: () => new RequestError("overloaded") } as unknown as Refusals;
  it("gives one holder exactly as many bytes as remain for others", () => {
    const bytes = new Account(4_000, undefined, "bodyBytes", refusals);
    const accounts = [2_000, 1_000, 500].map((length, holder) => {
      assert.throws(() => bytes.open(`${holder}`, length + 1), RequestError);
      const account = bytes.open(`${holder}`, length);
      account.charge(length);
      assert.throws(() => account.charge(1), RequestError);
      return account;
    });
    assert.equal(bytes.inFlight, 3_500);
    for (const account of [...accounts, ...accounts]) account.release();
    assert.equal(bytes.inFlight, 0);
    bytes.open("0", 2_000).charge(2_000);
  });

  it("does not keep a connection that has released everything", async () => {
    const bytes = new Account(4_000, undefined, "bodyBytes", refusals);
    const use = () => {
      const connection = {};
      const account = bytes.open(connection, 1_000);
      account.charge(600);
      account.charge(400);
      account.release();
      return new WeakRef(connection);
    };
    const reference = use();
    await until(() => {
      gc();
      return reference.deref() === undefined;
    }, "it is collected");
    assert.equal(bytes.inFlight, 0);
  });
});

it("a client that disconnects in the middle of a body releases its bytes", async () => {
  const tool = countingTool();
  // Its body never becomes too slow, so that only its leaving ends it.
  const { url, service } = await serveHasty([tool], { bodyGraceMs: 1_000_000_000 });
  const connection = await RawConnection.open(url);
  connection.send(requestText("POST", tool.target, [["Content-Length", "11"]], '{"val'));
  await until(() => service.load.bodyBytes.inFlight === 5, "its bytes are held");
  connection.close();
  await until(() => service.load.bodyBytes.inFlight === 0, "nothing is held", 10_000);
  assert.equal(tool.calls.constructed, 0);
});

it("up to 64 KiB of a refused body, the connection is kept; at most 16 MiB of a longer one are discarded", async () => {
  const { url, server } = await serveHasty([countingTool()]);
  const send = async (length: number, bytes: Uint8Array) => {
    const accepted = once(server, "connection") as Promise<[Socket]>;
    const connection = await RawConnection.open(url);
    const [socket] = await accepted;
    connection.send(requestText("POST", "/no", [["Content-Length", `${length}`]])).send(bytes);
    const response = await connection.response("POST");
    return { connection, socket, kept: response.headers.get("connection") === "keep-alive" };
  };
  for (const length of [65_536, 65_537]) {
    const { connection, kept } = await send(length, Buffer.alloc(0));
    assert.equal(kept, length === 65_536);
    connection.close();
  }
  const { connection, socket } = await send(128 * MIB, Buffer.alloc(64 * MIB));
  await until(() => socket.bytesRead >= 16 * MIB, "it reads 16 MiB");
  for (let read = 0; read !== socket.bytesRead; await new Promise((resolve) => setTimeout(resolve, 50)))
    read = socket.bytesRead;
  assert.ok(socket.bytesRead < 17 * MIB, `${socket.bytesRead} bytes are read`);
  connection.close();
});
