/** `http` against a server that answers as each test says. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type HttpAnswer, HttpError, type HttpOptions, http } from "svc-runtime";
import { MockAgent } from "undici";
import { isPublicAddress } from "#runtime/http/public-addresses.js";
import { atEnd } from "../teardown.js";
import { makeCertificate } from "./certificate.js";
import { countingTool, gate, sendPlain, serveFor, until } from "./tools.js";

type Handler = (request: IncomingMessage, response: ServerResponse, n: number) => void;

/** A server, and the requests that it got. */
async function serve(handler: Handler) {
  const got: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    got.push(request);
    handler(request, response, got.length);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}
const context = (ms = 60_000, signal = new AbortController().signal) => ({
  signal: signal as never,
  deadline: performance.now() + ms,
});
const answering = (status: number, body = "", headers: Record<string, string> = {}): Handler => {
  return (_, response) => response.writeHead(status, headers).end(body);
};
async function failure(request: Promise<HttpAnswer>): Promise<HttpError> {
  const error = await request.then(
    () => assert.fail("expected a failure"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof HttpError, String(error));
  return error;
}

test("JSON is exact in both directions, with its headers and query", async () => {
  let sent = "";
  const { url, got } = await serve((request, response) => {
    request.on("data", (chunk) => (sent += chunk));
    request.on("end", () => response.end('{"id":9223372036854775807,"n":2}'));
  });
  const answer = await http(context(), `${url}/a?x=1`, {
    query: { y: "ä&", z: undefined, n: 5n },
    json: { id: 2n ** 63n },
  });
  assert.deepEqual(answer.json(), { id: 9223372036854775807n, n: 2 });
  assert.deepEqual([answer.status, answer.attempts, sent], [200, 1, '{"id":9223372036854775808}']);
  assert.deepEqual([got[0]?.method, got[0]?.url], ["POST", "/a?x=1&y=%C3%A4%26&n=5"]);
  assert.equal(got[0]?.headers["content-type"], "application/json");
});

test("a header of the tool replaces a default one, whatever the case of its name", async () => {
  const { url, got } = await serve(answering(200));
  await http(context(), url, { headers: { accept: "text/plain", "CONTENT-TYPE": "text/csv" }, json: 1 });
  assert.deepEqual([got[0]?.headers.accept, got[0]?.headers["content-type"]], ["text/plain", "text/csv"]);
});

describe("an answer that is not accepted", () => {
  const cases: readonly (readonly [name: string, Handler, HttpOptions, kind: string, said: RegExp])[] = [
    ["a status", answering(404, "secret"), {}, "status", /^GET 127\.0\.0\.1:\d+: status 404$/],
    ["a long body", answering(200, "x".repeat(2_000)), { maxBytes: 1_000 }, "too_large", /larger than 1000 bytes/],
    [
      "a body that grows beyond the limit when it is decompressed",
      (_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(5_000_000))),
      {},
      "too_large",
      /larger than 1048576 bytes/,
    ],
    [
      "an unknown encoding",
      answering(200, "x", { "content-encoding": "zstd" }),
      {},
      "invalid_answer",
      /neither gzip nor br/,
    ],
    [
      "an encoding named like a member of every object",
      answering(200, "x", { "content-encoding": "constructor" }),
      {},
      "invalid_answer",
      /neither gzip nor br/,
    ],
    [
      "a body that is not compressed",
      answering(200, "x", { "content-encoding": "br" }),
      {},
      "invalid_answer",
      /is not br/,
    ],
    [
      "a redirect",
      answering(302, "", { location: "/b" }),
      {},
      "invalid_answer",
      /redirects are not followed: use the final URL$/,
    ],
    [
      "a late body",
      (_, response) => response.writeHead(200).write("x"),
      { timeoutMs: 50, attempts: 1 },
      "timeout",
      /within 50 ms/,
    ],
    [
      "a malformed answer",
      (_, response) => response.socket?.end("HTTP/1.1 200 OK\r\ntoken secret\r\n\r\n"),
      { attempts: 1 },
      "connection",
      /: the connection broke$/,
    ],
    [
      "a cut connection",
      (_, response) => response.destroy(),
      { attempts: 1 },
      "connection",
      /: ECONNRESET|other side closed/,
    ],
  ];
  for (const [name, handler, options, kind, said] of cases) {
    test(`${name} is an error of kind ${kind} with neither path nor query in its message`, async () => {
      const { url } = await serve(handler);
      const error = await failure(http(context(), `${url}/token?key=secret`, options));
      assert.equal(error.kind, kind);
      assert.match(error.message, said);
      assert.doesNotMatch(inspect(error, { depth: 9 }) + JSON.stringify(error), /\/token|secret/);
    });
  }

  test("is on the error, but not in the logged error", async () => {
    const { url } = await serve(answering(402, '{"code":"no_credit"}'));
    const error = await failure(http(context(), url));
    assert.deepEqual(error.answer?.json(), { code: "no_credit" });
    assert.deepEqual([error.status, Object.keys(error).includes("answer")], [402, false]);
  });

  test("is returned if its status is accepted", async () => {
    const { url } = await serve(answering(404, "none"));
    assert.equal((await http(context(), url, { accept: [404] })).text(), "none");
  });

  test("a body that is not JSON or not UTF-8 is an error with that reason", async () => {
    const { url } = await serve((_, response) => response.end(Buffer.from([0x7b, 0xff])));
    const answer = await http(context(), url);
    assert.throws(() => answer.json(), /the body is not JSON/);
    assert.throws(() => answer.text(), /the body is not UTF-8/);
  });
});

describe("repeats", () => {
  const flaky: Handler = (_, response, n) => response.writeHead(n < 3 ? 503 : 200).end("ok");

  test("a GET is repeated after transient failures, a POST only if it is repeatable", async () => {
    const first = await serve(flaky);
    assert.equal((await http(context(), first.url)).attempts, 3);
    const second = await serve(flaky);
    assert.deepEqual([(await failure(http(context(), second.url, { json: 1 }))).status, second.got.length], [503, 1]);
    const third = await serve(flaky);
    assert.equal((await http(context(), third.url, { json: 1, repeatable: true })).attempts, 3);
    const forth = await serve(flaky);
    assert.match((await failure(http(context(), forth.url, { attempts: 2 }))).message, /status 503, 2 attempts$/);
  });

  test("a POST of which no byte was sent is repeated", async () => {
    const agent = new MockAgent();
    agent.disableNetConnect();
    const refused = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    let connections = 0;
    const dispatcher = {
      dispatch: (options: object, handler: object) => {
        if (++connections > 1) return agent.dispatch(options as never, handler as never);
        (handler as { onResponseError: (...args: unknown[]) => void }).onResponseError(undefined, refused);
        return true;
      },
    };
    agent.get("https://api.example.com").intercept({ path: "/pay", method: "POST" }).reply(200, { done: true });
    const answer = await http(context(), "https://api.example.com/pay", { json: {}, dispatcher });
    assert.deepEqual([answer.json(), answer.attempts], [{ done: true }, 2]);
  });

  test("Retry-After beyond the deadline ends the request at once", async () => {
    const { url, got } = await serve(answering(429, "", { "retry-after": "60" }));
    const error = await failure(http(context(30_000), url));
    assert.deepEqual([error.status, got.length], [429, 1]);
  });

  test("nothing is sent when no time is left, and the signal's reason is thrown", async () => {
    const { url, got } = await serve(answering(200));
    assert.equal((await failure(http(context(100), url))).kind, "timeout");
    const reason = new Error("the call has ended");
    await assert.rejects(http(context(60_000, AbortSignal.abort(reason)), url), reason);
    assert.equal(got.length, 0);
    const hanging = await serve((request) => request.resume());
    const controller = new AbortController();
    const call = http(context(60_000, controller.signal), hanging.url);
    setTimeout(() => controller.abort(reason), 20);
    await assert.rejects(call, reason);
  });
});

describe("publicOnly", () => {
  const hidden = `
    127.0.0.1 10.1.2.3 169.254.169.254 100.64.0.1 0.0.0.0 192.168.1.1 172.31.0.1 255.255.255.255 ::1 :: fe80::1
    fe80::1%eth0 fd00::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1:: 2001::1 2001:db8::1 ff02::1
    168.63.129.16 161.26.0.10 166.11.255.255`;
  for (const address of hidden.trim().split(/\s+/)) {
    test(`${address} is not public`, () => assert.equal(isPublicAddress(address), false));
  }
  for (const address of ["8.8.8.8", "1.1.1.1", "168.63.129.17", "166.12.0.1", "2606:4700::1111", "2a00:1450::1"]) {
    test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));
  }

  const own = "127.0.0.1 2130706433 0x7f.1 017700000001 [::ffff:127.0.0.1] [::1] localhost";
  for (const host of own.split(" ")) {
    test(`http://${host} is refused without a connection`, async () => {
      const { url, got } = await serve(answering(200));
      const error = await failure(http(context(), `http://${host}:${new URL(url).port}/`, { publicOnly: true }));
      assert.equal(error.kind, "forbidden_address");
      assert.equal(got.length, 0);
    });
  }
});

test("a host without an address and an untrusted certificate are different errors", async () => {
  const { key, cert } = makeCertificate();
  const server = createTlsServer({ key, cert }, (_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(() => server.close());
  const port = (server.address() as AddressInfo).port;
  assert.equal((await failure(http(context(), `https://127.0.0.1:${port}`, { attempts: 1 }))).kind, "tls");
  const plain = createServer((_, response) => response.end()).listen(0, "127.0.0.1");
  await once(plain, "listening");
  atEnd(() => plain.close());
  const refused = await failure(http(context(), `https://127.0.0.1:${(plain.address() as AddressInfo).port}`));
  assert.deepEqual([refused.kind, refused.message.includes("the server uses plain HTTP: use http://")], ["tls", true]);
  assert.match((await failure(http(context(), "http://no-such-host.invalid", { attempts: 1 }))).kind, /^dns$/);
});

test("invalid options are refused before anything is sent", async () => {
  for (const [url, options, said] of [
    ["undefined/rates", {}, /^TypeError: http: expected an absolute URL, such as https:/],
    ["ftp://a.example", {}, /expected an http: or https: URL/],
    ["https://u:p@a.example", {}, /without user and password/],
    ["https://a.example", { json: 1, body: "x" }, /expected json or body/],
    ["https://a.example", { body: { secret: 1 } }, /^TypeError: http: body: expected a string or a Uint8Array/],
    ["https://a.example", { method: "get" }, /^TypeError: http: method: expected one of GET/],
    ["https://a.example", { bodyy: "x" }, /^TypeError: http: no option "bodyy"; did you mean body/],
    ["https://a.example", { headers: new Headers() }, /^TypeError: http: headers: expected an object/],
    ["https://a.example", { headers: { "x-key": undefined } }, /^TypeError: http: headers: "x-key": expected a string/],
    ["https://a.example", { headers: { "x-key": "secret\nkey" } }, /^TypeError: http: headers: "x-key": the value has/],
    ["https://a.example", { headers: { "x-key": "secret→" } }, /^TypeError: http: headers: "x-key": the value has/],
    ["https://a.example", { headers: { "secret key": "x" } }, /^TypeError: http: headers: the name of header 1 has/],
    [
      "https://a.example",
      { headers: { expect: "secret" } },
      /^TypeError: http: the request cannot be sent: expect header/,
    ],
    [
      "https://a.example",
      { headers: { upgrade: "secret" } },
      /^TypeError: http: the request cannot be sent: invalid upgrade/,
    ],
    [undefined, {}, /^TypeError: http: expected an absolute URL, such as .*, got nothing$/],
    ["https://a.example", { query: "a=1" }, /^TypeError: http: query: expected an object of .*, got a string$/],
    ["https://a.example", { query: new URLSearchParams("a=1") }, /^TypeError: http: query: expected an object/],
    ["https://a.example", { query: { a: [1] } }, /^TypeError: http: query: "a": expected a string, .*, got an array$/],
    ["https://a.example", { accept: 404 }, /^TypeError: http: accept: expected a list of statuses, .*, got a number$/],
    ["https://a.example", { repeatable: 1 }, /^TypeError: http: repeatable: expected true or false, got a number$/],
    [
      "https://a.example",
      { dispatcher: {} },
      /^TypeError: http: dispatcher: expected a dispatcher of the package undici/,
    ],
    ["https://a.example", { attempts: 0 }, /attempts: expected/],
    ["https://a.example", { timeoutMs: 0 }, /timeoutMs: expected/],
    ["https://a.example", { maxBytes: Number.NaN }, /maxBytes: expected/],
    ["https://a.example", { publicOnly: true, dispatcher: new MockAgent() }, /publicOnly or a dispatcher/],
  ] as const) {
    const error = await http(context(), url as string, options as unknown as HttpOptions).then(
      () => assert.fail("expected a failure"),
      (reason: Error) => reason,
    );
    assert.match(`${error}`, said);
    assert.doesNotMatch(error.message, /secret/);
  }
  const withoutContext = http("https://a.example" as never, { method: "POST" } as never);
  await assert.rejects(
    withoutContext,
    /^TypeError: http: expected the context of the call as the first argument, got a string$/,
  );
});

test("a brotli body is decompressed", async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(200, { "content-encoding": "br" }).end(brotliCompressSync("[1,2]"));
  });
  assert.deepEqual((await http(context(), url)).json(), [1, 2]);
});

describe("the memory of answers", () => {
  /** The part of a server whose memory limit is 64 MiB; unsigned, so one connection may use half of it. */
  const PART = 4 * 2 ** 20;
  const LENGTH = 600_000;
  const text = Buffer.alloc(LENGTH, "x");
  const bodies: Readonly<Record<string, Handler>> = {
    plain: answering(200, text.toString()),
    gzip: answering(200, gzipSync(text) as never, { "content-encoding": "gzip" }),
    // The error has the answer.
    status: answering(404, text.toString()),
  };

  for (const [name, handler] of Object.entries(bodies)) {
    test(`holds the answers of all runs (${name}) until the runs end`, async () => {
      const upstream = await serve(handler);
      const open = gate();
      let [read, refused, isOpen] = [0, 0, false];
      const tool = countingTool({
        invoke: async (_, { signal, deadline }) => {
          // The signal identifies the run, in whatever object it is passed.
          await http({ signal, deadline }, upstream.url, { attempts: 1 }).then(
            ({ bytes }) => assert.equal(bytes.length, LENGTH),
            (error: HttpError) => {
              if (error.kind === "status") return;
              refused++;
              assert.equal(error.kind, "overloaded");
              assert.match(error.message, /: nothing more was read, .* at most 2097152 bytes, is full$/);
              throw error;
            },
          );
          read++;
          if (!isOpen) await open.promise;
          return { ok: { value: 1 } };
        },
      });
      const server = await serveFor([tool], { memoryLimit: 64 * 2 ** 20 });
      const call = async () => (await sendPlain(server.url, tool.target, '{"value":1}')).status;
      const calls = Array.from({ length: 30 }, call);
      await until(() => read + refused === 30, "all answers are read or refused");
      assert.ok(read * LENGTH <= PART && refused >= 24, `${read} read, ${refused} refused`);
      isOpen = true;
      open.open();
      const statuses = await Promise.all(calls);
      assert.deepEqual(statuses.filter((status) => status === 200).length, read);
      assert.equal(server.load().refused.httpAnswers, refused);
      for (let i = 0; i < 8; i++) assert.equal(await call(), 200, "the ended runs hold nothing");
    });
  }
});
