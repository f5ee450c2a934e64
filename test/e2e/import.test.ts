/** The published tools, imported into an empty folder: a project that compiles, and six of them ported. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createHarness } from "svc-runtime/testing";
import { ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { listen } from "../listening.js";
import { REPOSITORY } from "../repository.js";
import { atEnd } from "../teardown.js";
import { shellEnv } from "./packages.js";
import { PORTED } from "./ported-tools.js";

const { root } = new ToolProject({});
const path = (file: string) => join(root, file);
const node = (...args: string[]) => spawnSync(process.execPath, args, { cwd: root, encoding: "utf8", env: shellEnv });
function compile(): void {
  const { status, stdout } = node(join(REPOSITORY, "node_modules/typescript/bin/tsc"), "-p", "test");
  assert.equal(status, 0, stdout);
}

before(async () => {
  for (const each of readdirSync(root)) rmSync(path(each), { recursive: true });
  const { out } = await svcGenIn(root, ["import", join(REPOSITORY, "test/generator/published/meta.json")]);
  assert.match(out, /^wrote package\.json and the other files of a new project$/m);
  mkdirSync(path("node_modules/@types"), { recursive: true });
  for (const [name, to] of [
    ["svc-runtime", "runtime"],
    ["svc-gen", "."],
    ["@types/node", "node_modules/@types/node"],
  ] as const) {
    symlinkSync(join(REPOSITORY, to), path(`node_modules/${name}`));
  }
  assert.equal((await svcGenIn(root, ["--quiet"])).code, 0);
});

test("all imported classes and their tests compile; each test is one to complete", () => {
  compile();
  // One process for all of them, which generates once.
  const tests = readdirSync(path("dist-test/test")).filter((name) => name.endsWith(".test.js"));
  writeFileSync(path("all.mjs"), tests.map((name) => `import "./dist-test/test/${name}";\n`).join(""));
  const { stdout } = node("--test-reporter=tap", "--test", "all.mjs");
  assert.match(stdout, /^# fail 0\n(?:#.*\n)*# todo 30$/m, stdout);
});

test("six ported tools answer signed calls in one process, with unchanged contracts", async () => {
  const stub = / {2}override async invoke[\s\S]*?\n {2}}\n/;
  for (const { file, before: imports = "", invoke } of PORTED) {
    const text = readFileSync(path(`src/${file}.ts`), "utf8");
    const ported = text
      .replace(stub, () => invoke.slice(1))
      .replace("errEval, ", "")
      .replace("NOT_IMPLEMENTED", "OK");
    writeFileSync(path(`src/${file}.ts`), `${imports}${ported}`);
  }
  const committed = readFileSync(path("meta.json"), "utf8");
  assert.equal((await svcGenIn(root, ["--quiet"])).code, 0);
  assert.equal(readFileSync(path("meta.json"), "utf8"), committed);
  compile();

  const upstream = createServer(({ url, headers }, response) => {
    const answers: Readonly<Record<string, string | Buffer>> = {
      "/prices/BTC-EUR/spot": '{"amount":"64123.10","base":"BTC","currency":"EUR"}',
      "/products/BTC-EUR/stats": '{"open":"1","high":"3","low":"1","volume":"9","last":"2"}',
      "/v1/blobs/b1": Buffer.from([0, 255, 7]),
      "/2/lists/7?list.fields=name%2Cmember_count": '{"data":{"id":"7","name":"n","member_count":3}}',
    };
    const isRefused = url?.startsWith("/2/") && headers.authorization !== "Bearer good";
    const answer = isRefused ? undefined : answers[url ?? ""];
    response.writeHead(isRefused ? 401 : answer === undefined ? 404 : 200).end(answer);
  });
  process.env.UPSTREAM = `http://${await listen(upstream)}`;

  const modules = await Promise.all(
    PORTED.map(({ file }) => import(pathToFileURL(path(`dist-test/src/${file}.js`)).href)),
  );
  const classes = modules.map((module) => Object.values(module).find((each) => typeof each === "function"));
  const { contracts } = await import(pathToFileURL(path("dist-test/src/generated/contracts.js")).href);
  const harness = await createHarness(classes as never, { contracts });
  atEnd(() => harness.close());
  const base = await harness.http();
  const [add, mul, spot, stats, file, list] = classes.map((each) => harness.of(each as never));
  async function call(tool: unknown, at: string, input: object): Promise<unknown> {
    const signed = (tool as { sign(input: object): { headers: Record<string, string>; body: Uint8Array } }).sign(input);
    const { headers, body } = signed;
    assert.equal((await fetch(`${base}/${at}/invoke`, { method: "POST", headers, body })).status, 200);
    const { output, signature } = await (
      tool as { invokeSigned(input: object): Promise<{ output: unknown; signature: string }> }
    ).invokeSigned(input);
    assert.equal(signature, "verified");
    return output;
  }
  const largest = 2n ** 63n - 1n;
  assert.deepEqual(await call(add, "i64/add", { a: largest - 1n, b: 1n }), { ok: { result: largest } });
  assert.deepEqual(await call(mul, "i64/mul", { a: largest, b: 2n }), { err: { reason: "overflow" } });
  assert.deepEqual(await call(spot, "get-spot-price", { currency_pair: "BTC-EUR" }), {
    ok: { amount: "64123.10", base: "BTC", currency: "EUR" },
  });
  assert.deepEqual(await call(spot, "get-spot-price", { currency_pair: "X-Y" }), {
    err: { reason: "status", kind: "not_found", status_code: 404 },
  });
  assert.deepEqual(await call(stats, "get-product-stats", { product_id: "BTC-EUR" }), {
    ok: { open: "1", high: "3", low: "1", volume: "9", last: "2" },
  });
  assert.deepEqual(await call(file, "read-file", { blob_id: "b1" }), { ok: { bytes: [0, 255, 7] } });
  // A caller's own aggregator is reached on the public network only.
  assert.deepEqual(await call(file, "read-file", { blob_id: "b1", aggregator_url: process.env.UPSTREAM }), {
    err: { reason: "forbidden_address", kind: "network" },
  });
  const fields = { list_id: "7", "list.fields": ["name", "member_count"] };
  assert.deepEqual(await call(list, "get-list", { bearer_token: "good", ...fields }), {
    ok: { id: "7", name: "n", member_count: 3 },
  });
  assert.deepEqual(await call(list, "get-list", { bearer_token: "bad", ...fields }), {
    err: { reason: "status", kind: "auth", status_code: 401 },
  });
});
