/**
 * The client's transport over undici: which failures certainly sent no byte of a request, and that no request is sent twice, at
 * whatever point a server closes a connection.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, describe, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { LeaderClient, type LeaderError, type LeaderOptions } from "svc-runtime/leader";
import { Agent, buildConnector, MockAgent, ProxyAgent, RetryAgent } from "undici";
import { atEnd } from "../teardown.js";
import { makeCertificate } from "./certificate.js";
import { DONE, documentOf, failureOf, leader, RESULT_TYPE } from "./leader-scene.js";
import { refusingUrl } from "./raw.js";
import { attempt, until } from "./tools.js";

const DOCUMENT = documentOf("xyz.test.transport@1", { n: {} });
const HEAD = `HTTP/1.1 200 OK\r\nContent-Type: ${RESULT_TYPE}\r\nContent-Length: ${DONE.length}\r\n\r\n`;
const ANSWER = Buffer.concat([Buffer.from(HEAD), DONE]);

function clientAt(url: string, options: LeaderOptions = {}): LeaderClient {
  const client = LeaderClient.fromMetadata(DOCUMENT, {
    leader,
    url,
    acceptUnverified: true,
    allowHttp: true,
    ...options,
  });
  atEnd(() => client.destroy());
  return client;
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  atEnd(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server on bare sockets that counts the requests by nonce, whole or not. */
class Counting {
  readonly seen = new Map<string, number>();
  readonly sockets = new Set<Socket>();
  url = "";

  /**
   * @param react gets each piece of a connection, with all bytes of its current request and the number of its requests
   */
  static async start(react: (socket: Socket, text: string, requests: number) => void): Promise<Counting> {
    const counting = new Counting();
    const server = createServer((socket) => {
      let text = "";
      let requests = 0;
      counting.sockets.add(socket);
      atEnd(() => socket.destroy());
      socket.on("error", () => undefined);
      socket.on("data", (chunk) => {
        const starts = chunk.toString("latin1").startsWith("POST ");
        if (starts) {
          requests++;
          text = "";
        }
        text += chunk.toString("latin1");
        const [, nonce] = /x-svc-nonce: ([\w-]+)/i.exec(text) ?? [];
        if (starts && nonce !== undefined) counting.seen.set(nonce, (counting.seen.get(nonce) ?? 0) + 1);
        react(socket, text, requests);
      });
    });
    counting.url = `http://127.0.0.1:${await listen(server)}`;
    return counting;
  }

  get total(): number {
    return [...this.seen.values()].reduce((sum, count) => sum + count, 0);
  }
}

const isWhole = (text: string) => {
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return text.includes("\r\n\r\n") && body.length >= Number(/content-length: (\d+)/i.exec(head)?.[1]);
};
const answerWhole = (socket: Socket, text: string) => {
  if (isWhole(text)) socket.write(ANSWER);
};
const { cert, key } = makeCertificate();

describe("ran is no: no byte of the request was sent", () => {
  const noByte = async (call: Promise<unknown>, code: string) => {
    const error = await failureOf(call);
    assert.deepEqual([error.code, error.ran], [code, "no"], error.message);
    assert.ok(error.request, "the request to repeat");
    return error;
  };

  test("the host name has no address", async () => {
    await noByte(clientAt("http://no-such-name.invalid").invoke({ n: 1 }), "connection_failed");
  });

  test("nothing listens", async () => {
    await noByte(clientAt(await refusingUrl()).invoke({ n: 1 }), "connection_failed");
  });

  test("the connection is not established within the agent's limit, or within the timeout", async () => {
    const connector = buildConnector({ timeout: 20 });
    const silent = createServer();
    const port = await listen(silent);
    // A TLS handshake that is never answered is part of the connection.
    const dispatcher = new Agent({
      connect: (options, callback) => connector({ ...options, protocol: "https:" }, callback),
    });
    after(() => dispatcher.destroy());
    const error = await noByte(
      clientAt(`https://127.0.0.1:${port}`, { dispatcher }).invoke({ n: 1 }),
      "connection_failed",
    );
    assert.match(error.message, /Connect Timeout/);
    await noByte(clientAt(`https://127.0.0.1:${port}`).invoke({ n: 1 }, { timeoutMs: 50 }), "timeout");
  });

  test("the TLS handshake fails: unknown issuer, other name, plain HTTP, a server that closes the connection", async () => {
    let received = 0;
    const tls = createTlsServer({ cert, key }, (socket) => socket.on("data", (chunk) => (received += chunk.length)));
    tls.on("tlsClientError", () => undefined);
    const port = await listen(tls);
    const plain = createServer((socket) => socket.on("error", () => undefined).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const hangup = createServer((socket) => socket.on("error", () => undefined).destroy());
    const at = (number: number, options: LeaderOptions = {}) =>
      clientAt(`https://127.0.0.1:${number}`, options).invoke({ n: 1 });
    await noByte(at(port), "connection_failed");
    await noByte(at(port, { tls: { ca: cert, servername: "other.example" } }), "connection_failed");
    const error = await noByte(at(await listen(plain)), "connection_failed");
    assert.match(error.message, /the server uses plain HTTP/);
    const ended = await noByte(at(await listen(hangup)), "connection_failed");
    assert.match(ended.message, /answer; perhaps its process ended \(see its log\), or it has no free connection$/);
    assert.equal(received, 0);
    const unencrypted = await failureOf(clientAt(`http://127.0.0.1:${port}`).invoke({ n: 1 }));
    assert.match(
      unencrypted.message,
      /: the server closed the connection without an answer; perhaps its process ended \(see its log\), its port uses TLS \(use https:\/\/\), or it has no free connection$/,
    );
  });

  test("the signal fires before the connection or while it is established", async () => {
    const counting = await Counting.start(answerWhole);
    await noByte(clientAt(counting.url).invoke({ n: 1 }, { signal: AbortSignal.abort() }), "aborted");
    const silent = await listen(createServer());
    const controller = new AbortController();
    const call = noByte(
      clientAt(`https://127.0.0.1:${silent}`).invoke({ n: 1 }, { signal: controller.signal }),
      "aborted",
    );
    setTimeout(() => controller.abort(), 20);
    await call;
    assert.equal(counting.total, 0);
  });

  test("the call waits for a socket of a limited agent", async () => {
    const counting = await Counting.start(() => {});
    const dispatcher = new Agent({ connections: 1 });
    after(() => dispatcher.destroy());
    const client = clientAt(counting.url, { dispatcher });
    const controller = new AbortController();
    const first = failureOf(client.invoke({ n: 1 }, { signal: controller.signal }));
    await until(() => counting.total === 1, "the first request");
    await noByte(client.invoke({ n: 2 }, { timeoutMs: 50 }), "timeout");
    controller.abort();
    assert.equal((await first).ran, "maybe");
    assert.equal(counting.total, 1);
  });

  test("a proxy refuses the tunnel or closes the connection, and is not tried endlessly", async () => {
    let asked = 0;
    const answers: ((socket: Socket) => void)[] = [
      (socket) => socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
      (socket) => socket.destroy(),
    ];
    for (const answer of answers) {
      asked = 0;
      const proxy = createServer((socket) => {
        socket
          .on("error", () => undefined)
          .once("data", () => {
            asked++;
            answer(socket);
          });
      });
      process.env.HTTPS_PROXY = `http://127.0.0.1:${await listen(proxy)}`;
      // An own agent, which reads the environment when it is made.
      await noByte(clientAt("https://tools.test", { tls: { ca: cert } }).invoke({ n: 1 }), "connection_failed");
      delete process.env.HTTPS_PROXY;
      assert.equal(asked, 1);
    }
  });

  test("a proxy of the environment whose address is not a URL; the next call reads it again", async () => {
    let asked = 0;
    const proxy = createServer((socket) => {
      asked++;
      socket.destroy();
    });
    const client = clientAt("http://tools.test", { tls: { ca: cert } });
    for (const uri of ["::no url", `http://127.0.0.1:${await listen(proxy)}`]) {
      process.env.HTTP_PROXY = uri;
      try {
        await noByte(client.invoke({ n: 1 }), "connection_failed");
      } finally {
        delete process.env.HTTP_PROXY;
      }
    }
    assert.equal(asked, 1);
  });
});

describe("ran is maybe: a byte was sent", () => {
  const cuts: Readonly<Record<string, (socket: Socket, text: string) => void>> = {
    "cut at the first byte": (socket) => socket.resetAndDestroy(),
    "cut after the whole request": (socket, text) => isWhole(text) && socket.resetAndDestroy(),
    "closed after the whole request": (socket, text) => isWhole(text) && socket.end(),
    "cut within the head of the answer": (socket, text) =>
      isWhole(text) && socket.write(HEAD.slice(0, 20), () => socket.destroy()),
    "cut within the body of the answer": (socket, text) => isWhole(text) && socket.write(HEAD, () => socket.destroy()),
    "no answer of HTTP": (socket, text) => isWhole(text) && socket.write("220 smtp ready\r\n"),
  };
  for (const [title, react] of Object.entries(cuts)) {
    test(title, async () => {
      const counting = await Counting.start(react);
      const { code, ran, request } = await failureOf(clientAt(counting.url).invoke({ n: 1 }));
      assert.deepEqual([code, ran, counting.total], ["connection_failed", "maybe", 1]);
      assert.ok(request);
    });
  }

  test("no answer within the timeout, and a signal that fires during the call", async () => {
    const controller = new AbortController();
    const counting = await Counting.start((_socket, text) => isWhole(text) && controller.abort());
    const { code, ran } = await failureOf(clientAt(counting.url).invoke({ n: 1 }, { signal: controller.signal }));
    assert.deepEqual([code, ran], ["aborted", "maybe"]);
    await attempt("a request within its timeout", async () => {
      const before = counting.total;
      const late = await failureOf(clientAt(counting.url).invoke({ n: 1 }, { timeoutMs: 200 }));
      assert.equal(late.code, "timeout");
      return late.ran === "maybe" && counting.total === before + 1;
    });
  });
});

describe("nothing is sent twice", () => {
  /** Points at which a kept connection is closed when it is used again. */
  const points: Readonly<Record<string, (socket: Socket, text: string, requests: number) => void>> = {
    "right after its answer": (socket, text) => isWhole(text) && socket.write(ANSWER, () => socket.destroy()),
    "half-closed after its answer": (socket, text) => isWhole(text) && socket.end(ANSWER),
    "by Connection: close": (socket, text) =>
      isWhole(text) &&
      socket.end(ANSWER.toString("latin1").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"), "latin1"),
    "some time after its answer": (socket, text) => {
      if (isWhole(text)) socket.write(ANSWER, () => setTimeout(() => socket.resetAndDestroy(), Math.random() * 3));
    },
    "at the next request": (socket, text, requests) =>
      requests > 1 ? socket.resetAndDestroy() : answerWhole(socket, text),
    "within the next request": (socket, text, requests) =>
      requests > 1 && text.length > 300 ? socket.destroy() : answerWhole(socket, text),
    "after the next request": (socket, text, requests) => {
      if (requests === 1) answerWhole(socket, text);
      else if (isWhole(text)) socket.end();
    },
    "within the next answer": (socket, text, requests) => {
      if (requests === 1) answerWhole(socket, text);
      else if (isWhole(text)) socket.write(ANSWER.subarray(0, HEAD.length + 1), () => socket.resetAndDestroy());
    },
    "with bytes that nobody asked for": (socket, text) =>
      isWhole(text) && socket.write(Buffer.concat([ANSWER, ANSWER])),
  };
  for (const [point, react] of Object.entries(points)) {
    test(`when a server closes a kept connection ${point}`, async () => {
      const counting = await Counting.start(react);
      const client = clientAt(counting.url);
      const nonces: [nonce: string, ran: string][] = [];
      const call = async (i: number) => {
        const request = client.sign({ n: i });
        const ran = await client.send(request, { timeoutMs: 20_000 }).then(
          () => "yes",
          (error: LeaderError) => error.ran,
        );
        nonces.push([Buffer.from(request.nonce).toString("base64url"), ran]);
      };
      for (let round = 0; round < 12; round++) {
        await Promise.all([0, 1, 2].map((i) => call(3 * round + i)));
        if (round % 3 === 0) await new Promise((resolve) => setTimeout(resolve, round % 2));
      }
      for (const [nonce, ran] of nonces) {
        const count = counting.seen.get(nonce) ?? 0;
        assert.ok(count <= 1, `sent ${count} times`);
        if (ran === "no") assert.equal(count, 0, "ran is no, but the server has it");
        if (ran === "yes") assert.equal(count, 1);
      }
      assert.ok(nonces.some(([, ran]) => ran === "yes"));
    });
  }

  test("by an agent that retries", async () => {
    const counting = await Counting.start(
      (socket, text) => isWhole(text) && socket.write("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"),
    );
    const agent = new Agent();
    const dispatcher = new RetryAgent(agent, { methods: ["POST"], minTimeout: 1, maxRetries: 3 });
    after(() => dispatcher.destroy());
    const { ran } = await failureOf(clientAt(counting.url, { dispatcher }).invoke({ n: 1 }, { timeoutMs: 5_000 }));
    assert.deepEqual([ran, counting.total], ["maybe", 1]);
  });
});

describe("an agent passed to the client", () => {
  test("MockAgent answers", async () => {
    const dispatcher = new MockAgent();
    dispatcher.disableNetConnect();
    const pool = dispatcher.get("https://tools.example");
    const headers = { "Content-Type": RESULT_TYPE };
    pool.intercept({ path: "/a/invoke", method: "POST" }).reply(200, DONE, { headers });
    pool
      .intercept({ path: "/a/invoke", method: "POST" })
      .reply(429, { error: "rate_limited" }, { headers: { "Retry-After": "9" } });
    const client = clientAt("https://tools.example/a", { dispatcher });
    assert.equal((await client.invoke({ n: 1 })).tag, "done");
    const { code, ran, retryAfter } = await failureOf(client.invoke({ n: 1 }));
    assert.deepEqual([code, ran, retryAfter], ["rate_limited", "no", 9]);
    await dispatcher.close();
  });

  test("a proxy, explicit or from the environment; never for this machine", async () => {
    const counting = await Counting.start(answerWhole);
    const tunnels: string[] = [];
    const proxy = createServer((socket) => {
      socket
        .on("error", () => undefined)
        .once("data", (chunk) => {
          tunnels.push(chunk.toString().split(" ")[1] ?? "");
          const target = new URL(counting.url);
          import("node:net").then(({ connect }) => {
            const server = connect(Number(target.port), target.hostname);
            server.on("error", () => undefined);
            socket.write("HTTP/1.1 200 OK\r\n\r\n");
            socket.pipe(server).pipe(socket);
          });
        });
    });
    const uri = `http://127.0.0.1:${await listen(proxy)}`;
    const dispatcher = new ProxyAgent(uri);
    after(() => dispatcher.destroy());
    assert.equal((await clientAt("http://tools.test", { dispatcher }).invoke({ n: 1 })).tag, "done");
    process.env.HTTP_PROXY = uri;
    const tls = { servername: "tools.test" };
    assert.equal((await clientAt("http://other.test", { tls }).invoke({ n: 1 })).tag, "done");
    for (const host of ["127.0.0.1", "[::ffff:127.0.0.1]"]) {
      const url = counting.url.replace("127.0.0.1", host);
      assert.equal((await clientAt(url, { tls }).invoke({ n: 1 })).tag, "done");
    }
    delete process.env.HTTP_PROXY;
    assert.deepEqual(tunnels, ["tools.test:80", "other.test:80"]);
  });

  test("mutual TLS: the client's own certificate", async () => {
    const own = makeCertificate({ name: "client" });
    const subjects: unknown[] = [];
    const server = createTlsServer({ cert, key, ca: own.cert, requestCert: true }, (socket) => {
      subjects.push(socket.getPeerCertificate().subject.CN);
      socket.on("data", () => socket.end(ANSWER));
    });
    const tls = { ca: cert, cert: own.cert, key: own.key };
    await clientAt(`https://127.0.0.1:${await listen(server)}`, { tls }).invoke({ n: 1 });
    assert.deepEqual(subjects, ["client"]);
    assert.throws(
      () => clientAt("https://a.example", { tls, dispatcher: new MockAgent() }),
      /tls: cannot be combined with a dispatcher/,
    );
  });
});
