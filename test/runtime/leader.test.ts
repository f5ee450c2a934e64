/** svc-runtime/leader against an in-process server, through sockets; and against servers that misbehave. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import type { Codec } from "#client/wire/codec/contract.js";
import { committedBytes } from "#client/wire/envelope/committed-texts.js";
import { EnvelopeReader } from "#client/wire/envelope/envelope.js";
import {
  errEval,
  type InvokeContext,
  NexusData,
  NexusValue,
  OffchainToolOutput,
  PermissionDenied,
  type RunningServer,
  StatusCode,
  SvcTool,
  serve,
  ToolkitRuntimeConfig,
} from "#runtime/index.js";
import {
  buildEnvelope,
  buildUnsignedBody,
  decodeResult,
  InputHasher,
  invocationNonce,
  JsonText,
  LeaderClient,
  LeaderError,
  publicKeyOf,
  type Receipt,
  type ReceiptOptions,
  readMetadata,
  readReceipt,
  readRequest,
  type SignedRequest,
  signRequest,
  verifyToolSignature,
  WalrusValue,
} from "#runtime/leader.js";
import { type Contract, provideContracts } from "#runtime/v1.js";
import { proves } from "../proves.js";
import { readVectors } from "../vectors/read.js";
import type { SigningCase } from "../vectors/wire-cases.js";

const LEADER_SEED = Buffer.alloc(32, 7);
const OTHER_SEED = Buffer.alloc(32, 8);
const TOOL_SEED = Buffer.alloc(32, 9);
const TOOL_KEY = publicKeyOf(TOOL_SEED);
const leader = { id: "leader", keyId: 0, key: LEADER_SEED };

interface EchoInput {
  any: unknown;
  big: bigint;
  when?: Date;
  blob?: Uint8Array;
  list: unknown[];
  say?: string;
}

let runs = 0;

class Echo extends SvcTool<EchoInput, unknown> {
  static override fqn() {
    return "xyz.test.echo@1";
  }
  static override description() {
    return "Gives back what it gets.";
  }
  static override path() {
    return "a/echo";
  }
  static override timeout() {
    return 300;
  }
  override authorize({ leaderId }: { leaderId: string }) {
    if (leaderId === "barred") throw new PermissionDenied("this leader is barred");
  }
  override async invoke(input: EchoInput, { signal }: InvokeContext): Promise<unknown> {
    runs++;
    if (input.say === "nothing") return "nothing";
    if (input.say === "fail") return errEval("no \u{1f9ad} today");
    if (input.say === "throw") throw new Error("a secret of the tool");
    if (input.say === "hang") await once(signal, "abort").catch(() => undefined);
    if (input.say === "store") return { ok: {} };
    const { any, big, when, blob, list } = input;
    return { ok: { any, big, when, blob, list } };
  }
  override encodeOutput(output: unknown) {
    const stored = (output as { ok?: object }).ok;
    if (stored === undefined || Object.keys(stored).length > 0) return super.encodeOutput(output);
    const json = (text: string) => NexusData.one(NexusValue.json(text));
    return OffchainToolOutput.fromPorts("ok", [
      ["any", NexusData.one(NexusValue.walrus("A".repeat(43), Buffer.alloc(32, 1)))],
      ["big", json("1")],
      ["when", json("null")],
      ["blob", json("null")],
      ["list", NexusData.many([NexusValue.json("1")])],
    ]);
  }
  override async health() {
    return StatusCode.IM_A_TEAPOT;
  }
}

const json: Codec = { kind: "json" };
const ports = [
  { name: "any", many: false, codec: json },
  { name: "big", many: false, codec: { kind: "bigint" } },
  { name: "when", many: false, optional: true, codec: { kind: "date" } },
  { name: "blob", many: false, optional: true, codec: { kind: "bytes" } },
  { name: "list", many: true, codec: json },
] as const;
const properties =
  '{"any":{},"big":{"type":"integer"},"when":{"type":["string","null"]},"blob":{"type":["string","null"]},"list":{"type":"array"}';

const contract: Contract = {
  fqn: "xyz.test.echo@1",
  description: "Gives back what it gets.",
  path: "a/echo",
  timeout: 300,
  inputSchema: `{"type":"object","properties":${properties},"say":{"type":["string","null"]}}}`,
  outputSchema: `{"oneOf":[{"type":"object","properties":{"ok":{"type":"object","properties":${properties}}}}},{"const":"nothing"}]}`,
  input: [...ports, { name: "say", many: false, optional: true, codec: { kind: "string" } }],
  output: [
    { name: "ok", ports },
    { name: "nothing", text: true, ports: [] },
  ],
};

const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child() {
    return silent;
  },
};

function signedConfig(tool: object): ToolkitRuntimeConfig {
  const keys = [{ kid: 0, public_key: Buffer.from(publicKeyOf(LEADER_SEED)).toString("hex") }];
  const allowed_leaders = { version: 1, leaders: ["leader", "barred"].map((leader_id) => ({ leader_id, keys })) };
  return ToolkitRuntimeConfig.fromJsonStr(
    JSON.stringify({ signed_http: { allowed_leaders, tools: { "xyz.test.echo@1": tool } } }),
  );
}

function start(config: ToolkitRuntimeConfig, headerPrefix = "X-Svc-"): Promise<RunningServer> {
  return serve([Echo], { address: [[127, 0, 0, 1], 0], config, logger: silent, headerPrefix });
}

const fails = (code: string, status?: number) => (error: unknown) => {
  assert.ok(error instanceof LeaderError, `expected a LeaderError, got ${String(error)}`);
  assert.equal(error.code, code, error.message);
  assert.equal(error.status, status);
  return true;
};

const input = { any: { a: [1, "x"] }, big: 1n, list: [1] };

describe("signed calls", () => {
  let server: RunningServer;
  let client: LeaderClient;
  before(async () => {
    provideContracts([contract]);
    server = await start(signedConfig({ response_signing_key: TOOL_SEED.toString("hex") }));
    client = await LeaderClient.connect(`${server.url}/a/echo/`, { leader, toolKey: TOOL_KEY });
  });
  after(async () => {
    client.close();
    await server.close();
  });

  test("metadata and ports are read in declared order", () => {
    assert.equal(client.metadata.fqn, "xyz.test.echo@1");
    assert.equal(client.metadata.timeout, 300);
    assert.equal(client.url, `${server.url}/a/echo`);
    assert.deepEqual(
      client.ports.inputPorts.map(({ name, many }) => (many ? `${name}[]` : name)),
      ["any", "big", "when", "blob", "list[]", "say"],
    );
    assert.deepEqual(
      client.ports.outputVariants.map(({ name }) => name),
      ["ok", "nothing"],
    );
  });

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

  test("an exact retry gets the same result and does not run the tool", async () => {
    const request = client.sign(input);
    const before = runs;
    const first = await client.send(request);
    const second = await client.send(request);
    assert.equal(runs, before + 1);
    assert.deepEqual(second, first);
    await client.invoke(input);
    assert.equal(runs, before + 2);
  });

  test("a verified result has a receipt; without a verified signature there is none", async () => {
    const given = { ...input, blob: Uint8Array.of(7) };
    const result = await client.invoke(given);
    const keys = { leaderKey: publicKeyOf(LEADER_SEED), toolKey: TOOL_KEY };
    const read = (options?: ReceiptOptions) =>
      readReceipt(JSON.stringify(result.receipt(options)), { ...keys, contracts: [contract] });
    const { tool, leader: caller, inputs, result: received, claims } = read();
    assert.deepEqual([tool, caller.id, caller.keyId], ["xyz.test.echo@1", "leader", 0n]);
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
    const reader = await LeaderClient.connect(`${server.url}/a/echo`, { toolKey: TOOL_KEY });
    const other = await reader.send(stored);
    assert.throws(() => other.receipt(), /^TypeError: receipt: .* pass its public key as `leaderKey`/);
    assert.equal(other.receipt({ leaderKey: keys.leaderKey }).leader.id, "leader");
    const trusting = await LeaderClient.connect(`${server.url}/a/echo`, { leader, acceptUnverified: true });
    const unverified = await trusting.invoke(input);
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
    const keeper = await LeaderClient.connect(`${server.url}/a/echo`, { leader, toolKey: TOOL_KEY, receipts });
    const before = runs;
    const error: LeaderError = await keeper.invoke(input, { repeat: true }).then(
      () => assert.fail(),
      (error) => error,
    );
    assert.deepEqual(
      [error.code, error.ran, (error.cause as Error).message],
      ["receipt_not_kept", "yes", "no space left"],
    );
    isFull = false;
    const again = await keeper.send(error.request as SignedRequest);
    assert.equal(runs, before + 1);
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

  test("refusals of the server are errors with its code and status", async () => {
    await assert.rejects(client.invoke({ ...input, say: "throw" }), fails("tool_invocation_failed", 500));
    await assert.rejects(client.invoke({ ...input, say: "hang" }), fails("tool_invocation_timeout", 504));
    await assert.rejects(client.invoke({ ...input, big: 1.5 }), (error) => {
      fails("input_deserialization_error", 422)(error);
      return /422 input_deserialization_error: big: expected an integer/.test((error as Error).message);
    });
    await assert.rejects(client.invokeUnsigned(input), fails("auth_failed", 401));
    const request = client.sign(input);
    const tampered = Buffer.from(request.body.toString().replace('"data":1}', '"data":2}'));
    await assert.rejects(client.send({ ...request, body: tampered }), fails("input_integrity_error", 422));
    const stranger = await LeaderClient.connect(client.url, {
      leader: { ...leader, key: OTHER_SEED },
      acceptUnverified: true,
    });
    await assert.rejects(stranger.invoke(input), fails("auth_failed", 401));
    stranger.close();
    const barred = await LeaderClient.connect(client.url, {
      leader: { ...leader, id: "barred" },
      acceptUnverified: true,
    });
    await assert.rejects(barred.invoke(input), (error) => {
      fails("permission_denied", 403)(error);
      return (error as LeaderError).details === "this leader is barred";
    });
    barred.close();
    await assert.rejects(LeaderClient.connect(`${server.url}/elsewhere`), fails("not_found", 404));
  });

  test("another tool's key refuses the result", async () => {
    const wary = await LeaderClient.connect(client.url, {
      leader,
      toolKey: Buffer.from(publicKeyOf(OTHER_SEED)).toString("hex"),
    });
    await assert.rejects(wary.invoke(input), fails("wrong_signature"));
    wary.close();
    const trusting = await LeaderClient.connect(client.url, { leader, acceptUnverified: true });
    assert.equal((await trusting.invoke(input)).signature, "unverified");
    trusting.close();
  });

  test("a signature is not valid for another request", async () => {
    const request = client.sign(input);
    const { bcs, toolSignature } = await client.send(request);
    assert.ok(toolSignature);
    assert.equal(verifyToolSignature(TOOL_KEY, request, bcs, toolSignature), true);
    assert.equal(verifyToolSignature(TOOL_KEY, client.sign(input), bcs, toolSignature), false);
  });

  test("the longest timeout, an expected name with leading zeros, health", async () => {
    assert.equal((await client.invoke(input, { timeoutMs: 2_147_483_647 })).tag, "ok");
    (await LeaderClient.connect(client.url, { fqn: "xyz.test.echo@001" })).close();
    assert.equal(await client.health(), 418);
  });

  test("printing a client shows no key", () => {
    const { inspect } = process.getBuiltinModule?.("node:util") ?? {};
    const printed = inspect?.(client, { depth: 10, showHidden: true }) ?? "";
    assert.ok(printed.startsWith("LeaderClient"));
    assert.ok(!printed.includes(LEADER_SEED.toString("hex")));
    assert.ok(!/07 07 07|7, 7, 7/.test(printed));
  });
});

describe("other servers", () => {
  test("unsigned mode, and a tool without a key", async () => {
    provideContracts([contract]);
    const open = await start(ToolkitRuntimeConfig.fromJsonStr("{}"));
    const author = await LeaderClient.connect(`${open.url}/a/echo`, { toolKey: TOOL_KEY });
    const result = await author.invokeUnsigned({ ...input, any: { n: 2n ** 60n }, list: ["a", 2] });
    assert.equal(result.signature, "unsigned");
    assert.deepEqual(result.value, { any: { n: 2n ** 60n }, big: 1, when: null, blob: null, list: ["a", 2] });
    assert.throws(() => author.sign(input), /create it with `leader/);
    author.close();
    await open.close();

    const keyless = await start(signedConfig({}));
    const wary = await LeaderClient.connect(`${keyless.url}/a/echo`, { leader, toolKey: TOOL_KEY });
    await assert.rejects(wary.invoke(input), fails("unsigned_result"));
    wary.close();
    const trusting = await LeaderClient.connect(`${keyless.url}/a/echo`, { leader, acceptUnverified: true });
    assert.equal((await trusting.invoke(input)).signature, "unsigned");
    trusting.close();
    await keyless.close();
  });

  test("the header prefix of older leaders", async () => {
    provideContracts([contract]);
    const server = await start(signedConfig({ response_signing_key: TOOL_SEED.toString("hex") }), "X-Nexus-");
    const options = { leader, toolKey: TOOL_KEY };
    const older = await LeaderClient.connect(`${server.url}/a/echo`, { ...options, headerPrefix: "X-Nexus-" });
    assert.equal((await older.invoke(input)).signature, "verified");
    older.close();
    const newer = await LeaderClient.connect(`${server.url}/a/echo`, options);
    await assert.rejects(newer.invoke(input), /: X-Nexus-Sig-V: missing; .* begin with X-Svc-: set headerPrefix/);
    newer.close();
    await server.close();
  });

  const document = JSON.stringify({
    fqn: contract.fqn,
    url: "http://localhost/",
    timeout: 1000,
    description: "d",
    input_schema: JSON.parse(contract.inputSchema),
    output_schema: JSON.parse(contract.outputSchema),
  });

  async function against(listener: RequestListener, check: (client: LeaderClient) => Promise<void>) {
    const server = createServer(listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = LeaderClient.fromMetadata(document, { leader, url, acceptUnverified: true });
    try {
      await check(client);
    } finally {
      client.close();
      server.closeAllConnections();
      server.close();
    }
  }

  const answer = (body: string | Buffer, type = "application/vnd.nexus.canonical-tool-response+bcs", status = 200) => {
    return (request: IncomingMessage, response: ServerResponse) => {
      request.resume();
      response.writeHead(status, { "Content-Type": type }).end(body);
    };
  };

  test("malformed answers", async () => {
    const nothing = encodeOutput({ tag: "nothing", ports: [] });
    const inline = (text: string) => ({ kind: "inline" as const, bytes: Buffer.from(text) });
    const ok = (change: (ports: { name: string; values: ReturnType<typeof inline>[] }[]) => void) => {
      const ports = ["any", "big", "when", "blob", "list"].map((name) => ({ name, values: [inline("1")] }));
      change(ports);
      return encodeOutput({ tag: "ok", ports });
    };
    await against(answer(ok(() => {})), async (client) => {
      assert.equal((await client.invoke(input)).signature, "unsigned");
    });
    const wrong: RequestListener[] = [
      answer(""),
      answer("not bcs"),
      answer(Buffer.concat([nothing, Buffer.of(0)])),
      answer(nothing, "application/json"),
      answer(encodeOutput({ tag: "other", ports: [] })),
      answer(ok((ports) => ports.reverse())),
      answer(ok((ports) => ports.pop())),
      answer(ok((ports) => ports[0]?.values.push(inline("2")))),
      answer(ok((ports) => ports[4]?.values.pop())),
      answer(ok((ports) => ports[0]?.values.splice(0, 1, inline("not json")))),
      answer(ok((ports) => ports[0]?.values.splice(0, 1, inline(`"${"x".repeat(61_440)}"`)))),
      answer(Buffer.alloc(262_145)),
    ];
    for (const listener of wrong) {
      await against(listener, (client) => assert.rejects(client.invoke(input), fails("invalid_answer")));
    }
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
      await against(answer(body, "application/json", status), (client) =>
        assert.rejects(client.invoke(input), fails(code, status)),
      );
    }
    await against(answer('{"error":"rate_limited","details":"a\\u001b[2Jb"}', "application/json", 429), (client) =>
      assert.rejects(client.invoke(input), (error) => (error as LeaderError).details === "a\ufffd[2Jb"),
    );
    await against(
      (_request, response) => response.writeHead(503, { "Retry-After": "7" }).end('{"error":"replay_store_full"}'),
      (client) => assert.rejects(client.invoke(input), (error) => (error as LeaderError).retryAfter === 7),
    );
  });

  test("an incomplete set of signature headers is not a signature", async () => {
    for (const headers of [
      { "X-Svc-Tool-Signature": Buffer.alloc(64).toString("base64url") },
      { "X-Svc-Sig-V": "2", "X-Svc-Tool-Signature": Buffer.alloc(64).toString("base64url") },
      { "X-Svc-Sig-V": "3", "X-Svc-Tool-Signature": "AAAA" },
    ]) {
      await against(
        (_request, response) => {
          const type = { "Content-Type": "application/vnd.nexus.canonical-tool-response+bcs" };
          response.writeHead(200, { ...type, ...headers }).end(encodeOutput({ tag: "nothing", ports: [] }));
        },
        (client) => assert.rejects(client.invoke(input), fails("wrong_signature")),
      );
    }
  });
});

describe("pieces", () => {
  test("every recorded call is built, signed, verified and decoded as recorded", () => {
    const { cases } = readVectors<{ cases: SigningCase[] }>("signing.json");
    for (const vector of cases) {
      const metadata = readMetadata(
        `{"fqn":"xyz.test.echo@1","url":"http://localhost/","timeout":1,"description":"d","input_schema":${vector.input_schema},"output_schema":${vector.output_schema}}`,
      );
      const client = LeaderClient.fromMetadata(
        `{"fqn":"xyz.test.echo@1","url":"http://localhost/","timeout":1,"description":"d","input_schema":${metadata.inputSchema},"output_schema":${metadata.outputSchema}}`,
        {
          leader: { id: vector.leader_id, keyId: BigInt(vector.leader_key_id), key: vector.leader_private_key },
          toolKey: vector.tool_public_key,
        },
      );
      const { inputPorts } = client.ports;
      const texts = committedTexts(inputPorts, Buffer.from(vector.body), Buffer.from(vector.input_hash, "hex"));
      const request = client.sign(texts, { nonce: Buffer.from(vector.nonce, "hex") });
      assert.equal(Buffer.from(request.inputHash).toString("hex"), vector.input_hash);
      assert.deepEqual({ ...request.headers, ...vector.request_headers }, request.headers);
      // What was built is what a tool accepts.
      assert.ok(new EnvelopeReader(inputPorts).read(request.body).match(request.inputHash));
      const bcs = Buffer.from(vector.output_bcs, "hex");
      const signature = Buffer.from(vector.response_headers["X-Svc-Tool-Signature"] ?? "", "base64url");
      assert.equal(verifyToolSignature(vector.tool_public_key, request, bcs, signature), true);
      assert.equal(decodeResult(client.ports, bcs).tag, Object.keys(JSON.parse(vector.output))[0]);
    }
  });

  /** The texts that a recorded body commits to, as a leader would give them. */
  function committedTexts(
    ports: { name: string; many: boolean }[] | readonly { name: string; many: boolean }[],
    body: Buffer,
    hash: Buffer,
  ): object {
    const matched = new EnvelopeReader(ports).read(body).match(hash);
    assert.ok(matched);
    return Object.fromEntries(
      ports.map(({ name, many }, i) => {
        const texts = (matched[i] ?? []).map((text) => new JsonText(committedBytes(text)));
        return [name, many ? texts : texts[0]];
      }),
    );
  }

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
    for (const key of [undefined, null, { publicKey: LEADER_SEED }]) {
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
