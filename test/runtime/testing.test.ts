/** The test kit, through its package: what a test sees is what a server answers. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { contractsOf, GenerateError } from "svc-gen/generate";
import { LeaderClient } from "svc-runtime/leader";
import { createHarness, type HarnessOptions, LeaderError, type OutputOf, type RawRequest } from "svc-runtime/testing";
import { TestStore } from "svc-runtime-storage/dev";
import { InvocationAborted } from "#runtime/index.js";
import { ToolProject, toolSource } from "../generator/project.js";
import { ECHO, INPUT, linkGenerator, project, TREE } from "./probe-project.js";
import { control, type Input, Probe, Twice } from "./tested-tools.js";
import { gate } from "./tools.js";

async function harnessFor(t: TestContext, options: HarnessOptions = {}) {
  const harness = await createHarness(Probe, { project: project.root, ...options });
  t.after(() => harness.close());
  return harness;
}

const refused = (status: number, code: string, details?: string | RegExp) => (error: unknown) => {
  assert.ok(error instanceof LeaderError, String(error));
  assert.deepEqual([error.status, error.code], [status, code], error.message);
  if (details instanceof RegExp) assert.match(error.details ?? "", details);
  else if (details !== undefined) assert.equal(error.details, details);
  return true;
};

test("contracts are generated in memory: nothing is written", async (t) => {
  const harness = await harnessFor(t);
  assert.deepEqual(await harness.invoke({ ...INPUT, mode: "done" }), "done");
  const written = spawnSync("ls", ["-A", project.root], { encoding: "utf8" }).stdout.trim().split("\n").sort();
  assert.deepEqual(written, ["node_modules", "package.json", "src", "tsconfig.json"]);
});

for (const signed of [true, false]) {
  test(`a result has the types of the class; ${signed ? "signed" : "unsigned"}`, async (t) => {
    const harness = await harnessFor(t, { signed });
    assert.deepEqual(await harness.invoke(INPUT), ECHO);
    const plain = await harness.invoke({ ...INPUT, id: 5n, plain: 7n });
    assert.deepEqual(plain, { echo: { ...ECHO.echo, id: 5n, plain: 7n } });
    assert.equal(await harness.invoke({ ...INPUT, mode: "done" }), "done");
    // A server does not check constraints of results.
    assert.deepEqual(await harness.invoke({ ...INPUT, mode: "over" }), { over: { count: 11 } });
    const failed: OutputOf<typeof Probe> = await harness.invoke({ ...INPUT, mode: "fail" });
    assert.deepEqual(failed, { _err_eval: { reason: "no such city" } });
    assert.equal(control.auth?.leaderId, signed ? "leader" : undefined);
  });

  test(`inputs are refused as a server refuses them; ${signed ? "signed" : "unsigned"}`, async (t) => {
    const harness = await harnessFor(t, { signed });
    const invoke = (input: object) => harness.invoke(input as Input);
    const code = "input_deserialization_error";
    const list = (length: number) => ({ ...INPUT, tags: new Array<string>(length).fill("x") });
    for (const length of [1, 256]) assert.ok(await harness.invoke(list(length)));
    await assert.rejects(invoke(list(257)), refused(422, code, /256/));
    await assert.rejects(invoke(list(0)), refused(422, code));
    if (signed)
      await assert.rejects(
        invoke({ ...INPUT, pear: 1 }),
        refused(422, code, /no such input port \(the input ports are: "id", "plain", /),
      );
    await assert.rejects(invoke({ ...INPUT, name: "too long a name" }), refused(422, code, /^name: expected .*8/));
    assert.doesNotMatch(inspect(harness.logs, { depth: 9 }), /too long a name/, "no value of a caller is kept");
    await assert.rejects(invoke({ ...INPUT, count: 11 }), refused(422, code, /^count: expected .*10/));
    await assert.rejects(invoke({ ...INPUT, when: undefined }), refused(422, code, /^when: /));
    await assert.rejects(
      invoke({ ...INPUT, name: () => {} }),
      /^LeaderError: invalid_input: name: expected a JSON value/,
    );
    await assert.rejects(invoke(null as never), /invalid_input: expected an object with the input ports, got null/);
  });
}

test("an exception of the tool is the cause of its 500", async (t) => {
  const harness = await harnessFor(t);
  const calls = ["throw", "echo", "throw"] as const;
  const [first, second] = await Promise.allSettled(calls.map((mode) => harness.invoke({ ...INPUT, mode })));
  assert.ok(first?.status === "rejected" && first.reason instanceof LeaderError);
  assert.equal(first.reason.code, "tool_invocation_failed");
  assert.equal((first.reason.cause as Error).message, "the database is away");
  assert.equal(second?.status, "fulfilled");
});

test("a signed call shows what a leader sees, and an exact retry does not run the tool", async (t) => {
  const harness = await harnessFor(t);
  const call = await harness.invokeSigned(INPUT, { nonce: new Uint8Array(32).fill(7) });
  assert.equal(call.tag, "echo");
  assert.deepEqual(call.output, ECHO);
  assert.equal(call.signature, "verified");
  assert.equal(call.toolSignature?.length, 64);
  assert.equal(call.request.headers["X-Svc-Leader-Id"], "leader");
  assert.deepEqual(call.request.nonce, Buffer.alloc(32, 7));
  assert.deepEqual(Buffer.from(control.auth?.inputHash ?? []), call.request.inputHash);
  const { runs } = control;
  const again = await harness.invokeRaw(call.request);
  assert.deepEqual(again, call.response);
  assert.equal(control.runs, runs);
  const tampered = await harness.invokeRaw({
    ...call.request,
    body: call.request.body.toString().replace("probe", "prune"),
  });
  assert.equal(tampered.status, 422);
  assert.deepEqual(JSON.parse(tampered.body.toString()).error, "input_integrity_error");
  assert.equal((await harness.invokeRaw({ headers: { "X-Svc-Sig-V": ["3", "3"] }, body: "{}" })).status, 401);
  assert.equal((await harness.invokeRaw({ headers: { "Content-Length": "x" } })).status, 411);
});

test("any name is a leader; your own key is not in the allow-list", async (t) => {
  const harness = await harnessFor(t, { leader: "alice" });
  await harness.invoke(INPUT);
  assert.equal(control.auth?.leaderId, "alice");
  await harness.invokeSigned(INPUT, { leader: { id: "alice", keyId: 2n ** 64n - 1n } });
  assert.equal(control.auth?.leaderKeyId, 2n ** 64n - 1n);
  await assert.rejects(
    harness.invokeSigned(INPUT, { leader: "mallory" }),
    refused(403, "permission_denied", "mallory may not"),
  );
  const stranger = { id: "alice", keyId: 0, key: new Uint8Array(32).fill(5) };
  const error = await harness.invokeSigned(INPUT, { leader: stranger }).catch((error: LeaderError) => error);
  assert.ok(refused(401, "auth_failed")(error) && error instanceof LeaderError);
  assert.equal(error.ran, "no");
  assert.ok(error.requestId && error.request?.body instanceof Uint8Array, inspect(error));
});

test("time can be advanced: for the deadline of a running call, and for the replay memory", async (t) => {
  const harness = await harnessFor(t);
  const done = await harness.invokeSigned({ ...INPUT, mode: "done" });
  const { runs } = control;
  await harness.advance(299_000);
  await harness.invokeRaw(done.request);
  assert.equal(control.runs, runs);
  await harness.advance(2_000);
  await harness.invokeRaw(done.request);
  assert.equal(control.runs, runs + 1);

  const { promise, open } = gate();
  control.release = promise;
  t.after(() => open());
  const late = assert.rejects(harness.invoke({ ...INPUT, mode: "wait" }), refused(504, "tool_invocation_timeout"));
  await harness.advance(9_000);
  assert.equal(control.runs, runs + 2);
  await harness.advance(1_000);
  await late;
  await assert.rejects(harness.advance(-1), RangeError);
});

test("a harness closes at the end of its block", async () => {
  let left: typeof used | undefined;
  await using used = await createHarness(Probe, { project: project.root });
  {
    await using harness = await createHarness(Probe, { project: project.root });
    await using store = await TestStore.start();
    assert.ok(store.url.startsWith("http://127.0.0.1:"));
    await harness.invoke(INPUT);
    left = harness;
  }
  await assert.rejects(left.invoke(INPUT), /the harness is closed/);
  await used.invoke(INPUT);
});

test("close aborts a tool that does not end", async (t) => {
  const harness = await harnessFor(t);
  const { promise, open } = gate();
  control.release = promise;
  t.after(() => open());
  const started = gate();
  control.started = started.open;
  const cut = assert.rejects(harness.invoke({ ...INPUT, mode: "wait" }), refused(504, "tool_invocation_timeout"));
  await started.promise;
  await harness.close();
  await cut;
  assert.equal(control.signal?.reason instanceof InvocationAborted && control.signal.reason.reason, "shutdown");
});

test("create() of the class runs before the first call, and close() after the last", async () => {
  const seen: string[] = [];
  class Pooled extends Twice {
    static override async create() {
      seen.push("create");
    }
    static override async close() {
      seen.push("close");
    }
    override async invoke(input: { n: number }) {
      seen.push("invoke");
      return await super.invoke(input);
    }
  }
  const first = await createHarness(Pooled, { project: project.root });
  const second = await createHarness(Pooled, { project: project.root });
  await first.invoke({ n: 1 });
  await first.close();
  await second.invoke({ n: 1 });
  await second.close();
  assert.deepEqual(seen, ["create", "invoke", "invoke", "close"]);
  class Away extends Twice {
    static override create() {
      throw new Error("the pool is away");
    }
  }
  await assert.rejects(
    createHarness(Away, { project: project.root }),
    /^StartupError: create\(\) of xyz\.test\.twice@1 failed: the pool is away$/,
  );
});

test("the error for a class that is not a tool names it", async () => {
  const create = createHarness as (tool: unknown) => Promise<unknown>;
  for (const wrong of [{}, class {}, undefined, [undefined]]) {
    await assert.rejects(create(wrong), /^StartupError: createHarness: expected a class that extends SvcTool/);
  }
  await assert.rejects(create(new Twice()), /got an instance: omit new$/);
  class Nameless extends Twice {
    static override fqn() {
      return "nameless";
    }
  }
  await assert.rejects(create(Nameless), /^StartupError: fqn\(\) "nameless": expected domain\.name@version/);
  await assert.rejects(create([]), /^StartupError: .*expected at least one tool, got none$/);
});

test("the log is kept as objects", async (t) => {
  const harness = await harnessFor(t);
  assert.ok(!harness.logs.some(({ message }) => message.includes("allow-list contains no key")));
  await harness.invoke(INPUT);
  const asked = harness.logs.find(({ message }) => message === "asked");
  assert.equal(asked?.level, "info");
  assert.equal(asked?.fields.mode, "echo");
  assert.equal(asked?.fields.tool, Probe.fqn());
});

test("several tools share a server, in process and over HTTP", async (t) => {
  const harness = await createHarness([Probe, Twice], { project: project.root, signed: false });
  t.after(() => harness.close());
  assert.deepEqual(await harness.of(Twice).invoke({ n: 21 }), { ok: { n: 42 } });
  const url = await harness.http();
  assert.equal(await harness.http(), url);
  assert.deepEqual(await (await fetch(`${url}/tools`)).json(), ["probe", "twice"]);
  const client = await LeaderClient.connect(`${url}/twice`);
  t.after(() => client.close());
  assert.deepEqual((await client.invokeUnsigned({ n: 4 })).value, { n: 8 });
  const single = await harnessFor(t);
  assert.throws(
    () => single.of(Twice),
    /^StartupError: the harness does not serve xyz.test.twice@1: add its class to createHarness/,
  );
  await assert.rejects(harness.invokeSigned(INPUT), /^TypeError: invokeSigned: expected a signed harness/);
  await harness.close();
  await assert.rejects(harness.invoke(INPUT), /the harness is closed/);
  await assert.rejects(fetch(`${url}/tools`));
});

for (const signed of [true, false]) {
  test(`answers in process equal those over HTTP; ${signed ? "signed" : "unsigned"}`, async (t) => {
    const harness = await harnessFor(t, { signed });
    const url = `${await harness.http()}/probe/invoke`;
    const plain = JSON.stringify({ ...INPUT, id: 5, data: "AAH/" });
    const { headers, body } = signed ? harness.sign(INPUT) : { headers: { Accept: "application/json" }, body: plain };
    const requests: RawRequest[] = [
      { headers, body },
      { headers, body },
      { headers, body: "" },
      { headers, body: "{" },
      { headers, body: '{"ports":[]}' },
      { headers, body: `${body} ` },
      { headers: {}, body },
      { headers: { ...headers, "Content-Encoding": "gzip" }, body },
      { headers: { ...headers, "X-Svc-Nonce": "x" }, body },
      { headers: { ...headers, Origin: "https://page.example" }, body },
      { headers: { ...headers, Accept: ["text/plain", "application/json"] }, body: `${body}  ` },
      { headers: { ...headers, Accept: ["application/json", "text/plain"] }, body },
      { headers, body: Buffer.alloc(12_582_913) },
    ];
    for (const [i, request] of requests.entries()) {
      const own = await harness.invokeRaw(request);
      const served = await fetch(url, {
        method: "POST",
        headers: Object.entries(request.headers ?? {}).flatMap(([name, value]) =>
          [value].flat().map((each): [string, string] => [name, each]),
        ),
        body: request.body ?? "",
      });
      const text = `request ${i}: ${own.body}`;
      assert.equal(own.status, served.status, text);
      assert.deepEqual(own.body, Buffer.from(await served.arrayBuffer()), text);
      // Framing is the transport's.
      const framing = new Set(["cache-control", "connection", "content-length", "date", "keep-alive", "x-request-id"]);
      const headers = [...served.headers].filter(([name]) => !framing.has(name));
      assert.deepEqual(own.headers, Object.fromEntries(headers), text);
    }
  });
}

test("stored values of a result are references, and their content with a store", async (t) => {
  const store = await TestStore.start();
  t.after(() => store.close());
  const storage = store.storage();
  control.upload = (bytes) => storage.upload(bytes) as Promise<never>;
  t.after(() => {
    control.upload = undefined;
  });
  const bare = await (await harnessFor(t)).invoke({ ...INPUT, mode: "store" });
  assert.ok(typeof bare === "object" && "stored" in bare);
  assert.equal((bare.stored.report as { kind?: unknown }).kind, "walrus");
  const whole = await (await harnessFor(t, { store })).invoke({ ...INPUT, mode: "store" });
  assert.deepEqual(whole, { stored: { report: TREE, parts: [TREE] } });
  assert.equal(store.walrus.created, 1);
});

test("a project that was corrected is generated again by the same process", async () => {
  class Mended extends Twice {
    static override fqn() {
      return "xyz.test.tool-mended@1";
    }
    static override description() {
      return "A tool.";
    }
    static override path() {
      return "Mended";
    }
  }
  const source = toolSource("Mended", "{ n: number }", "{ ok: { n: number } }");
  const mended = new ToolProject({ "src/mended.ts": source.replace("n: number", "n: Map<string, string>") });
  linkGenerator(mended);
  await assert.rejects(createHarness(Mended, { project: mended.root }), GenerateError);
  mended.write({ "src/mended.ts": source });
  const harness = await createHarness(Mended, { project: mended.root, signed: false });
  assert.deepEqual(await harness.invoke({ n: 2 }), { ok: { n: 4 } });
  await harness.close();
});

test("without a contract the error says what to do", async () => {
  class Other extends Twice {
    static override fqn() {
      return "xyz.test.other@1";
    }
  }
  const contracts = await contractsOf({ root: project.root });
  await assert.rejects(
    createHarness(Other, { contracts }),
    /^StartupError: contracts: expected a contract of xyz\.test\.other@1, got xyz\.test\.probe@1, xyz\.test\.twice@1: run svc-gen$/,
  );
  await assert.rejects(
    createHarness(Other, { project: project.root }),
    /^StartupError: xyz\.test\.other@1: the project in .* does not contain this tool, but xyz\.test\.probe@1, xyz\.test\.twice@1\. Pass/,
  );
  const bare = new ToolProject({ "src/other.ts": toolSource("Other", "{ n: Map<string, string> }") });
  await assert.rejects(
    createHarness(Other, { project: bare.root }),
    /has no contract, and svc-gen is not installed in .* to generate it\. Install it:\n {2}npm install --save-dev svc-gen\n/,
  );
  await assert.rejects(contractsOf({ root: bare.root }), GenerateError);
  const faulty = new ToolProject({ "src/other.ts": toolSource("Other", "{ n: Map<string, string> }") });
  linkGenerator(faulty);
  await assert.rejects(
    createHarness(Other, { project: join(faulty.root, "tsconfig.json") }),
    /^GenerateError: .*src\/other\.ts:/s,
  );
  await assert.rejects(
    createHarness(Other, { project: join(bare.root, "none") }),
    /^StartupError: project: .* does not exist$/,
  );
});
