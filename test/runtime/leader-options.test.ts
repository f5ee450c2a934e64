/** Every option, default and limit of the leader's client, against one server that answers what a test says. */

import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { Agent } from "undici";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { selectEngine } from "#client/wire/signature/ed25519.js";
import {
  buildEnvelope,
  type CallOptions,
  LeaderClient,
  LeaderError,
  type LeaderOptions,
  signRequest,
} from "#runtime/leader.js";
import { makeCertificate } from "./certificate.js";
import { holdTimers } from "./held-timers.js";
import { documentOf, failureOf, leader, RESULT_TYPE } from "./leader-scene.js";

const RESULT = { "Content-Type": RESULT_TYPE };
const input = { n: 1, list: [1] };

const OUTPUT = { type: "object", properties: { ok: { type: "object", properties: { n: {} } } } };
const DOCUMENT = documentOf("xyz.test.answers@1", { n: {}, list: { type: "array" } }, OUTPUT);

/** What the server answers; nothing by default. */
let answer: ((response: ServerResponse) => void) | undefined;
const ports: (number | undefined)[] = [];
const listener: Parameters<typeof createServer>[1] = (request, response) => {
  ports.push(request.socket.remotePort);
  request.resume().once("end", () => answer?.(response));
};
const server = createServer(listener);
const { cert, key } = makeCertificate();
/** Its TLS is the oldest that the client takes. */
const secure = createSecureServer({ cert, key, maxVersion: "TLSv1.2" }, listener);
let url = "";
const portOf = (listening: typeof server | typeof secure) => (listening.address() as AddressInfo).port;

before(async () => {
  for (const each of [server, secure]) {
    // A machine that stands still must not end a connection.
    each.keepAliveTimeout = 0;
    await once(each.listen(0, "127.0.0.1"), "listening");
  }
  url = `http://127.0.0.1:${portOf(server)}`;
});
after(() => {
  for (const each of [server, secure]) {
    each.closeAllConnections();
    each.close();
  }
});

const ok = encodeOutput({ tag: "ok", ports: [{ name: "n", values: [{ kind: "inline", bytes: Buffer.from("1") }] }] });
const answerResult = (response: ServerResponse) => response.writeHead(200, RESULT).end(ok);

/** A client of the server, for one test. */
async function withClient(
  options: LeaderOptions & { url?: string },
  use: (client: LeaderClient) => unknown,
): Promise<void> {
  const client = LeaderClient.fromMetadata(DOCUMENT, { leader, url, acceptUnverified: true, ...options });
  try {
    await use(client);
  } finally {
    client.close();
  }
}

const fails =
  (code: string, message = /^/) =>
  (error: unknown) => {
    assert.ok(error instanceof LeaderError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  };

/** Each kind of request. */
const REQUESTS: Readonly<Record<string, (client: LeaderClient, options: CallOptions) => Promise<unknown>>> = {
  connect: (_client, options) => LeaderClient.connect(url, options),
  invoke: (client, options) => client.invoke(input, options),
  invokeUnsigned: (client, options) => client.invokeUnsigned(input, options),
  health: (client, options) => client.health(options),
};

for (const [name, send] of Object.entries(REQUESTS)) {
  for (const given of [undefined, 4_321]) {
    const expected = given ?? (name === "connect" ? 10_000 : 30_000);
    test(`${name}: ${given === undefined ? "by default" : "timeoutMs"} ${expected} ms for the whole answer`, async () => {
      answer = (response) => response.write("a");
      const timers = holdTimers();
      try {
        await withClient({}, async (client) => {
          const call = send(client, given === undefined ? {} : { timeoutMs: given });
          const refused = assert.rejects(call, fails("timeout", new RegExp(`within ${expected} ms$`)));
          const late = timers.waiting.filter(({ ms }) => ms > expected / 2 && ms <= expected);
          assert.equal(late.length, 1, `${timers.started}`);
          late[0]?.fire();
          await refused;
        });
      } finally {
        timers.restore();
      }
    });
  }

  test(`${name}: the signal ends it`, async () => {
    answer = undefined;
    await withClient({}, async (client) => {
      const controller = new AbortController();
      const call = assert.rejects(send(client, { signal: controller.signal }), fails("aborted"));
      controller.abort();
      await call;
    });
  });

  const [limit, what] = name === "connect" ? [4_194_304, DOCUMENT] : [1_048_576, ""];
  test(`${name}: an answer of ${limit} bytes is read, and one byte more is not`, async () => {
    await withClient({}, async (client) => {
      const outcomeOf = (bytes: number) => {
        answer = (response) => response.writeHead(200, RESULT).end(what.padEnd(bytes));
        return send(client, {}).then(
          (read) => {
            if (read instanceof LeaderClient) read.close();
            return "read";
          },
          (error: LeaderError) => error.code,
        );
      };
      // What is read of a call is too long for a result.
      assert.equal(await outcomeOf(limit), name.startsWith("invoke") ? "invalid_answer" : "read");
      assert.equal(await outcomeOf(limit + 1), "answer_too_large");
    });
  });
}

/** Answers requests as given, and resolves when the connection of the last one has ended. */
function connectionEnd(answered: (response: ServerResponse) => void): Promise<unknown> {
  return new Promise((ended) => {
    answer = (response) => {
      response.req.socket.once("close", ended);
      answered(response);
    };
  });
}

const ENDS = { timeout: 60_000 };

test(
  "an answered and an aborted call remove their listeners from the signal; the latter closes its connection",
  ENDS,
  async () => {
    const controller = new AbortController();
    const { signal } = controller;
    answer = answerResult;
    await withClient({}, (client) => client.invoke(input, { signal }));
    assert.deepEqual(getEventListeners(signal, "abort"), []);
    const ended = connectionEnd((response) => {
      response.writeHead(200, RESULT).write("a");
      controller.abort();
    });
    await withClient({}, async (client) => {
      await assert.rejects(client.invoke(input, { signal }), fails("aborted"));
      await ended;
    });
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  },
);

test("connect: a failure keeps no connection open", ENDS, async () => {
  const ended = connectionEnd((response) => response.end("{}"));
  await assert.rejects(LeaderClient.connect(url), fails("invalid_metadata"));
  await ended;
});

test("fqn: metadata of another tool is refused, also from a document", async () => {
  answer = (response) => response.end(DOCUMENT);
  const wrong = { fqn: "xyz.test.other@1" };
  assert.throws(() => LeaderClient.fromMetadata(DOCUMENT, wrong), fails("invalid_metadata"));
  await assert.rejects(LeaderClient.connect(url, wrong), fails("invalid_metadata"));
  LeaderClient.fromMetadata(DOCUMENT, { fqn: "xyz.test.answers@1" });
});

test("headerPrefix: X-Svc- by default, also for a request signed without a client", async () => {
  const envelope = buildEnvelope([], {});
  for (const headerPrefix of ["X-Svc-", "X-Nexus-"]) {
    const option = headerPrefix === "X-Svc-" ? {} : { headerPrefix };
    const own = signRequest(envelope, leader, option).headers;
    await withClient(option, (client) => {
      for (const headers of [own, client.sign(input).headers]) {
        const names = Object.keys(headers).filter((name) => name !== "Content-Type");
        assert.equal(names.length, 6);
        for (const name of names) assert.ok(name.startsWith(headerPrefix), name);
      }
    });
  }
});

test("engine: the given one signs", () => {
  const { engine } = selectEngine();
  let signed = 0;
  const counting = {
    ...engine,
    name: engine.name,
    verify: engine.verify.bind(engine),
    sign: (...args: Parameters<typeof engine.sign>) => {
      signed++;
      return engine.sign(...args);
    },
  };
  signRequest(buildEnvelope([], {}), leader, { engine: counting });
  assert.equal(signed, 1);
});

test("leader: keys of 0 to 2^64-1, ids of visible ASCII", () => {
  const signedBy = (more: object) => signRequest(buildEnvelope([], {}), { ...leader, ...more }).headers;
  for (const keyId of [0, 0n, 2n ** 64n - 1n]) assert.equal(signedBy({ keyId })["X-Svc-Leader-Key-Id"], `${keyId}`);
  for (const keyId of [-1, -1n, 2n ** 64n, 0.5, 2 ** 53]) assert.throws(() => signedBy({ keyId }), RangeError);
  for (const id of ["!", "~"]) assert.equal(signedBy({ id })["X-Svc-Leader-Id"], id);
  for (const id of ["", " ", "\x7f", "a b"]) assert.throws(() => signedBy({ id }), /leader id: expected visible ASCII/);
});

for (const scheme of ["http", "https"]) {
  test(`connections are kept: ${scheme}`, async () => {
    answer = answerResult;
    ports.length = 0;
    const agent = new Agent();
    const tls = { url: `https://127.0.0.1:${portOf(secure)}`, tls: { ca: cert } };
    // An agent without the idle connections of other tests.
    await withClient(scheme === "https" ? tls : { dispatcher: agent }, async (client) => {
      for (let i = 0; i < 3; i++) {
        await client.invokeUnsigned(input);
        await nextTurn();
      }
      assert.equal(new Set(ports).size, 1);
    });
    await agent.close();
  });
}

test("tls: ca contains the trusted certificates, servername the name to verify", async () => {
  answer = answerResult;
  const address = `https://127.0.0.1:${portOf(secure)}`;
  const invoke = (tls: NonNullable<LeaderOptions["tls"]> | undefined) => {
    const client = LeaderClient.fromMetadata(DOCUMENT, { url: address, ...(tls !== undefined && { tls }) });
    return client.invokeUnsigned(input).finally(() => client.close());
  };
  for (const ca of [cert, Buffer.from(cert), [cert]]) {
    assert.equal((await invoke({ ca, servername: "localhost" })).tag, "ok");
  }
  await assert.rejects(
    invoke(undefined),
    fails("connection_failed", /SELF_SIGNED_CERT: .*; pass its certificate as `ca`/),
  );
  await assert.rejects(invoke({ servername: "localhost" }), fails("connection_failed"));
  await assert.rejects(
    invoke({ ca: cert, servername: "other.example" }),
    fails("connection_failed", /ALTNAME.*another host name/),
  );
});

test("an error answer: at most 1,000 characters of details and nine digits of Retry-After", async () => {
  const errorOf = async (error: string, details: string, retryAfter: string) => {
    answer = (response) => {
      response
        .writeHead(429, { "Retry-After": retryAfter, "X-Request-Id": "id-1" })
        .end(JSON.stringify({ error, details }));
    };
    const client = LeaderClient.fromMetadata(DOCUMENT, { url });
    const refused = await failureOf(client.invokeUnsigned(input).finally(() => client.close()));
    assert.equal(refused.with({}).requestId, "id-1");
    return [refused.code, refused.details?.length, refused.retryAfter];
  };
  const code = "rate_limited";
  assert.deepEqual(await errorOf(code, "d".repeat(1_000), "999999999"), [code, 1_000, 999_999_999]);
  assert.deepEqual(await errorOf(code, "d".repeat(1_001), "1000000000"), [code, 1_000, undefined]);
  const long = "e".repeat(64);
  assert.deepEqual((await errorOf(long, "d", "1")).slice(0, 2), ["unknown_error", 67]);
  assert.equal((await errorOf(`${long}e`, "d", "1"))[0], "invalid_answer");
});
