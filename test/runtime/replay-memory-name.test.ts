/** The name of a replay memory, and repeats that come with it (protocol.md section 8). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Lifetimes } from "#runtime/server/replay/lifetime-history.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import type { ReplayStore } from "#runtime/server/replay/store.js";
import { proves } from "../proves.js";
import { exchange, expectError, RawConnection, type RawResponse, requestText } from "./raw.js";
import {
  type CountingTool,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  type SignedCall,
  sendPlain,
  serveFor,
  serveSigned,
  until,
  waitingTool,
} from "./tools.js";

const HEADER = "x-svc-replay-memory";
const NAME = /^[A-Za-z0-9_-]{22}$/;
const nameOf = ({ headers }: RawResponse) => headers.get(HEADER) ?? assert.fail("no name");

/** Sends a call with the header of a repeat. */
async function repeat(url: string, call: SignedCall, ...values: readonly string[]): Promise<RawResponse> {
  const connection = await RawConnection.open(url);
  const extra = values.map((value) => ["X-Svc-Replay-Memory", value] as const);
  const response = await connection.send(call.text(...extra)).response("POST");
  connection.close();
  return response;
}

function expectLost(response: RawResponse, tool: CountingTool, runs: number): void {
  const details = expectError(response, 409, "replay_memory_lost");
  assert.equal(details, "this server does not know whether an earlier attempt ran; this attempt did not run");
  assert.equal(tool.calls.constructed, runs);
}

/** A server over a memory on a clock that the test moves. */
async function clocked(ttl = { ms: 200 }) {
  const clock = { now: 1_000 };
  const replayStore = new ReplayMemory({ ttlMs: () => ttl.ms, now: () => clock.now });
  const tool = countingTool();
  const { url } = await serveSigned([tool], { replayStore });
  return { clock, replayStore, tool, url, name: replayStore.memoryName };
}

describe("the name", () => {
  it("is in every answer of a signed server, always the same", async () => {
    const { tool, open } = waitingTool({ path: "echo" });
    const server = await serveSigned([tool], { shutdown: { drainMs: 0 } });
    const { url } = server;
    const call = echoCall(tool, "1");
    const get = (path: string, method = "GET") => exchange(url, requestText(method, path), method);
    const running = call.send(url);
    await until(() => tool.calls.invoked === 1, "it runs");
    const inFlight = await call.send(url);
    open();
    const answers = [
      await running,
      inFlight,
      await call.send(url),
      await sendPlain(url, tool.target, "{}"),
      await echoCall(tool, "nothing").send(url),
      await get("/echo/meta"),
      await get("/echo/health"),
      await get("/echo/health", "HEAD"),
      await get("/tools"),
      await get("/nothing"),
      await get(tool.target),
      await exchange(url, "GET / HTTP/1.1\r\n\r\n"),
      await exchange(url, `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`),
      await exchange(url, "rubbish\r\n\r\n"),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 409, 200, 401, 422, 200, 200, 200, 200, 404, 405, 400, 431, 400],
    );
    const [name = ""] = answers.map(nameOf);
    assert.match(name, NAME);
    for (const answer of answers) assert.equal(nameOf(answer), name);
    const held = await RawConnection.open(url);
    held.send(requestText("POST", tool.target, [...echoCall(tool, "2").headers, ["Content-Length", "9"]], ""));
    await until(async () => (await get("/tools")).status === 200, "the request has come");
    const closed = server.close();
    assert.equal(nameOf(await held.response()), name, "503 of a shutdown");
    await closed;
    proves("8.31", "8.32");
  });

  it("has the server's header prefix; an unsigned server sends no name", async () => {
    const tool = countingTool();
    const older = await serveSigned([tool], { headerPrefix: "X-Nexus-" });
    const { headers } = await echoCall(tool, "1", { prefix: "X-Nexus-" }).send(older.url);
    assert.match(headers.get("x-nexus-replay-memory") ?? "", NAME);
    assert.equal(headers.get(HEADER), undefined);
    const plain = await serveFor([countingTool()]);
    assert.equal((await exchange(plain.url, requestText("GET", "/meta"))).headers.get(HEADER), undefined);
  });

  it("is the same for all registrations that share a memory, and different for every memory", async () => {
    const replayStore = new ReplayMemory();
    const name = async (options: Parameters<typeof serveSigned>[1]) => {
      const tool = countingTool();
      return nameOf(await echoCall(tool, "1").send((await serveSigned([tool], options)).url));
    };
    assert.equal(await name({ replayStore }), replayStore.memoryName);
    assert.equal(await name({ replayStore }), replayStore.memoryName);
    assert.equal(new Set([await name({}), await name({}), replayStore.memoryName]).size, 3);
    assert.equal(Buffer.from(replayStore.memoryName, "base64url").length, 16);
    proves("8.31");
  });
});

describe("a repeat", () => {
  it("of an unknown pair runs if it has the name and its age is below the TTL", async () => {
    const { tool, url, name } = await clocked();
    const call = echoCall(tool, "1");
    expectResult(await repeat(url, call, `${name};age=199`), echoed("1"), call);
    assert.equal(tool.calls.invoked, 1);
    const [other] = [echoCall(tool, "2")];
    expectLost(await repeat(url, other, `${name};age=200`), tool, 1);
    proves("7.42", "8.33", "8.34");
  });

  it("that is refused for its age or its memory: the log has the reason", async () => {
    const [tool, replayStore] = [countingTool(), new ReplayMemory()];
    const server = await serveSigned([tool], { replayStore });
    expectLost(await repeat(server.url, echoCall(tool, "1"), `${replayStore.memoryName};age=600000`), tool, 0);
    expectLost(await repeat(server.url, echoCall(tool, "1"), "another"), tool, 0);
    await server.close();
    const reasons = server.log
      .filter(({ message }) => message === "requests were refused")
      .map(({ fields }) => (fields.refused as [{ last: { details: string } }])[0].last.details);
    assert.deepEqual(reasons, [
      "the caller first sent the request 600000 ms ago, and results are kept for 300000 ms: check both clocks",
      "the repeat names another replay memory",
    ]);
  });

  for (const [what, values] of [
    ["nothing", [""]],
    ["no age", ["NAME"]],
    ["an age that is no number", ["NAME;age=x"]],
    ["a negative age", ["NAME;age=-1"]],
    ["a fraction", ["NAME;age=0.5"]],
    ["an age of 16 digits", ["NAME;age=1000000000000000"]],
    ["a space", ["NAME; age=0"]],
    ["another parameter", ["NAME;age=0;x=1"]],
    ["a longer name", ["NAMEA;age=0"]],
    ["two headers", ["NAME;age=0", "NAME;age=0"]],
  ] as const) {
    it(`with ${what} matches no memory`, async () => {
      const { tool, url, name } = await clocked();
      const given = values.map((value) => value.replace("NAME", name));
      expectLost(await repeat(url, echoCall(tool, "1"), ...given), tool, 0);
      proves("8.36");
    });
  }
});

describe("a store without a name", () => {
  for (const scope of ["process", "shared"] as const) {
    it(`does not support repeats: no header, 409, and the run is released (${scope})`, async () => {
      const memory = new ReplayMemory();
      const claim: ReplayStore["claim"] = ({ repeat: _, ...request }) => memory.claim(request);
      const replayStore: ReplayStore = {
        scope,
        claim: scope === "process" ? claim : async (request) => claim(request),
      };
      const tool = countingTool();
      const { url } = await serveSigned([tool], { replayStore });
      const call = echoCall(tool, "1");
      const lost = await repeat(url, call, `${memory.memoryName};age=0`);
      assert.equal(lost.headers.get(HEADER), undefined);
      expectLost(lost, tool, 0);
      assert.equal(memory.stats().inFlight, 0);
      expectResult(await call.send(url), echoed("1"), call);
      expectResult(await repeat(url, call, "x"), echoed("1"), call);
      assert.equal(tool.calls.invoked, 1);
      proves("8.34");
    });
  }
});

describe("lifetimes", () => {
  it("are stored separately up to a number, and merged with the shorter lifetime beyond", () => {
    const lifetimes = new Lifetimes();
    for (let i = 0; i < 20; i++) lifetimes.use(1_000 - i, i * 10);
    lifetimes.use(5_000, 200);
    // The last 8 before the current one are apart.
    for (let i = 12; i < 20; i++) assert.equal(lifetimes.shortestSince(i * 10), 981);
    assert.equal(lifetimes.shortestSince(191), 5_000);
    lifetimes.use(6_000, 300);
    lifetimes.use(7_000, 400);
    assert.equal(lifetimes.shortestSince(0), 981, "the shortest of those that were joined");
    assert.equal(lifetimes.shortestSince(201), 6_000);
  });
});
