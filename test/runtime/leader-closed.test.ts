/** The client fails closed: what is misspelt, contradictory or has no exact form is refused, and nothing is sent. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { JsonText, LeaderClient, type LeaderOptions, readRequest, WalrusValue } from "svc-runtime/leader";
import { agentOf, DONE, documentOf, failureOf, leader, RESULT_TYPE } from "./leader-scene.js";

const document = (fqn: string) => documentOf(fqn, { any: {}, list: { type: "array" } });
const DOCUMENT = document("xyz.test.closed@1");
const input = { any: 1, list: [1] };

const { sent, dispatcher } = agentOf([{ headers: { "content-type": RESULT_TYPE }, body: DONE }]);
const clientOf = (options: object = {}, text = DOCUMENT) =>
  LeaderClient.fromMetadata(text, { leader, acceptUnverified: true, dispatcher, ...options });
const client = clientOf();

/** What refuses a call, of which nothing is sent. */
async function refusal(call: () => unknown): Promise<string> {
  const before = sent.length;
  const error = await (async () => call())().then(
    () => assert.fail("expected a refusal"),
    (reason: unknown) => reason,
  );
  assert.equal(sent.length, before, "nothing is sent");
  return String(error);
}

describe("options", () => {
  const connect = (options: object) => LeaderClient.connect("http://127.0.0.1:1", options);

  for (const [options, message] of [
    [{ toolKeys: [] }, /^TypeError: connect: no option "toolKeys"; did you mean toolKey\?$/],
    [null, /^TypeError: connect: expected an object, got null$/],
    [{ contracts: {} }, /^TypeError: connect: contracts: expected the list .*, got an object$/],
    [{ allowHttp: "yes" }, /^TypeError: connect: allowHttp: expected true or false, got a string$/],
    [{ dispatcher: {} }, /^TypeError: connect: dispatcher: expected a dispatcher of .*, got an object$/],
    [{ observe: [] }, /^TypeError: connect: observe: expected a function, got an array$/],
    [{ tls: { cas: "" } }, /^TypeError: tls: no option "cas"; did you mean ca\?$/],
    [{ leader: { ...leader, kid: 1 } }, /^TypeError: leader: no option "kid"; did you mean keyId\?$/],
    [{ leader: { ...leader, keyId: -1 } }, /^RangeError: leader keyId: expected an integer from 0 to 2\^64-1, got a/],
    [{ leader: { ...leader, key: "00" } }, /^RangeError: leader key: expected .*, got 2 hex digits$/],
    [{ leader, toolKey: "00" }, /^RangeError: tool key: expected 64 hex digits .*, got 2 hex digits$/],
  ] as const) {
    test(`of connect are refused: ${message.source}`, async () => {
      const trust = options !== null && "leader" in options && !("toolKey" in options) && { acceptUnverified: true };
      assert.match(await refusal(() => connect(trust ? { ...options, ...trust } : (options as never))), message);
    });
  }

  for (const [options, message] of [
    [{ timeoutMS: 5 }, /^TypeError: invoke: no option "timeoutMS"; did you mean timeoutMs/],
    [{ retry: true }, /^TypeError: invoke: no option "retry"/],
    [{ signal: new AbortController() }, /^TypeError: invoke: signal: expected an Abort/],
    [{ nonce: "x" }, /^TypeError: invoke: nonce: expected a Uint8Array of 32 bytes/],
    [{ deadline: 5000 }, /^TypeError: deadline: .*, got a duration: add it to Date.now\(\)$/],
    [{ repeat: "yes" }, /^TypeError: invoke: repeat: expected true or false, got a string$/],
  ] as const) {
    test(`of invoke are refused: ${message.source}`, async () => {
      assert.match(await refusal(() => client.invoke(input, options as never)), message);
    });
  }

  test("unknown names are refused by every method", async () => {
    const unknown = { sginal: 1 } as never;
    const calls = {
      fromMetadata: () => clientOf(unknown),
      send: () => client.send(client.sign(input), unknown),
      repeat: () => client.repeat(client.sign(input), unknown),
      sign: () => client.sign(input, unknown),
      invokeUnsigned: () => client.invokeUnsigned(input, unknown),
      health: () => client.health(unknown),
      refresh: () => client.refresh(unknown),
      close: () => client.close(unknown),
    };
    for (const [name, call] of Object.entries(calls)) {
      assert.match(await refusal(call), new RegExp(`^TypeError: ${name}: no option "sginal"`));
    }
    assert.match(await refusal(() => clientOf({ timeoutMs: 5 })), /no option "timeoutMs"; it has leader, toolKey/);
    assert.match(await refusal(() => client.sign(input, { nonce: null } as never)), /sign: nonce: .* got null$/);
  });

  test("a leader's key without a tool's key requires acceptUnverified", async () => {
    const bare = (options: object) => () => LeaderClient.fromMetadata(DOCUMENT, { dispatcher, ...options });
    assert.match(
      await refusal(bare({ leader })),
      /^TypeError: toolKey: expected the tool's public key, got none; `acceptUnverified/,
    );
    assert.match(await refusal(bare({ leader, toolKey: undefined })), /^TypeError: toolKey/);
    assert.match(
      await refusal(bare({ leader, acceptUnverified: 1 })),
      /^TypeError: fromMetadata: acceptUnverified: expected true or false, got a number$/,
    );
    assert.match(
      await refusal(bare({ leader, acceptUnverified: true, toolKey: "00" })),
      /^TypeError: acceptUnverified: cannot be combined/,
    );
    await refusal(() => LeaderClient.connect("http://127.0.0.1:1", { leader }));
    bare({})();
    assert.equal((await client.invoke(input)).signature, "unsigned");
  });

  test("an address with more than scheme, host and path is refused", async () => {
    for (const [url, extra] of [
      ["https://canary@tools.example/sum", "a user name or password"],
      ["https://:canary@tools.example/sum", "a user name or password"],
      ["https://tools.example/sum?canary=1", "a query"],
    ] as const) {
      const expected = `TypeError: url: expected scheme, host and path alone, got ${extra} too`;
      assert.equal(await refusal(() => clientOf({ url })), expected);
      assert.equal(await refusal(() => LeaderClient.connect(url)), expected);
    }
  });

  test("signed requests over http: to another machine require allowHttp", async () => {
    const at = (url: string, options: LeaderOptions = {}) => clientOf({ url, ...options });
    for (const url of ["http://tools.example", "http://10.0.0.1:8080/a", "http://127.example.org", "http://[::2]"]) {
      assert.match(
        await refusal(() => at(url)),
        /^TypeError: url: expected https, because .*; set `allowHttp: true`/,
        url,
      );
      at(url, { allowHttp: true });
      LeaderClient.fromMetadata(DOCUMENT, { url, dispatcher });
    }
    const near = ["http://localhost:1", "http://127.0.0.2", "http://[::1]", "http://[::ffff:127.0.0.1]"];
    for (const url of [...near, "https://tools.example"]) at(url);
    const named = DOCUMENT.replace("127.0.0.1:1", "tools.example");
    assert.match(await refusal(() => clientOf({}, named)), /^TypeError: url: expected https/, "of the document");
    assert.match(
      await refusal(() => LeaderClient.connect("http://tools.example", { leader, acceptUnverified: true })),
      /https/,
    );
  });

  test("a timeout is an integer of milliseconds", async () => {
    for (const timeoutMs of [0, -5, Number.NaN, 1.5, 2 ** 31, Number.POSITIVE_INFINITY, "5" as never]) {
      for (const call of [
        () => client.invoke(input, { timeoutMs }),
        () => client.invokeUnsigned(input, { timeoutMs }),
        () => client.health({ timeoutMs }),
        () => LeaderClient.connect("http://127.0.0.1:1", { timeoutMs }),
      ]) {
        assert.match(await refusal(call), /^RangeError: timeoutMs: expected an integer from 1 to 2147483647/);
      }
    }
  });

  test("a deadline is a time in the future", async () => {
    for (const deadline of [Number.NaN, new Date("no date"), "2099-01-01" as never, null as never]) {
      const message = await refusal(() => client.invoke(input, { deadline }));
      assert.match(
        message,
        /^TypeError: deadline: expected a valid Date or milliseconds since 1970, got another value$/,
      );
    }
    assert.equal((await client.invoke(input, { deadline: Date.now() + 60_000 })).tag, "done");
  });
});

describe("inputs", () => {
  test("only objects", async () => {
    for (const [value, got] of [
      [null, "null"],
      [undefined, "nothing"],
      ["text", "a string"],
      [[], "an array"],
    ] as const) {
      const message = new RegExp(`invalid_input: expected an object with the input ports, got ${got}$`);
      assert.match(await refusal(() => client.invoke(value as never)), message);
      assert.match(await refusal(() => client.invokeUnsigned(value as never)), message);
    }
  });

  test("values that JSON.stringify would send as {} or as their parts are refused, with the path", async () => {
    const blob = new WalrusValue(Buffer.from("A".repeat(43)), Buffer.alloc(32));
    const values: [value: unknown, got: string][] = [
      [Promise.resolve(1), "a Promise"],
      [new ArrayBuffer(1), "an ArrayBuffer"],
      [new Error("x"), "an Error"],
      [/x/, "a RegExp"],
      [(function* () {})(), "a Generator"],
      [new Map(), "a Map"],
      [new Set(), "a Set"],
      [new WeakMap(), "a WeakMap"],
      [new Uint16Array(1), "an Uint16Array"],
      [Object("text"), "a String"],
      [new URLSearchParams("a=1"), "an URLSearchParams"],
      [new JsonText("1"), "a JsonText"],
      [blob, "a WalrusValue"],
    ];
    for (const [value, got] of values) {
      assert.match(
        await refusal(() => client.sign({ any: { deep: [value] }, list: [1] })),
        new RegExp(`invalid_input: any\\.deep\\[0\\]: expected a JSON value, got ${got}$`),
      );
    }
    const own = new (class Point {
      x = 1;
    })();
    assert.match(Buffer.from(client.sign({ any: own, list: [1] }).body).toString(), /"data":\{"x":1\}/);
  });
});

describe("a stored request", () => {
  test("JSON.stringify returns a form that another client can read and send", async () => {
    const request = client.sign(input);
    const text = JSON.stringify({ step: 1, request });
    const stored = JSON.parse(text).request;
    assert.deepEqual(Object.keys(stored), ["version", "fqn", "headers", "body", "since"]);
    const read = readRequest(stored);
    assert.deepEqual(readRequest(JSON.stringify(request)).body, read.body);
    const { attempts: _, ...parts } = read;
    const { attempts: __, ...own } = request;
    assert.deepEqual(parts, own);
    assert.equal(JSON.stringify(read), JSON.stringify(request), "and is stored again as it was");
    await clientOf().send(read);
    assert.deepEqual(Buffer.from(sent.at(-1)?.body ?? []), request.body);
    assert.equal(sent.at(-1)?.headers["X-Svc-Nonce"], request.headers["X-Svc-Nonce"]);
    const failed = await failureOf(client.send(readRequest(stored), { signal: AbortSignal.abort() }));
    assert.equal(failed.ran, "maybe", "the process that stored it may have sent it");
  });

  test("parsed JSON instead of a request is refused, and so is a request for another tool", async () => {
    const parsed = JSON.parse(JSON.stringify(client.sign(input)));
    for (const given of [parsed, undefined]) {
      assert.match(
        await refusal(() => client.send(given)),
        /^TypeError: request: expected a request returned by `sign` or `readRequest`/,
      );
    }
    const other = clientOf({}, document("xyz.test.other@1"));
    const message =
      /^TypeError: request: expected one signed for xyz\.test\.other@1, got one signed for xyz\.test\.closed@1$/;
    assert.match(await refusal(() => other.send(client.sign(input))), message);
    assert.match(await refusal(() => other.repeat(readRequest(parsed))), message);
  });

  test("other forms are refused", () => {
    const stored = JSON.parse(JSON.stringify(client.sign(input)));
    const cases: [change: unknown, message: RegExp][] = [
      ["{", /expected JSON$/],
      ["null", /expected an object, got null$/],
      [{ ...stored, version: 2 }, /expected version 1, got 2$/],
      [{ ...stored, version: undefined }, /expected version 1, got none$/],
      [{ ...stored, headers: {} }, /headers: expected Input-Hash with 32 bytes/],
      [{ ...stored, headers: { ...stored.headers, "X-Svc-Nonce": "AA" } }, /headers: expected Nonce with 32 bytes/],
      [{ ...stored, body: "no base64" }, /body: expected base64, got another value$/],
      [{ ...stored, since: "now" }, /since: expected milliseconds/],
      [{ ...stored, memory: "a b" }, /memory: expected the name/],
      [{ ...stored, fqn: 1 }, /fqn: expected a string, got another value$/],
    ];
    for (const [change, message] of cases) {
      assert.throws(
        () => readRequest(change as never),
        (error: Error) => {
          assert.ok(error instanceof TypeError);
          assert.match(error.message, message);
          return true;
        },
      );
    }
  });
});

test("the user agent contains the version of the package", async () => {
  await client.invoke(input);
  const { version } = JSON.parse(readFileSync(new URL("../../runtime/package.json", import.meta.url), "utf8"));
  assert.equal(sent.at(-1)?.headers["User-Agent"], `svc-runtime/${version}`);
});

test("one signal for hundreds of calls has one listener, without a warning by Node", async () => {
  const warnings: Error[] = [];
  process.on("warning", (warning) => warnings.push(warning));
  const { signal } = new AbortController();
  const silent = clientOf({ dispatcher: { dispatch: () => true } });
  const calls = Array.from({ length: 200 }, () => silent.invoke(input, { signal }).catch(() => undefined));
  await new Promise((resolve) => setImmediate(resolve));
  silent.destroy();
  await Promise.all(calls);
  assert.deepEqual(warnings, []);
});
