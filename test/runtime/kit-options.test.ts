/** Every option of the test kit has its effect, and every default is the documented one. */

import assert from "node:assert/strict";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { prepareSigningKey, publicKeyOf } from "svc-runtime/leader";
import { createHarness, type HarnessOptions, LeaderError } from "svc-runtime/testing";
import { TestStore } from "svc-runtime-storage/dev";
import { fastify, svcTools } from "#runtime/fastify.js";
import { RateLimited, type ReplayStore, SvcTool, serve, ToolkitRuntimeConfig } from "#runtime/index.js";
import { substituteBlobId } from "#runtime/storage/dev/dev-store.js";
import { scratchFolder } from "../scratch-folder.js";
import { type Behaviour, type CountingTool, countingTool } from "./counting-tool.js";

const INPUT = { value: 1 };

/** A tool in a harness; both of a test of its own. */
async function started(t: TestContext, options: HarnessOptions = {}, behaviour: Behaviour = {}) {
  const tool = countingTool(behaviour);
  const harness = await createHarness(tool.class, options);
  t.after(() => harness.close());
  return { tool, harness };
}

const refused = (status: number, code: string) => (error: unknown) => {
  assert.ok(error instanceof LeaderError, String(error));
  assert.deepEqual([error.status, error.code], [status, code], error.message);
  return true;
};

const namesOf = (headers: Readonly<Record<string, unknown>>, prefix: RegExp) =>
  Object.keys(headers).filter((name) => prefix.test(name)).length;

// ---- options of a server ----

for (const headerPrefix of [undefined, "X-Nexus-"]) {
  test(`headerPrefix: ${headerPrefix ?? "X-Svc- by default"}`, async (t) => {
    const { harness } = await started(t, headerPrefix === undefined ? {} : { headerPrefix });
    const { request, response, signature } = await harness.invokeSigned(INPUT);
    const prefix = new RegExp(`^${headerPrefix ?? "X-Svc-"}`, "i");
    assert.equal(namesOf(request.headers, prefix), 6);
    assert.equal(namesOf(response.headers, prefix), 3);
    assert.equal(namesOf(response.headers, /^x-/), 3);
    assert.equal(signature, "verified");
  });
}

test("replayStore: a custom store gets the claims", async (t) => {
  const claims: string[] = [];
  const replayStore: ReplayStore = {
    scope: "process",
    claim: ({ tool }) => {
      claims.push(tool);
      return { state: "full" };
    },
  };
  const { tool, harness } = await started(t, { replayStore });
  await assert.rejects(harness.invoke(INPUT), refused(503, "replay_store_full"));
  assert.deepEqual(claims, [tool.fqn]);
});

test("around runs around each call", async (t) => {
  const { tool, harness } = await started(t, { around: () => Promise.reject(new RateLimited("not today")) });
  await assert.rejects(harness.invoke(INPUT), refused(429, "rate_limited"));
  assert.equal(tool.calls.invoked, 0);
});

// ---- options of the kit ----

const key = new Uint8Array(32).fill(5);
const bob = { id: "bob", keyId: 7, key };

/** A configuration that allows bob. */
function allowing(tool: CountingTool, entry: object): ToolkitRuntimeConfig {
  const keys = [{ kid: bob.keyId, public_key: Buffer.from(publicKeyOf(key)).toString("hex") }];
  const allowed_leaders = { version: 1, leaders: [{ leader_id: bob.id, keys }] };
  return ToolkitRuntimeConfig.fromJsonStr(
    JSON.stringify({ signed_http: { allowed_leaders, tools: { [tool.fqn]: entry } } }),
  );
}

test("config: the server uses its leaders, keys and times", async (t) => {
  const tool = countingTool();
  const entry = { replay_cache_ttl_ms: 1_000_000, response_signing_key: "09".repeat(32) };
  const harness = await createHarness(tool.class, { config: allowing(tool, entry), leader: bob });
  t.after(() => harness.close());
  const { request, signature, toolSignature } = await harness.invokeSigned(INPUT, { nonce: new Uint8Array(32) });
  assert.equal(signature, "verified");
  assert.equal(toolSignature?.length, 64);
  assert.deepEqual(request.nonce, Buffer.alloc(32));
  assert.equal(request.headers["X-Svc-Leader-Key-Id"], "7");
  const runsAfter = async (ms: number) => {
    await harness.advance(ms);
    assert.equal((await harness.invokeRaw(request)).status, 200);
    return tool.calls.invoked;
  };
  assert.deepEqual([await runsAfter(600_000), await runsAfter(500_000)], [1, 2]);
  await assert.rejects(
    harness.invokeSigned(INPUT, { leader: "alice" }),
    /^TypeError: leader: expected { id, keyId, key }/,
  );
  const both = { config: allowing(tool, entry), signed: true };
  await assert.rejects(createHarness(tool.class, both), /config determines whether calls are signed/);
  // A key that was prepared before is taken as it is.
  const prepared = { ...bob, key: prepareSigningKey(key) };
  assert.equal((await harness.invokeSigned(INPUT, { leader: prepared })).signature, "verified");
});

/** A tool whose contract is not provided, and the contract. */
function notProvided() {
  const { contract } = countingTool();
  const fqn = contract.fqn.replace("@1", "-new@1");
  class Tool extends SvcTool<typeof INPUT, { ok: typeof INPUT }> {
    static override fqn = () => fqn;
    static override path = () => contract.path;
    override invoke = (input: typeof INPUT) => ({ ok: input });
  }
  return { Tool, contract: { ...contract, fqn } };
}

test("contracts: the given ones, without a project", async (t) => {
  const { Tool, contract } = notProvided();
  const harness = await createHarness(Tool, { contracts: [contract] });
  t.after(() => harness.close());
  assert.deepEqual(await harness.invoke(INPUT), { ok: INPUT });
});

test("project: the folder of the process by default, else a folder, a file in it or a tsconfig.json", async () => {
  // In place of svc-gen, whose compiler would take seconds: it gives what it was asked for.
  const root = scratchFolder();
  const generator = join(root, "node_modules/svc-gen");
  mkdirSync(join(generator), { recursive: true });
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "package.json"), "{}");
  writeFileSync(join(root, "tsconfig.test.json"), "{}");
  writeFileSync(join(generator, "package.json"), '{ "exports": { "./generate": "./generate.mjs" } }');
  writeFileSync(
    join(generator, "generate.mjs"),
    "export const contractsOf = (options) => { throw new Error(JSON.stringify(options)); };",
  );
  const asked = async (options: HarnessOptions) => {
    const error: unknown = await createHarness(notProvided().Tool, options).catch((reason: unknown) => reason);
    return JSON.parse((error as Error).message) as unknown;
  };
  const from = process.cwd();
  try {
    assert.deepEqual(await asked({ project: root }), { root });
    assert.deepEqual(await asked({ project: join(root, "src") }), { root });
    assert.deepEqual(await asked({ project: pathToFileURL(root) }), { root });
    assert.deepEqual(await asked({ project: pathToFileURL(root).href }), { root });
    const tsconfig = "tsconfig.test.json";
    assert.deepEqual(await asked({ project: join(root, tsconfig) }), { root, tsconfig });
    process.chdir(root);
    assert.deepEqual(await asked({}), { root });
  } finally {
    process.chdir(from);
  }
});

test("invokeRaw: Content-Length is added unless it is given", async (t) => {
  const { harness } = await started(t, { signed: false });
  const body = JSON.stringify(INPUT);
  for (const [headers, status] of [
    [{}, 200],
    [{ "content-length": "11" }, 200],
    [{ "Content-Length": "12582913" }, 413],
  ] as const) {
    assert.equal((await harness.invokeRaw({ headers, body })).status, status, JSON.stringify(headers));
  }
});

test("http: only this machine reaches the port", { skip: process.platform !== "linux" }, async (t) => {
  const { harness } = await started(t);
  const { hostname, port } = new URL(await harness.http());
  assert.equal(hostname, "127.0.0.1");
  // Linux has the whole of 127.0.0.0/8, so a listener on every address would answer here.
  const socket = connect({ host: "127.0.0.2", port: Number(port) });
  const outcome = await new Promise((resolve) => {
    socket.once("connect", () => resolve("connected")).once("error", (error) => resolve(Object(error).code));
  });
  socket.destroy();
  assert.equal(outcome, "ECONNREFUSED");
});

test("unknown and mistyped options of the kit, a server and the plugin are refused by name", async () => {
  const { class: tool } = countingTool({});
  for (const [made, message] of [
    [
      () => createHarness(tool, { sigend: false } as HarnessOptions),
      /createHarness: no option "sigend"; did you mean signed/,
    ],
    [
      () => serve([tool], { maxConections: 1 } as object),
      /serve: no option "maxConections"; did you mean maxConnections/,
    ],
    [
      () => serve([tool], { load: { rateLimits: {} } } as object),
      /load: no option "rateLimits"; did you mean rateLimit/,
    ],
    [() => serve([tool], { load: { limits: { concurency: 1 } } } as object), /load\.limits: no option "concurency"/],
    [() => serve([tool], { shutdown: { drain: 1 } } as object), /shutdown: no option "drain"/],
    [
      () => serve([tool], { allowUnsigned: "yes" } as object),
      /serve: allowUnsigned: expected true or false, got a string/,
    ],
    [() => serve([tool], { around: {} } as object), /serve: around: expected a function, got an object/],
    [() => serve([tool], { configure: [] } as object), /serve: configure: expected a function, got an array/],
    [
      () => serve([tool], { allowedOrigins: "*" } as object),
      /serve: allowedOrigins: expected a list of origins, .* got a string/,
    ],
    [async () => fastify().register(svcTools, { tools: [tool], timeout: 1 } as never), /svcTools: no option "timeout"/],
  ] as const) {
    await assert.rejects(made, message);
  }
});

// ---- the store ----

test("the test store: one epoch by default, fast ids, and it removes its files", async (t) => {
  const parent = scratchFolder();
  const before = tmpdir();
  process.env.TMPDIR = parent;
  t.after(() => {
    process.env.TMPDIR = before;
  });
  const store = await TestStore.start();
  assert.equal(store.url, store.walrus.url);
  const content = Buffer.from('"report"');
  const asked = () => store.walrus.requests.findLast(({ method }) => method === "PUT")?.target;
  const blob = await store.storage().upload(content);
  assert.equal(blob.blobId, substituteBlobId(content));
  assert.equal(asked(), "/v1/blobs?epochs=1");
  await store.storage({ epochs: 3, deletable: true }).upload(content);
  assert.equal(asked(), "/v1/blobs?epochs=3&deletable=true");
  const [value] = await store.reader.resolve(blob.nexusData().values);
  assert.ok(value?.kind === "data");
  assert.equal(Buffer.from(value.bytes).toString(), '"report"');
  assert.equal(readdirSync(parent).length, 1);
  await store.close();
  assert.deepEqual(readdirSync(parent), []);
});
