/** The published tools, imported into an empty folder: a project that compiles, and two of them ported. */

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

/** What an author writes after the import: the imports of a file, and `invoke`. */
const PORTED: Readonly<Record<string, readonly [imports: string, invoke: string]>> = {
  add: [
    "",
    `  override async invoke({ a, b }: Input): Promise<Output> {
    const result = a + b;
    return BigInt.asIntN(64, result) === result ? { ok: { result } } : { err: { reason: "overflow" } };
  }
`,
  ],
  "get-spot-price": [
    'import { HttpError, http, type InvokeContext } from "svc-runtime";\n',
    `  override async invoke({ currency_pair }: Input, context: InvokeContext): Promise<Output> {
    try {
      const url = new URL(\`/prices/\${currency_pair}/spot\`, process.env.UPSTREAM);
      const { amount = "", base = "", currency = "" } = (await http(context, url)).json() as Record<string, string>;
      return { ok: { amount, base, currency } };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return { err: { reason: error.kind, kind: CoinbaseErrorKind.NotFound, status_code: error.status } };
    }
  }
`,
  ],
};

test("two ported tools answer signed calls in one process, with unchanged contracts", async () => {
  const stub = / {2}override async invoke[\s\S]*?\n {2}}\n/;
  for (const [file, [imports, invoke]] of Object.entries(PORTED)) {
    const text = readFileSync(path(`src/${file}.ts`), "utf8");
    const ported = text
      .replace(stub, () => invoke)
      .replace("errEval, ", "")
      .replace("NOT_IMPLEMENTED", "OK");
    writeFileSync(path(`src/${file}.ts`), `${imports}${ported}`);
  }
  const committed = readFileSync(path("meta.json"), "utf8");
  assert.equal((await svcGenIn(root, ["--quiet"])).code, 0);
  assert.equal(readFileSync(path("meta.json"), "utf8"), committed);
  compile();

  const upstream = createServer(({ url }, response) => {
    const isKnown = url === "/prices/BTC-EUR/spot";
    response.writeHead(isKnown ? 200 : 404).end('{"amount":"64123.10","base":"BTC","currency":"EUR"}');
  });
  process.env.UPSTREAM = `http://${await listen(upstream)}`;
  const modules = await Promise.all(
    Object.keys(PORTED).map((file) => import(pathToFileURL(path(`dist-test/src/${file}.js`)).href)),
  );
  const classes = modules.map((module) => Object.values(module).find((each) => typeof each === "function"));
  const { contracts } = await import(pathToFileURL(path("dist-test/src/generated/contracts.js")).href);
  const harness = await createHarness(classes as never, { contracts });
  atEnd(() => harness.close());
  const [add, spot] = classes.map((each) => harness.of(each as never));
  async function call(tool: unknown, input: object): Promise<unknown> {
    const signed = tool as { invokeSigned(input: object): Promise<{ output: unknown; signature: string }> };
    const { output, signature } = await signed.invokeSigned(input);
    assert.equal(signature, "verified");
    return output;
  }
  const largest = 2n ** 63n - 1n;
  assert.deepEqual(await call(add, { a: largest - 1n, b: 1n }), { ok: { result: largest } });
  assert.deepEqual(await call(add, { a: largest, b: 1n }), { err: { reason: "overflow" } });
  assert.deepEqual(await call(spot, { currency_pair: "BTC-EUR" }), {
    ok: { amount: "64123.10", base: "BTC", currency: "EUR" },
  });
  assert.deepEqual(await call(spot, { currency_pair: "X-Y" }), {
    err: { reason: "status", kind: "not_found", status_code: 404 },
  });
});
