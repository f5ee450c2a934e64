/** svc-runtime/leader against an in-process server, through sockets; and against servers that misbehave. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect } from "node:util";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { errEval, NexusValue, PermissionDenied, ReplayMemory } from "#runtime/index.js";
import {
  buildEnvelope,
  buildUnsignedBody,
  InputHasher,
  invocationNonce,
  JsonText,
  LeaderClient,
  LeaderError,
  type LeaderOptions,
  publicKeyOf,
  type Receipt,
  type ReceiptOptions,
  readMetadata,
  readReceipt,
  readRequest,
  type SignedRequest,
  signRequest,
  WalrusValue,
} from "#runtime/leader.js";
import { proves } from "../proves.js";
import { atEnd } from "../teardown.js";
import { type Answer, agentOf, failureOf, RESULT_TYPE } from "./leader-scene.js";
import { alice, bob, countingTool, many, one, serveFor, serveSigned, signerOf, TOOL_KEY } from "./tools.js";

const leader = signerOf(alice);

const ports = [
  { ...one("any"), held: true },
  one("big", { kind: "bigint" }),
  one("when", { kind: "date" }, true),
  one("blob", { kind: "bytes" }, true),
  many("list"),
];
const echo = countingTool({
  fqn: "xyz.test.echo@1",
  path: "a/echo",
  input: [...ports, one("say", { kind: "string" }, true)],
  output: [
    { name: "ok", ports },
    { name: "nothing", text: true, ports: [] },
  ],
  authorize: ({ leaderId }) => {
    if (leaderId === bob.id) throw new PermissionDenied("this leader is barred");
  },
  invoke: ({ say, any, ...others }) => {
    if (say === "nothing") return "nothing";
    if (say === "fail") return errEval("no \u{1f9ad} today");
    return { ok: { ...others, any: say === "store" ? NexusValue.walrus("A".repeat(43), Buffer.alloc(32, 1)) : any } };
  },
  health: () => 418,
});

const server = await serveSigned([echo]);

async function connect(options: LeaderOptions = { leader, toolKey: TOOL_KEY }, at = server.url): Promise<LeaderClient> {
  const client = await LeaderClient.connect(`${at}/a/echo/`, options);
  atEnd(() => client.destroy());
  return client;
}

const fails = (code: string, status?: number) => (error: unknown) => {
  assert.ok(error instanceof LeaderError, `expected a LeaderError, got ${String(error)}`);
  assert.equal(error.code, code, error.message);
  assert.equal(error.status, status);
  return true;
};

const input = { any: { a: [1, "x"] }, big: 1n, list: [1] };

describe("signed calls", async () => {
  const client = await connect();

  test("values are returned exactly as they were sent", async () => {
    const sent = {
      any: {
        z: [1, 1.5, -0.25, 1e300, true, null, "\u{1f9ad}\n\u0001/"],
        big: 2n ** 64n - 1n,
        small: -(2n ** 63n),
        __proto__x: {},
        when: new Date(0),
        bytes: Uint8Array.of(1, 2, 3),
        left: undefined,
      },
      big: 2n ** 64n - 1n,
      when: new Date("2024-02-29T12:00:00.123Z"),
      blob: Uint8Array.of(0, 255),
      list: [[], {}, "x", 9007199254740993n],
    };
    const { tag, value, signature, bcs, outputHash, toolSignature } = await client.invoke(sent);
    assert.equal(tag, "ok");
    assert.equal(signature, "verified");
    assert.equal(outputHash.length, 32);
    assert.equal(toolSignature?.length, 64);
    assert.ok(bcs.length > 100);
    assert.deepEqual(value, {
      any: {
        z: [1, 1.5, -0.25, 1e300, true, null, "\u{1f9ad}\n\u0001/"],
        big: 2n ** 64n - 1n,
        small: -(2n ** 63n),
        __proto__x: {},
        when: "1970-01-01T00:00:00.000Z",
        bytes: "AQID",
      },
      big: 2n ** 64n - 1n,
      when: "2024-02-29T12:00:00.123Z",
      blob: "AP8=",
      list: [[], {}, "x", 9007199254740993n],
    });
    assert.deepEqual((await client.invoke(input)).value, { ...input, big: 1, when: null, blob: null });
  });

  test("a variant without ports, the failure variant, a stored value", async () => {
    assert.deepEqual(await client.invoke({ ...input, say: "nothing" }).then(({ tag, value }) => ({ tag, value })), {
      tag: "nothing",
      value: {},
    });
    assert.deepEqual(await client.invoke({ ...input, say: "fail" }).then(({ tag, value }) => ({ tag, value })), {
      tag: "_err_eval",
      value: { reason: "no \u{1f9ad} today" },
    });
    const { value } = await client.invoke({ ...input, say: "store" });
    assert.ok(value.any instanceof WalrusValue);
    assert.deepEqual(value.list, [1]);
  });

  test("texts that are not canonical, long or deeply nested are sent as bytes and arrive unchanged", async () => {
    const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const cases: [text: string, kind: "data" | "bytes"][] = [
      ['{"b":1,"a":2}', "data"],
      ['{"b": 1}', "bytes"],
      ['{"a":1,"a":2}', "bytes"],
      ['"\\u0041"', "bytes"],
      ["1.0", "data"],
      ["1.00", "bytes"],
      ["1e2", "bytes"],
      ["1e+16", "data"],
      ["1e16", "bytes"],
      [`"${"x".repeat(61_438)}"`, "data"],
      [`"${"x".repeat(61_439)}"`, "bytes"],
      [deep(122), "data"],
      [deep(123), "bytes"],
      [deep(127), "bytes"],
      // A double whose shortest text serde_json reads as its neighbour.
      ["1849352.9318482745", "bytes"],
    ];
    for (const [text, kind] of cases) {
      const { body } = client.sign({ ...input, any: new JsonText(text) });
      const shown = text.slice(0, 30);
      const { value } = JSON.parse(body.toString()).ports[0] as { value: { one: object } };
      assert.deepEqual(Object.keys(value.one), ["kind", kind], shown);
      if (text.length > 61_440) continue;
      const { ports } = await client.invoke({ ...input, any: new JsonText(text) });
      assert.equal(ports[0]?.values.length, 1, shown);
    }
    const items = JSON.parse(
      client.sign({ ...input, list: [new JsonText(deep(121)), new JsonText(deep(122))] }).body.toString(),
    ).ports[4].value.many as object[];
    assert.deepEqual(
      items.map((item) => Object.keys(item)[1]),
      ["data", "bytes"],
    );
    await client.invoke({ ...input, list: [new JsonText(deep(121)), new JsonText(deep(122))] });
    proves("5.33");
  });

  test("a verified result has a receipt; without a verified signature there is none", async () => {
    const given = { ...input, blob: Uint8Array.of(7) };
    const result = await client.invoke(given);
    const keys = { leaderKey: publicKeyOf(alice.seed), toolKey: TOOL_KEY };
    const read = (options?: ReceiptOptions) =>
      readReceipt(JSON.stringify(result.receipt(options)), { ...keys, contracts: [echo.contract] });
    const { tool, leader: caller, inputs, result: received, claims } = read();
    assert.deepEqual([tool, caller.id, caller.keyId], ["xyz.test.echo@1", "alice", 0n]);
    assert.deepEqual([received.tag, received.value], ["ok", { ...given, big: 1n }]);
    assert.ok(claims.every(({ verdict, name }) => verdict === "true" || ["tool", "leader", "time"].includes(name)));
    assert.ok(inputs.every(({ values }) => values.every(({ text }) => text === undefined)));
    const texts = (options: ReceiptOptions) => read(options).inputs.map(({ values }) => values.map(({ text }) => text));
    assert.deepEqual(texts({ withInputs: ["big", "list"] }), [
      [undefined],
      ["1"],
      [undefined],
      [undefined],
      ["1"],
      [undefined],
    ]);
    assert.deepEqual(texts({ withInputs: true }), [['{"a":[1,"x"]}'], ["1"], ["null"], ['"Bw=="'], ["1"], ["null"]]);
    assert.throws(
      () => read({ withInputs: ["bog"] }),
      /^RangeError: withInputs: expected names of input ports: any, big/,
    );

    const stored = readRequest(JSON.stringify(client.sign(input)));
    const reader = await connect({ toolKey: TOOL_KEY });
    const other = await reader.send(stored);
    assert.throws(() => other.receipt(), /^TypeError: receipt: .* pass its public key as `leaderKey`/);
    assert.equal(other.receipt({ leaderKey: keys.leaderKey }).leader.id, "alice");
    const unverified = await (await connect({ leader, acceptUnverified: true })).invoke(input);
    assert.equal(unverified.signature, "unverified");
    assert.throws(
      () => unverified.receipt(),
      /^TypeError: receipt: expected a signed call and a client with `toolKey`/,
    );
  });

  test("a receipt that is not kept fails the call, and a repeat gets it again", async () => {
    const kept: Receipt[] = [];
    let isFull = true;
    const receipts = async (receipt: Receipt) => {
      if (isFull) throw new Error("no space left");
      kept.push(receipt);
    };
    const keeper = await connect({ leader, toolKey: TOOL_KEY, receipts });
    const before = echo.calls.invoked;
    const error = await failureOf(keeper.invoke(input, { repeat: true }));
    assert.deepEqual(
      [error.code, error.ran, (error.cause as Error).message],
      ["receipt_not_kept", "yes", "no space left"],
    );
    isFull = false;
    const again = await keeper.send(error.request as SignedRequest);
    assert.equal(echo.calls.invoked, before + 1);
    assert.deepEqual(kept, [{ ...again.receipt(), time: kept[0]?.time }]);
    await assert.rejects(
      LeaderClient.connect(server.url, { receipts, leader, acceptUnverified: true }),
      /^TypeError: receipts: expected also `leader` and `toolKey`/,
    );
  });

  test("a derived nonce is that of the invocation", async () => {
    const invocation = { executionId: Buffer.alloc(32, 14), walkIndex: 3n, vertexName: "vertex", iteration: 0n };
    const { nonce, headers } = client.sign(input, { nonce: invocation });
    assert.deepEqual(nonce, invocationNonce(invocation));
    assert.equal(headers["X-Svc-Nonce"], Buffer.from(nonce).toString("base64url"));
    assert.deepEqual(client.sign(input, { nonce: Buffer.alloc(32, 5) }).nonce, Buffer.alloc(32, 5));
    assert.throws(() => client.sign(input, { nonce: Buffer.alloc(31) }), /nonce: expected 32 bytes, got 31/);
  });

  test("inputs that do not fit are refused before anything is sent", () => {
    const refused = (value: object, text: RegExp) =>
      assert.throws(
        () => client.sign(value),
        (error) => fails("invalid_input")(error) && text.test((error as Error).message),
      );
    refused({ ...input, lits: [] }, /no input port "lits": it has "any", "big"/);
    refused({ ...input, list: [] }, /"list": expected an array of 1 to 256 values, got 0/);
    refused({ ...input, list: undefined }, /"list": expected an array of 1 to 256 values, got none/);
    refused({ ...input, list: Array.from({ length: 257 }, () => 1) }, /got 257/);
    client.sign({ ...input, list: Array.from({ length: 256 }, () => 1) });
    refused({ ...input, any: { x: [Number.NaN] } }, /any\.x\[0\]: expected a finite number, got NaN/);
    refused({ ...input, any: "\ud800" }, /any: expected well-formed text, got a lone surrogate/);
    refused({ ...input, big: 2n ** 64n }, /big: expected an integer from -2\^63 to 2\^64-1, got one outside/);
    refused({ ...input, any: () => 1 }, /any: expected a JSON value, got a function/);
    refused({ ...input, any: new Map() }, /any: expected a JSON value, got a Map/);
    refused({ ...input, when: new Date(Number.NaN) }, /when: expected a Date of the years 0 to 9999/);
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    refused({ ...input, any: cycle }, /at most 127 levels of nesting, got more, or a cycle/);
  });

  test("refusals of the server are errors with its code, status and details", async () => {
    const wrong = await failureOf(client.invoke({ ...input, big: 1.5 }));
    assert.deepEqual([wrong.code, wrong.status], ["input_deserialization_error", 422]);
    assert.match(wrong.message, /422 input_deserialization_error: big: expected an integer/);
    const barred = await failureOf((await connect({ leader: signerOf(bob), toolKey: TOOL_KEY })).invoke(input));
    assert.deepEqual([barred.code, barred.status, barred.details], ["permission_denied", 403, "this leader is barred"]);
  });

  test("the longest timeout, an expected name with leading zeros, health", async () => {
    assert.equal((await client.invoke(input, { timeoutMs: 2_147_483_647 })).tag, "ok");
    await connect({ fqn: "xyz.test.echo@001" });
    assert.equal(await client.health(), 418);
  });

  test("printing a client shows no key", () => {
    const printed = inspect(client, { depth: 10, showHidden: true });
    assert.ok(printed.startsWith("LeaderClient"));
    assert.ok(!printed.includes(alice.seed.toString("hex")));
    assert.ok(!/01 01 01|1, 1, 1/.test(printed));
  });
});

describe("other servers", () => {
  test("unsigned mode", async () => {
    const { url } = await serveFor([echo], { unsignedResults: "json" });
    const author = await connect({ toolKey: TOOL_KEY }, url);
    const result = await author.invokeUnsigned({ ...input, any: { n: 2n ** 60n }, list: ["a", 2] });
    assert.equal(result.signature, "unsigned");
    assert.deepEqual(result.value, { any: { n: 2n ** 60n }, big: 1, when: null, blob: null, list: ["a", 2] });
    assert.throws(() => author.sign(input), /create it with `leader/);
  });

  test("the header prefix of older leaders", async () => {
    const { url } = await serveSigned([echo], { headerPrefix: "X-Nexus-", replayStore: new ReplayMemory() });
    const older = await connect({ leader, toolKey: TOOL_KEY, headerPrefix: "X-Nexus-" }, url);
    assert.equal((await older.invoke(input)).signature, "verified");
    const newer = await connect({ leader, toolKey: TOOL_KEY }, url);
    await assert.rejects(newer.invoke(input), /: X-Nexus-Sig-V: missing; .* begin with X-Svc-: set headerPrefix/);
  });

  const document = fetch(`${server.url}/a/echo/meta`).then((response) => response.text());
  /** A call that gets this answer. */
  async function invokeAt(answer: Answer) {
    const { dispatcher } = agentOf([answer]);
    return LeaderClient.fromMetadata(await document, { leader, acceptUnverified: true, dispatcher }).invoke(input);
  }
  const result = (body: string | Uint8Array, headers: object = {}): Answer => ({
    headers: { "content-type": RESULT_TYPE, ...headers },
    body,
  });

  test("malformed answers", async () => {
    const nothing = encodeOutput({ tag: "nothing", ports: [] });
    const inline = (text: string) => ({ kind: "inline" as const, bytes: Buffer.from(text) });
    const ok = (change: (ports: { name: string; values: ReturnType<typeof inline>[] }[]) => void) => {
      const ports = ["any", "big", "when", "blob", "list"].map((name) => ({ name, values: [inline("1")] }));
      change(ports);
      return encodeOutput({ tag: "ok", ports });
    };
    assert.equal((await invokeAt(result(ok(() => {})))).signature, "unsigned");
    const wrong = [
      result(""),
      result("not bcs"),
      result(Buffer.concat([nothing, Buffer.of(0)])),
      result(nothing, { "content-type": "application/json" }),
      result(encodeOutput({ tag: "other", ports: [] })),
      result(ok((ports) => ports.reverse())),
      result(ok((ports) => ports.pop())),
      result(ok((ports) => ports[0]?.values.push(inline("2")))),
      result(ok((ports) => ports[4]?.values.pop())),
      result(ok((ports) => ports[0]?.values.splice(0, 1, inline("not json")))),
      result(ok((ports) => ports[0]?.values.splice(0, 1, inline(`"${"x".repeat(61_440)}"`)))),
      result(Buffer.alloc(262_145)),
    ];
    for (const answer of wrong) await assert.rejects(invokeAt(answer), fails("invalid_answer"));
    const refusals: [body: string, code: string, status: number][] = [
      ["<html>", "gateway_error", 502],
      ["<html>", "invalid_answer", 500],
      ['{"error":"new_code"}', "unknown_error", 400],
      ['{"error":"\\u001b[31mred"}', "invalid_answer", 418],
      ["[]", "invalid_answer", 500],
      ['{"error":"rate_limited","details":"slowly"}', "rate_limited", 429],
      ["", "invalid_answer", 302],
    ];
    for (const [body, code, status] of refusals) {
      await assert.rejects(invokeAt({ status, body }), fails(code, status));
    }
    const red = await failureOf(invokeAt({ status: 429, body: '{"error":"rate_limited","details":"a\\u001b[2Jb"}' }));
    assert.equal(red.details, "a\ufffd[2Jb");
    assert.match(
      (await failureOf(invokeAt({ status: 308, body: "" }))).details ?? "",
      /a redirect, which is not followed/,
    );
  });

  test("an incomplete set of signature headers is not a signature", async () => {
    const body = encodeOutput({ tag: "nothing", ports: [] });
    const signature = Buffer.alloc(64).toString("base64url");
    for (const headers of [
      { "x-svc-tool-signature": signature },
      { "x-svc-sig-v": "2", "x-svc-tool-signature": signature },
      { "x-svc-sig-v": "3", "x-svc-tool-signature": "AAAA" },
    ]) {
      await assert.rejects(invokeAt(result(body, headers)), fails("wrong_signature"));
    }
  });
});

describe("pieces", () => {
  test("bodies", () => {
    const ports = [
      { name: "n", many: false },
      { name: "many", many: true },
      { name: "gone", many: false },
    ];
    const value = { n: 5n, many: ["é", 1] };
    const { body, inputHash } = buildEnvelope(ports, value);
    assert.equal(
      body.toString(),
      '{"ports":[{"port_name":"n","value":{"one":{"kind":"data","data":5}}},' +
        '{"port_name":"many","value":{"many":[{"kind":"data","data":"é"},{"kind":"data","data":1}]}},' +
        '{"port_name":"gone","value":{"one":{"kind":"data","data":null}}}]}',
    );
    assert.deepEqual(buildEnvelope(ports, value, new InputHasher(ports)).inputHash, inputHash);
    assert.equal(buildUnsignedBody(ports, value).toString(), '{"n":5,"many":["é",1]}');
    assert.equal(buildUnsignedBody(ports, { ...value, gone: null }).toString(), '{"n":5,"many":["é",1],"gone":null}');
    assert.throws(() => buildUnsignedBody(ports, { ...value, extra: 1 }), fails("invalid_input"));
    proves("5.28");
  });

  test("leaders that no tool can know", () => {
    const envelope = buildEnvelope([], {});
    const sign = (change: object) => () => signRequest(envelope, { ...leader, ...change });
    assert.throws(sign({ id: undefined }), /leader id: expected visible ASCII characters, got undefined/);
    for (const key of [undefined, null, { publicKey: alice.seed }]) {
      assert.throws(sign({ key }), /^TypeError: leader key: expected a 32-byte private key in hex, .*, got /);
    }
    assert.throws(sign({ key: "secret text" }), (error) => !String(error).includes("secret text"));
    assert.throws(() => LeaderClient.fromMetadata("[]"), fails("invalid_metadata"));
    assert.throws(() => LeaderClient.fromMetadata({} as never), /^TypeError: metadata: expected the text or bytes/);
  });

  test("metadata documents", async () => {
    const one = (fqn: string) =>
      `{"fqn":"${fqn}","url":"http://localhost/x","timeout":5,"description":"d","input_schema":{"properties":{"2":{},"1":{}}},"output_schema":{"oneOf":[{"const":"ok"}]}}`;
    const list = `[${one("xyz.test.aa@1")}, ${one("xyz.test.bb@2")}]`;
    assert.equal(readMetadata(list, "xyz.test.bb@02").fqn, "xyz.test.bb@2");
    assert.throws(() => readMetadata(list), /expected one tool, got 2: name the tool/);
    assert.throws(() => readMetadata(list, "xyz.test.cc@1"), /expected xyz\.test\.cc@1, got none/);
    const client = LeaderClient.fromMetadata(one("xyz.test.aa@1"));
    assert.equal(client.url, "http://localhost/x");
    assert.equal(
      LeaderClient.fromMetadata(one("xyz.test.aa@1"), { url: "https://a.example/b/" }).url,
      "https://a.example/b",
    );
    assert.deepEqual(
      client.ports.inputPorts.map(({ name }) => name),
      ["2", "1"],
    );
    const bad: [document: string, text: RegExp][] = [
      ["", /not JSON: unexpected end of the text at byte 0/],
      ["1", /expected an object/],
      ["{}", /fqn: missing/],
      [one("no name"), /fqn: expected domain\.name@version/],
      [one("xyz.test.aa@1").replace('"timeout":5', '"timeout":0'), /timeout: expected milliseconds/],
      [one("xyz.test.aa@1").replace('"url":"http://localhost/x"', '"url":7'), /url: expected a string/],
      [one("xyz.test.aa@1").replace("input_schema", "other"), /input_schema: missing/],
      [one("xyz.test.aa@1").replace("oneOf", "anyOf"), /output schema: expected a top-level/],
    ];
    for (const [document, text] of bad) {
      assert.throws(
        () => LeaderClient.fromMetadata(document),
        (error) => fails("invalid_metadata")(error) && text.test((error as Error).message),
        document,
      );
    }
    assert.throws(() => LeaderClient.fromMetadata(one("xyz.test.aa@1"), { url: "ftp://x" }), /got one without https/);
    assert.throws(() => LeaderClient.fromMetadata(one("xyz.test.aa@1"), { url: "x" }), /expected an absolute URL/);
    await assert.rejects(LeaderClient.connect("https://[/"), /got one that cannot be parsed$/);
    await assert.rejects(LeaderClient.connect(undefined as never), /expected an absolute URL, .*, got nothing$/);
    assert.throws(
      () => LeaderClient.fromMetadata(one("xyz.test.aa@1"), { toolKey: "00" }),
      /tool key: expected 64 hex/,
    );
    assert.throws(() => LeaderClient.fromMetadata(one("xyz.test.aa@1"), { toolKey: Buffer.alloc(32) }), RangeError);
  });
});
