/** The client with the types of a tool's class, over HTTP: results as the class has them, and messages for bad input. */

import assert from "node:assert/strict";
import { copyFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { contractsOf } from "svc-gen/generate";
import { LeaderClient, LeaderError, type LeaderOptions, WalrusValue } from "svc-runtime/leader";
import { createHarness, TestStore } from "svc-runtime/testing";
import { SchemaValues } from "#runtime/leader/schema-values.js";
import { REPOSITORY, ToolProject } from "../generator/project.js";
import { atEnd } from "../teardown.js";
import { control, type Input, Probe } from "./tested-tools.js";

const project = new ToolProject({ "src/.keep": "" });
copyFileSync(fileURLToPath(new URL("tested-tools.ts", import.meta.url)), join(project.root, "src/tested-tools.ts"));
symlinkSync(REPOSITORY, join(project.root, "node_modules/svc-gen"));

const harness = await createHarness(Probe, { project: project.root, signed: false });
atEnd(() => harness.close());
const url = await harness.http();
const contracts = contractsOf({ root: project.root });

const INPUT: Input = {
  id: 5n,
  when: new Date("2026-01-02T03:04:05.006Z"),
  data: Uint8Array.of(0, 1, 255),
  tags: ["a", "b"],
  name: "probe",
  mode: "echo",
};
const { name: _, mode: __, ...ECHOED } = INPUT;
const TREE = { weight: 2n, at: INPUT.when, children: [{ weight: 18_446_744_073_709_551_615n, children: [] }] };

async function clientFor(options: LeaderOptions = {}) {
  const client = await LeaderClient.connect<typeof Probe>(`${url}/probe`, options);
  atEnd(() => client.close());
  return client;
}

for (const [how, options] of [
  ["by the schemas", {}],
  ["by the contract", { contracts }],
] as const) {
  test(`results have the types of the class, ${how}`, async () => {
    const client = await clientFor(options);
    const call = async (input: Input) => (await client.invokeUnsigned(input)).output;
    assert.deepEqual(await call(INPUT), { echo: { ...ECHOED, tree: TREE } });
    assert.equal(await call({ ...INPUT, mode: "done" }), "done");
    assert.deepEqual(await call({ ...INPUT, mode: "over" }), { over: { count: 11 } });
    assert.deepEqual(await call({ ...INPUT, mode: "fail" }), { _err_eval: { reason: "no such city" } });
  });
}

test("only the contract tells a bigint without a format from a number", async () => {
  const [bySchema, byContract] = [await clientFor(), await clientFor({ contracts })];
  const input = { ...INPUT, plain: 7n };
  const [guess, exact] = [await bySchema.invokeUnsigned(input), await byContract.invokeUnsigned(input)];
  assert.deepEqual(guess.output, { echo: { ...ECHOED, plain: 7, tree: TREE } });
  assert.deepEqual(exact.output, { echo: { ...ECHOED, plain: 7n, tree: TREE } });
  const large = await bySchema.invokeUnsigned({ ...input, plain: 2n ** 60n });
  assert.deepEqual(large.output, { echo: { ...ECHOED, plain: 2n ** 60n, tree: TREE } });
});

test("the untyped parts of a result are what they were", async () => {
  const client = await LeaderClient.connect(`${url}/probe`);
  atEnd(() => client.close());
  const result = await client.invokeUnsigned(INPUT);
  const { tag, value } = result;
  assert.equal(tag, "echo");
  assert.deepEqual(value.id, 5);
  assert.equal(value.when, "2026-01-02T03:04:05.006Z");
  assert.deepEqual(value.plain, null);
  assert.ok(!Object.keys(result).includes("output"));
});

test("a stored value is a reference in the output", async (t) => {
  const store = await TestStore.start();
  t.after(() => store.close());
  const storage = store.storage();
  control.upload = (bytes) => storage.upload(bytes) as Promise<never>;
  for (const options of [{}, { contracts }]) {
    const { output } = await (await clientFor(options)).invokeUnsigned({ ...INPUT, mode: "store" });
    assert.ok(typeof output === "object" && "stored" in output);
    assert.ok(output.stored.report instanceof WalrusValue);
    assert.deepEqual(output.stored.parts, [TREE]);
  }
});

const fails = (code: string, details: RegExp) => (error: unknown) => {
  assert.ok(error instanceof LeaderError, String(error));
  assert.equal(error.code, code);
  assert.match(error.details ?? "", details);
  return true;
};

test("a number that has lost digits is refused before it is sent", async () => {
  const client = await clientFor();
  const bad = { ...INPUT, id: 2 ** 60 } as unknown as Input;
  const text =
    /^id: expected an integer, got a number beyond ±\(2\^53-1\), which has lost digits: give a bigint, such as 2n \*\* 60n$/;
  await assert.rejects(client.invokeUnsigned(bad), fails("invalid_input", text));
});

test("a client for another contract is refused, and so is a result of one", async () => {
  await assert.rejects(
    clientFor({ contracts: contracts.filter(({ fqn }) => fqn !== Probe.fqn()) }),
    /^TypeError: contracts: expected one of xyz\.test\.probe@1, got xyz\.test\.twice@1$/,
  );
  const stale = contracts.map((contract) => ({ ...contract, output: contract.output.slice(1) }));
  const client = await clientFor({ contracts: stale });
  await assert.rejects(
    client.invokeUnsigned(INPUT),
    fails(
      "invalid_answer",
      /^the result does not fit the contract that was given: the contract has no variant "echo"$/,
    ),
  );
});

test("a wrong address is named", async () => {
  await assert.rejects(
    LeaderClient.connect(`${url}/sum`),
    fails("not_found", new RegExp(`^nothing is there; asked ${url}/sum/meta$`)),
  );
  await assert.rejects(
    LeaderClient.connect(`${url}/probe/invoke`),
    fails(
      "not_found",
      new RegExp(`; asked ${url}/probe/invoke/meta; the url ends in /invoke: give the tool's address, ${url}/probe$`),
    ),
  );
  await assert.rejects(
    LeaderClient.connect(`${url.replace("http:", "https:")}/probe`),
    fails("connection_failed", /: the server answers without TLS: use http:\/\/ in the url, or the server's TLS port$/),
  );
});

test("a schema with thirty thousand branches keeps no client busy", { timeout: 20_000 }, () => {
  const values = Array.from({ length: 30_000 }, (_, i) => String(i));
  const items = { anyOf: Array.from({ length: 30_000 }, () => ({ type: "null" })) };
  const schema = { oneOf: [{ properties: { ok: { properties: { values: { type: "array", items } } } } }] };
  assert.deepEqual(new SchemaValues(JSON.stringify(schema)).output("ok", { values }), { ok: { values } });
});

test("a schema that is no schema of a tool of ours ends, and leaves values as they are", async (t) => {
  const ports = (schema: object) => ({
    fqn: "xyz.test.odd@1",
    url: "http://localhost/",
    timeout: 1_000,
    description: "Odd.",
    input_schema: { type: "object", properties: {} },
    output_schema: {
      oneOf: [
        {
          type: "object",
          properties: {
            echo: {
              type: "object",
              properties: { id: schema, plain: {}, when: {}, data: {}, tags: { type: "array" }, tree: {} },
            },
          },
          required: ["echo"],
        },
      ],
      $defs: {
        loop: { $ref: "#/$defs/loop" },
        round: { anyOf: [{ $ref: "#/$defs/round" }, { $ref: "#/$defs/none" }] },
      },
    },
  });
  for (const schema of [
    { $ref: "#/$defs/loop" },
    { $ref: "#/$defs/round" },
    { anyOf: [{ $ref: "elsewhere" }, { type: "array" }] },
    { anyOf: [] },
  ]) {
    const document = JSON.stringify(ports(schema));
    const server = createServer((request, response) => {
      if (request.method === "GET") response.end(document);
      else {
        void harness.invokeRaw({ body: JSON.stringify(plain) }).then(({ status, headers, body }) => {
          response.writeHead(status, headers).end(body);
        });
      }
    });
    const plain = { ...INPUT, id: 5, data: "AAH/", when: INPUT.when.toISOString() };
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => server.close());
    const { port } = server.address() as { port: number };
    const client = await LeaderClient.connect(`http://127.0.0.1:${port}`);
    t.after(() => client.close());
    const { output } = await client.invokeUnsigned({});
    assert.ok("echo" in output);
    assert.equal((output.echo as { id?: unknown }).id, 5, document);
  }
});
