/** The client with the types of a tool's class, over HTTP: results as the class has them, and messages for bad input. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { contractsOf } from "svc-gen/generate";
import { LeaderClient, LeaderError, type LeaderOptions, WalrusValue } from "svc-runtime/leader";
import { createHarness } from "svc-runtime/testing";
import { TestStore } from "svc-runtime-storage/dev";
import { atEnd } from "../teardown.js";
import { ECHO, INPUT, project, TREE } from "./probe-project.js";
import { control, type Input, Probe } from "./tested-tools.js";

const harness = await createHarness(Probe, { project: project.root, signed: false });
atEnd(() => harness.close());
const url = await harness.http();
const contracts = await contractsOf({ root: project.root });

async function clientFor(given: LeaderOptions["contracts"] = contracts) {
  const client = await LeaderClient.connect<typeof Probe>(`${url}/probe`, { contracts: given });
  atEnd(() => client.close());
  return client;
}

test("results have the types of the class", async () => {
  const client = await clientFor();
  const call = async (input: Input) => {
    const { tag, value } = await client.invokeUnsigned(input);
    return { [tag]: value };
  };
  assert.deepEqual(await call({ ...INPUT, plain: 7n }), { echo: { ...ECHO.echo, plain: 7n } });
  assert.deepEqual(await call(INPUT), ECHO);
  assert.deepEqual(await call({ ...INPUT, mode: "done" }), { done: {} });
  assert.deepEqual(await call({ ...INPUT, mode: "over" }), { over: { count: 11 } });
  assert.deepEqual(await call({ ...INPUT, mode: "fail" }), { _err_eval: { reason: "no such city" } });
});

test("a client created from a metadata document also decodes by the contract", async () => {
  const document = await (await fetch(`${url}/probe/meta`)).text();
  const client = LeaderClient.fromMetadata<typeof Probe>(document, { contracts, url: `${url}/probe` });
  atEnd(() => client.close());
  const { value } = await client.invokeUnsigned({ ...INPUT, mode: "over" });
  assert.deepEqual(value, { count: 11 });
});

test("without a contract a result has its exact JSON", async () => {
  const client = await LeaderClient.connect(`${url}/probe`);
  atEnd(() => client.close());
  const { tag, value } = await client.invokeUnsigned({ ...INPUT, plain: 2n ** 60n });
  assert.equal(tag, "echo");
  assert.equal(value.id, INPUT.id);
  assert.equal(value.plain, 2n ** 60n);
  assert.equal(value.when, "2026-01-02T03:04:05.006Z");
  assert.equal(value.data, "AAH/");
  assert.equal((await client.invokeUnsigned(INPUT)).value.plain, null);
});

test("a stored value is a reference", async (t) => {
  const store = await TestStore.start();
  t.after(() => store.close());
  const storage = store.storage();
  control.upload = (bytes) => storage.upload(bytes) as Promise<never>;
  const result = await (await clientFor()).invokeUnsigned({ ...INPUT, mode: "store" });
  assert.ok(result.tag === "stored");
  assert.ok(result.value.report instanceof WalrusValue);
  assert.deepEqual(result.value.parts, [TREE]);
});

const fails = (code: string, details: RegExp) => (error: unknown) => {
  assert.ok(error instanceof LeaderError, String(error));
  assert.equal(error.code, code);
  assert.match(error.details ?? "", details);
  return true;
};

test("a client for another contract is refused, and so is a result of another contract", async () => {
  await assert.rejects(
    clientFor(contracts.filter(({ fqn }) => fqn !== Probe.fqn())),
    /^TypeError: contracts: expected a contract of xyz\.test\.probe@1, got xyz\.test\.twice@1$/,
  );
  const stale = contracts.map((contract) => ({ ...contract, output: contract.output.slice(1) }));
  const client = await clientFor(stale);
  await assert.rejects(
    client.invokeUnsigned(INPUT),
    fails("invalid_answer", /^the result does not match the given contract: the contract has no variant "echo"$/),
  );
});

test("the error for a wrong address contains it", async () => {
  await assert.rejects(
    LeaderClient.connect(`${url}/sum`),
    fails("not_found", new RegExp(`^no tool at this address; requested ${url}/sum/meta; ${url}/tools lists the paths`)),
  );
  await assert.rejects(
    LeaderClient.connect(`${url}/probe/invoke`),
    fails(
      "not_found",
      new RegExp(
        `; requested ${url}/probe/invoke/meta; the url ends in /invoke: give the tool's address, ${url}/probe$`,
      ),
    ),
  );
  await assert.rejects(
    LeaderClient.connect(`${url.replace("http:", "https:")}/probe`),
    fails("connection_failed", / the server uses plain HTTP: use http:\/\/ in the url, or the server's TLS port$/),
  );
});
