/**
 * Slow and hostile clients on a bare socket (protocol.md sections 1, 5 and 7): each gets exactly one answer, or none and
 * an end, and whoever comes next is served.
 */

import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { afterEach, before, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import type { ConnectionLimits } from "#runtime/server/http/limits.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { expectError, openSocket, RawConnection, requestText } from "../../runtime/raw.js";
import {
  countingTool,
  echoCall,
  echoed,
  expectResult,
  gate,
  NOTHING_REFUSED,
  one,
  resultBcs,
  sendPlain,
  serveFor,
  serveHasty,
  serveSigned,
  signedConfig,
  until,
} from "../../runtime/tools.js";

const MIB = 1024 * 1024;
const BODY = '{"value":1}';
const CHUNKS = `b\r\n${BODY}\r\n0\r\n\r\n`;
const HEAD = "POST /sum/invoke HTTP/1.1\r\nHost: x\r\n";
const GOOD = `${HEAD}Content-Length: 11\r\n\r\n${BODY}`;

const bytesOf = (text: string | Uint8Array) => (typeof text === "string" ? Buffer.from(text, "latin1") : text);

/** A body whose length is right. */
const sending = (body: string | Uint8Array, headers = "") =>
  Buffer.concat([
    Buffer.from(`${HEAD}${headers}Content-Length: ${bytesOf(body).length}\r\n\r\n`),
    Buffer.from(bytesOf(body)),
  ]);

/** What becomes of the connection once the answer is there. */
type Fate = "kept" | "closed";

/** What a client sends, the status and error code that it gets (no code: the result), and the fate of its connection. */
type Row = readonly [what: string, sent: string | Uint8Array, status: number, code: string | undefined, fate: Fate];

const BAD = [400, "bad_request", "closed"] as const;
const UNREADABLE = [422, "input_deserialization_error", "kept"] as const;
const OTHER_CODING = [415, "unsupported_content_encoding", "kept"] as const;
const LENGTHLESS = [411, "length_required", "closed"] as const;
const SERVED = [200, undefined, "kept"] as const;
/** node's parser refuses it itself from llhttp 9.4 on (Node 22 and 24). */
const NO_CODING = Number.parseFloat(process.versions.llhttp ?? "") < 9.4 ? LENGTHLESS : BAD;

const FRAMING: readonly Row[] = [
  ["length with chunked", `${HEAD}Content-Length: 11\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`, ...BAD],
  ["chunked with length", `${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 11\r\n\r\n${CHUNKS}`, ...BAD],
  ["two equal lengths", `${HEAD}Content-Length: 11\r\nContent-Length: 11\r\n\r\n${BODY}`, ...BAD],
  ["two different lengths", `${HEAD}Content-Length: 11\r\nContent-Length: 5\r\n\r\n${BODY}`, ...BAD],
  ["a list of lengths", `${HEAD}Content-Length: 11, 11\r\n\r\n${BODY}`, ...BAD],
  ["a negative length", `${HEAD}Content-Length: -11\r\n\r\n${BODY}`, ...BAD],
  ["a length with a sign", `${HEAD}Content-Length: +11\r\n\r\n${BODY}`, ...BAD],
  ["an empty length", `${HEAD}Content-Length:\r\n\r\n${BODY}`, ...BAD],
  ["a length in hex", `${HEAD}Content-Length: 0xb\r\n\r\n${BODY}`, ...BAD],
  ["a length with a point", `${HEAD}Content-Length: 11.0\r\n\r\n${BODY}`, ...BAD],
  ["a length beyond 64 bits", `${HEAD}Content-Length: 99999999999999999999999\r\n\r\n`, ...BAD],
  ["no length", `${HEAD}\r\n`, 411, "length_required", "kept"],
  ["chunked", `${HEAD}Transfer-Encoding: chunked\r\n\r\n${CHUNKS}`, ...LENGTHLESS],
  ["chunked in odd case", `${HEAD}Transfer-Encoding: ChUnKeD\r\n\r\n${CHUNKS}`, ...LENGTHLESS],
  ["gzip, chunked", `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`, ...LENGTHLESS],
  ["an empty coding with a length", `${HEAD}Transfer-Encoding:\r\nContent-Length: 11\r\n\r\n${BODY}`, ...NO_CODING],
  ["an unknown coding", `${HEAD}Transfer-Encoding: xchunked\r\n\r\n${CHUNKS}`, ...BAD],
  ["chunked, gzip", `${HEAD}Transfer-Encoding: chunked, gzip\r\n\r\n${CHUNKS}`, ...BAD],
  ["chunked, chunked", `${HEAD}Transfer-Encoding: chunked, chunked\r\n\r\n${CHUNKS}`, ...BAD],
  ["chunked twice", `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`, ...BAD],
  ["chunked and identity", `${HEAD}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${CHUNKS}`, ...BAD],
  ["the coding identity", `${HEAD}Transfer-Encoding: identity\r\nContent-Length: 11\r\n\r\n${BODY}`, ...BAD],
  ["a coding in quotes", `${HEAD}Transfer-Encoding: "chunked"\r\n\r\n${CHUNKS}`, ...BAD],
  ["a coding with a parameter", `${HEAD}Transfer-Encoding: chunked;a=b\r\n\r\n${CHUNKS}`, ...BAD],
  ["a coding after a control character", `${HEAD}Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`, ...BAD],
  [
    "a request within a body of two framings",
    `${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n5c\r\nGET /tools HTTP/1.1\r\nHost: x\r\n\r\n0\r\n\r\n`,
    ...BAD,
  ],
  ["a space before the colon", `${HEAD}Content-Length : 11\r\n\r\n${BODY}`, ...BAD],
  ["a space before the first header", GOOD.replace("Host", " Host"), ...BAD],
  ["a header without a name", `${HEAD}: canary\r\n\r\n`, ...BAD],
  ["a header without a colon", `${HEAD}canary\r\n\r\n`, ...BAD],
  ["bare LF for every CRLF", GOOD.replaceAll("\r\n", "\n"), ...BAD],
  ["a bare LF after a header", GOOD.replace("x\r\n", "x\n"), ...BAD],
  ["a bare LF at the end of the headers", GOOD.replace("\r\n\r\n", "\r\n\n"), ...BAD],
  ["a bare CR in a header", `${HEAD}X-Canary: a\rb\r\n\r\n`, ...BAD],
  ["a bare CR at the end of a header", GOOD.replace("x\r\n", "x\r\r\n"), ...BAD],
  ["a NUL in a header", `${HEAD}X-Canary: a\x00b\r\n\r\n`, ...BAD],
  ["a NUL in the name of a header", `${HEAD}X-\x00Canary: a\r\n\r\n`, ...BAD],
  ["a NUL in the path", GOOD.replace("/sum", "/s\x00um"), ...BAD],
  ["a folded header", `${HEAD}X-Canary: a\r\n b\r\n\r\n`, ...BAD],
  ["a folded coding", `${HEAD}Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKS}`, ...BAD],
];

const VERSIONS: readonly Row[] = [
  ["HTTP/1.2", GOOD.replace("1.1", "1.2"), ...BAD],
  ["HTTP/1.10", GOOD.replace("1.1", "1.10"), ...BAD],
  ["HTTP/0.9", GOOD.replace("1.1", "0.9"), ...BAD],
  ["HTTP/2.0", GOOD.replace("1.1", "2.0"), ...BAD],
  ["a version in lower case", GOOD.replace("HTTP", "http"), ...BAD],
  ["no version", "GET /tools\r\n\r\n", ...BAD],
  ["HTTP/1.0, which is over after the answer", GOOD.replace("1.1", "1.0"), 200, undefined, "closed"],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", ...BAD],
  ["an upgrade to HTTP/2", GOOD.replace("Host: x", "Host: x\r\nConnection: Upgrade\r\nUpgrade: h2c"), ...SERVED],
  ["TLS bytes", Buffer.from("16030102000100 01fc0303".replace(" ", ""), "hex"), ...BAD],
  ["garbage", "canary\r\n\r\n", ...BAD],
  ["bytes of every value", Uint8Array.from({ length: 512 }, (_, i) => (i * 7919) % 256), ...BAD],
  ["garbage as long as a large body", Buffer.alloc(12 * MIB, "canary "), ...BAD],
  ["an unknown method", GOOD.replace("POST", "BREW"), ...BAD],
  ["a tunnel", "CONNECT canary.example:80 HTTP/1.1\r\nHost: x\r\n\r\n", ...BAD],
];

const HEADERS: readonly Row[] = [
  ["no Host", GOOD.replace("Host: x\r\n", ""), 400, "bad_request", "kept"],
  ["two Hosts", GOOD.replace("Host: x", "Host: x\r\nhost: y"), 400, "bad_request", "kept"],
  [
    "1,200 headers",
    `${HEAD}${"a:\r\n".repeat(1_200)}Content-Length: 11\r\n\r\n${BODY}`,
    431,
    "headers_too_large",
    "closed",
  ],
  ["a header of 20 KB", `${HEAD}X-Canary: ${"a".repeat(20_480)}\r\n\r\n`, 431, "headers_too_large", "closed"],
  ["a path of 20 KB", `GET /${"a".repeat(20_480)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431, "headers_too_large", "closed"],
  ["bytes beyond ASCII in a header that nobody reads", sending(BODY, "X-Canary: \xfc\xff\r\n"), ...SERVED],
  ["bytes beyond ASCII in the name of a header", `${HEAD}X-\xfc: canary\r\n\r\n`, ...BAD],
  ["bytes beyond ASCII in the path", GOOD.replace("/sum", "/s\xfcm"), ...BAD],
  ["a percent-encoded path", GOOD.replace("/sum", "/s%75m"), 404, "not_found", "kept"],
  ["a dotted path", GOOD.replace("/sum", "/x/../sum"), 404, "not_found", "kept"],
  ["an encoded dotted path", GOOD.replace("/sum", "/%2e%2e/sum"), 404, "not_found", "kept"],
  ["a path of __proto__", GOOD.replace("/sum", "/__proto__"), 404, "not_found", "kept"],
];

const deep = (open: string, close: string) => `{"value":${open.repeat(100_000)}1${close.repeat(100_000)}}`;

const BODIES: readonly Row[] = [
  ["a gzip body", sending(gzipSync(BODY), "Content-Encoding: gzip\r\n"), ...OTHER_CODING],
  [
    "a coding that is given twice",
    sending(BODY, "Content-Encoding: identity\r\nContent-Encoding: br\r\n"),
    ...OTHER_CODING,
  ],
  ["a gzip body that nobody announced", sending(gzipSync(BODY)), ...UNREADABLE],
  ["a byte-order mark", sending(`\xef\xbb\xbf${BODY}`), ...UNREADABLE],
  ["UTF-16", sending(Buffer.from(BODY, "utf16le")), ...UNREADABLE],
  ["invalid UTF-8", sending('{"value":"\xff"}'), ...UNREADABLE],
  ["a surrogate in UTF-8", sending('{"value":"\xed\xa0\x80"}'), ...UNREADABLE],
  ["100,000 lists in one another", sending(deep("[", "]")), ...UNREADABLE],
  ["100,000 objects in one another", sending(deep('{"a":', "}")), ...UNREADABLE],
  ["an empty body", sending(""), ...UNREADABLE],
  ["members that are called __proto__", sending('{"__proto__":{"canary":1},"value":1}'), ...SERVED],
  ["members that are called constructor", sending('{"constructor":{"prototype":{"canary":1}},"value":1}'), ...SERVED],
];

/** Short enough not to be waited for, long enough for a machine that has other work. */
const HASTY: Omit<ConnectionLimits, "handshakeMs"> = {
  headersMs: 1_000,
  requestMs: 1_500,
  bodyGraceMs: 60_000,
  answerMs: 1_000,
  lingerMs: 250,
  checkMs: 50,
};

describe("hostile requests", () => {
  const tool = countingTool({ path: "sum" });
  let url: string;
  before(async () => {
    ({ url } = await serveHasty([tool], { lingerMs: HASTY.lingerMs }));
  });
  afterEach(async () => {
    expectResult(await sendPlain(url, tool.target, BODY), echoed("1"));
  });

  for (const [what, sent, status, code, fate] of [...FRAMING, ...VERSIONS, ...HEADERS, ...BODIES]) {
    it(`${what}: ${status} ${code ?? ""}, the connection is ${fate}`, async () => {
      const invoked = tool.calls.invoked;
      const connection = await RawConnection.open(url);
      const response = await connection.send(bytesOf(sent)).response("POST");
      if (code === undefined) expectResult(response, echoed("1"));
      else expectError(response, status, code);
      assert.equal(tool.calls.invoked - invoked, code === undefined ? 1 : 0);
      if (fate === "closed") {
        assert.equal(response.headers.get("connection"), "close");
        assert.equal((await connection.closed()).toString(), "", "one answer and no more");
      } else {
        expectResult(await connection.send(GOOD).response("POST"), echoed("1"));
      }
      connection.close();
      assert.equal(({} as { canary?: number }).canary, undefined);
    });
  }

  it("garbage after a request does not run anything twice", async () => {
    const invoked = tool.calls.invoked;
    const connection = await RawConnection.open(url);
    connection.send(`${GOOD}canary\r\n\r\n`);
    const answers = (await connection.closed()).toString("latin1").match(/HTTP\/1\.1 \d+/g) ?? [];
    assert.equal(answers.at(-1), "HTTP/1.1 400");
    assert.ok(tool.calls.invoked - invoked <= 1);
  });
});

describe("stalled connections", { concurrency: true }, () => {
  const tool = countingTool({ path: "sum" });
  const parts = ["a", "b", "c", "d"];
  const large = countingTool({
    path: "large",
    output: [{ name: "ok", ports: parts.map((name) => one(name)) }],
    invoke: () => ({ ok: Object.fromEntries(parts.map((name) => [name, name.repeat(60_000)])) }),
  });
  const largeCall = requestText("POST", large.target, [["Content-Length", "11"]], BODY);
  const largeResult = resultBcs(
    "ok",
    parts.map((name) => [name, `"${name.repeat(60_000)}"`]),
  );
  /** A good request is served: at a later try where the machine was slower than the server's short deadlines. */
  const good = async (url: string) => {
    const send = () => sendPlain(url, tool.target, BODY).catch(() => undefined);
    let response = await send();
    await until(async () => {
      if (response?.status !== 200) response = await send();
      return response?.status === 200;
    }, "a good request is served");
    expectResult(response ?? assert.fail(), echoed("1"));
  };
  /** Connections of a server, once there are none or it is clear that some stay. */
  const allGone = async (server: { getConnections(done: (error: Error | null, count: number) => void): void }) => {
    let count = 1;
    await until(() => {
      server.getConnections((_error, now) => {
        count = now;
      });
      return count === 0;
    }, "no connection is left");
  };

  for (const [what, sent] of [
    ["no byte", ""],
    ["half a header", `${HEAD}X-Canary: `],
    ["the headers and no body", `${HEAD}Content-Length: 11\r\n\r\n`],
  ] as const) {
    it(`${what}: 408, and the connection is closed, although the client keeps its side open`, async () => {
      const { url, server, service } = await serveHasty([tool], HASTY);
      const socket = openSocket(url, { allowHalfOpen: true });
      let received = "";
      socket.on("data", (chunk: Buffer) => {
        received += chunk;
      });
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(sent);
      await good(url);
      await until(() => received.endsWith("}"), "an answer");
      assert.match(received, /^HTTP\/1\.1 408 Request Timeout\r\n(?:.*\r\n)*Connection: close\r\n/);
      await allGone(server);
      socket.write("canary");
      socket.end();
      await closed;
      assert.equal(received.match(/HTTP/g)?.length, 1, "one answer");
      await until(() => service.load.bodyBytes.inFlight === 0, "nothing is held");
      await good(url);
    });
  }

  it("connections whose answers are not read are cut, and other connections are served", async () => {
    const { url, server, service } = await serveHasty([tool, large], { answerMs: 500 });
    const greedy = Array.from({ length: 5 }, () => {
      const socket = openSocket(url);
      socket.pause();
      for (let i = 0; i < 100; i++) socket.write(largeCall);
      return socket;
    });
    await until(() => large.calls.invoked > 10, "they call");
    await good(url);
    await allGone(server);
    await until(() => service.load.runs.inFlight === 0 && service.load.bodyBytes.inFlight === 0, "nothing is held");
    for (const socket of greedy) socket.destroy();
    await good(url);
  });

  it("an answer that is read slowly but in time arrives completely", async () => {
    const { url } = await serveHasty([large], { answerMs: 10_000 });
    const connection = await RawConnection.open(url);
    const before = large.calls.invoked;
    connection.send(Buffer.concat(Array.from({ length: 4 }, () => largeCall)));
    connection.socket.pause();
    await until(() => large.calls.invoked > before, "it calls");
    connection.socket.resume();
    for (let i = 0; i < 4; i++) expectResult(await connection.response(), largeResult);
    connection.close();
  });

  it("a request that waits for a slow earlier answer is not cut", async () => {
    const open = gate();
    const own = countingTool({
      path: "own",
      invoke: async ({ value }) => {
        if (value === 1) await open.promise;
        return { ok: { value } };
      },
    });
    const { url } = await serveHasty([own], { answerMs: 100 });
    const connection = await RawConnection.open(url);
    for (const n of [1, 2])
      connection.send(requestText("POST", own.target, [["Content-Length", "11"]], `{"value":${n}}`));
    await until(() => own.calls.invoked === 1, "the first runs");
    await new Promise((resolve) => setTimeout(resolve, 300));
    open.open();
    for (const n of [1, 2]) expectResult(await connection.response(), echoed(`${n}`));
    connection.close();
  });
});

describe("bodies of requests that are refused", () => {
  const tool = countingTool({ path: "sum" });
  const stranger = (length: number) => requestText("POST", "/sum/invoke", [["Content-Length", `${length}`]]);

  it("a longer body ends the connection after the answer: a client that sends 12 MiB before it reads gets the 401", async () => {
    const { url } = await serveSigned([tool], { replayStore: new ReplayMemory() });
    const connection = await RawConnection.open(url);
    connection.socket.pause();
    const sent = new Promise((resolve) => connection.socket.write(stranger(12 * MIB), resolve));
    await sent;
    await new Promise((resolve) => connection.socket.write(Buffer.alloc(12 * MIB), resolve));
    connection.socket.resume();
    const response = await connection.response();
    expectError(response, 401, "auth_failed");
    assert.equal(response.headers.get("connection"), "close");
    assert.equal((await connection.closed()).length, 0);
  });
});

describe("connections", () => {
  const tool = countingTool({ path: "sum" });
  const idle: Socket[] = [];

  it("2,000 idle connections do not affect good requests", async () => {
    const { url, load } = await serveFor([tool]);
    await Promise.all(
      Array.from({ length: 2_000 }, async () => {
        const socket = openSocket(url);
        idle.push(socket);
        await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
      }),
    );
    const good = Array.from({ length: 200 }, () => sendPlain(url, tool.target, BODY));
    for (const answer of await Promise.all(good)) expectResult(answer, echoed("1"));
    assert.deepEqual(load().refused, NOTHING_REFUSED);
    for (const socket of idle) socket.destroy();
  });
});

describe("disconnects at every stage", () => {
  const open = gate();
  const tool = countingTool({
    path: "sum",
    invoke: async ({ value }) => {
      if (value === 2) await open.promise;
      return { ok: { value } };
    },
  });
  const text = echoCall(tool, "1").text();
  const head = text.indexOf("\r\n\r\n") + 4;
  const leaving: Record<string, (socket: Socket) => void> = {
    "with an end": (socket) => void socket.end(),
    "with a reset": (socket) => void socket.resetAndDestroy(),
  };
  let server: Awaited<ReturnType<typeof serveHasty>>;
  before(async () => {
    server = await serveHasty([tool], {}, signedConfig([tool.fqn]));
  });
  const good = async () => {
    const call = echoCall(tool, "1");
    expectResult(await call.send(server.url), echoed("1"), call);
  };

  for (const [how, leave] of Object.entries(leaving)) {
    for (const [stage, length] of [
      ["once connected", 0],
      ["in the request line", 6],
      ["in a header", head - 20],
      ["after the headers", head],
      ["in the body", text.length - 5],
    ] as const) {
      it(`${stage}, ${how}: nothing runs, no memory stays in use, the next call is served`, async () => {
        const { url, service } = server;
        const before = tool.calls.constructed;
        const connection = await RawConnection.open(url);
        connection.send(text.subarray(0, length));
        if (length > head) await until(() => service.load.bodyBytes.inFlight > 0, "its body is awaited");
        leave(connection.socket);
        await connection.closed();
        await until(() => service.load.bodyBytes.inFlight === 0, "nothing is held");
        await good();
        assert.equal(tool.calls.constructed - before, 1, "only the next one ran");
      });
    }

    it(`while the tool runs, ${how}: the tool runs once, and a retry gets the result`, async () => {
      const { url, service } = server;
      const before = tool.calls.invoked;
      const call = echoCall(tool, "2");
      const connection = await RawConnection.open(url);
      connection.send(call.text());
      await until(() => tool.calls.invoked - before === 1, "it runs");
      leave(connection.socket);
      await connection.closed();
      await good();
      open.open();
      await until(
        () => service.load.runs.inFlight === 0 && service.load.bodyBytes.inFlight === 0,
        "everything has ended",
      );
      expectResult(await call.send(url), echoed("2"), call);
      assert.equal(tool.calls.invoked - before, 2);
    });
  }

  it("no disconnect causes a log line above debug", () => {
    const noted = server.log.entries.filter(({ level }) => level !== "debug");
    assert.deepEqual(noted, []);
  });
});
