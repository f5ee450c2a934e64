/**
 * What a user misses without a package that this project was asked to use: the command fails and names it. Parts of
 * packages are in second-reader.test.ts and fastify-application.test.ts.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { SUM, signedCall, signedConfig } from "./bench/requests.js";
import { REPOSITORY } from "./repository.js";
import { scratchFolder } from "./scratch-folder.js";

const HOOK = new URL("without-package.mjs", import.meta.url).href;
const EXAMPLE = `${REPOSITORY}/examples/sum`;
/** A copy for svc-gen, in which it has not run: it would not load the compiler again. */
const copy = scratchFolder();
for (const name of ["src", "meta.json", "tsconfig.json", "package.json"]) {
  cpSync(`${EXAMPLE}/${name}`, `${copy}/${name}`, { recursive: true });
}
mkdirSync(`${copy}/node_modules/@types`, { recursive: true });
symlinkSync(`${REPOSITORY}/node_modules/@types/node`, `${copy}/node_modules/@types/node`);
symlinkSync(`${REPOSITORY}/runtime`, `${copy}/node_modules/svc-runtime`);
symlinkSync(`${REPOSITORY}/runtime/redis`, `${copy}/node_modules/svc-runtime-redis`);
const { href: BIN } = pathToFileURL(`${REPOSITORY}/generator/bin.js`);

/** Commands by the name that a user would give them. The folder is that of examples/sum. */
const COMMANDS = {
  "svc-gen --check": `process.argv = ["node", "svc-gen", "--check", "--quiet"];
    process.chdir(${JSON.stringify(copy)}); await import(${JSON.stringify(BIN)});`,
  "a start": `process.env.BIND_ADDR = "127.0.0.1:0"; const { serve } = await import("svc-runtime");
    const { provideContracts } = await import("svc-runtime/v1");
    provideContracts((await import("./dist/generated/contracts.js")).contracts);
    await (await serve([(await import("./dist/sum.js")).Sum])).close();`,
  "a result read by a leader": `const { decodeResult } = await import("svc-runtime/leader");
    decodeResult({ outputVariants: [{ name: "ok", ports: [] }] }, Buffer.from("026f6b00", "hex"));`,
  "a key": `const { prepareVerifyKey, publicKeyOf } = await import("svc-runtime/leader");
    prepareVerifyKey(publicKeyOf(Buffer.alloc(32, 1)));`,
} as const;

type Command = keyof typeof COMMANDS;

/** The start of a server that has a shared replay store. */
const REPLICA = `const { serve, ToolkitRuntimeConfig } = await import("svc-runtime");
  const { provideContracts } = await import("svc-runtime/v1");
  provideContracts((await import("./dist/generated/contracts.js")).contracts);
  process.env.SVC_REPLAY_REDIS_URL = "nowhere";
  const signed = { signed_http: { allowed_leaders: { version: 1, leaders: [] }, tools: { sum: {} } } };
  await serve([(await import("./dist/sum.js")).Sum], { config: ToolkitRuntimeConfig.fromJsonStr(JSON.stringify(signed)) });`;

/** What a server with an admin listener answers to a scrape. */
const SCRAPE = `process.env.SVC_ADMIN_ADDR = "127.0.0.1:0"; process.env.BIND_ADDR = "127.0.0.1:0";
  const { serve } = await import("svc-runtime");
  const { provideContracts } = await import("svc-runtime/v1");
  provideContracts((await import("./dist/generated/contracts.js")).contracts);
  const server = await serve([(await import("./dist/sum.js")).Sum]);
  const text = async (path) => (await fetch(server.adminUrl + path)).text();
  console.error(await text("/livez"), (await text("/metrics")).replace(/^#.*\\n/gm, ""));
  await server.close();`;

/** @param without names of packages, separated by spaces */
function run(command: string, without: string) {
  const code = `await import(${JSON.stringify(HOOK)}); ${command}`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: EXAMPLE,
    encoding: "utf8",
    env: { ...process.env, WITHOUT_PACKAGE: without },
  });
  return { status, stderr };
}

const PACKAGES: readonly (readonly [name: string, missed: Command])[] = [
  ["ts-morph", "svc-gen --check"],
  ["typescript-json-schema", "svc-gen --check"],
  ["ajv", "svc-gen --check"],
  ["handlebars", "svc-gen --check"],
  ["fastify", "a start"],
  ["@mysten/bcs", "a result read by a leader"],
  ["@noble/ed25519", "a key"],
  ["@noble/hashes", "a key"],
];

for (const [name, missed] of PACKAGES) {
  test(`without ${name} there is no ${missed}`, () => {
    const { status, stderr } = run(COMMANDS[missed], name);
    assert.equal(status, 1, stderr);
    assert.ok(stderr.includes(`Cannot find package '${name}`), stderr);
  });
}

test("SVC_REPLAY_REDIS_URL without svc-runtime-redis, or without what it needs: an error names the command to install it", () => {
  for (const missing of ["svc-runtime-redis", "ioredis"]) {
    const { status, stderr } = run(REPLICA, missing);
    assert.equal(status, 1);
    assert.match(stderr, /StartupError: SVC_REPLAY_REDIS_URL: .*: npm install svc-runtime-redis$/m);
  }
});

test("/metrics works with either metrics library; without one it answers which package to install", () => {
  for (const missing of ["@prometheus-io/client", "prom-client"]) {
    const { status, stderr } = run(SCRAPE, missing);
    assert.equal(status, 0, stderr);
    assert.match(stderr, /^svc_ready 1$/m);
    assert.match(stderr, /^process_cpu_seconds_total /m);
  }
  const { status, stderr } = run(SCRAPE, "@prometheus-io/client prom-client");
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^ok\n expected the package @prometheus-io\/client, .*npm install/m);
  assert.match(stderr, /"level":40,.*"msg":"\/metrics answers 501: /);
});

test("behind AWS Lambda, enforceBase64 keeps a signed result intact; the default does not", () => {
  // In BCS, the length of a text of 128 bytes or more is not UTF-8: 202, with the quotes.
  const { headers, body } = signedCall("note", "x".repeat(200));
  const http = { method: "POST", path: SUM.path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" };
  const event = { version: "2.0", rawPath: SUM.path, headers, requestContext: { http }, isBase64Encoded: true };
  const program = `
    const { default: awsLambdaFastify } = await import("@fastify/aws-lambda");
    const { ToolkitRuntimeConfig } = await import("svc-runtime");
    const { fastify, svcTools } = await import("svc-runtime/fastify");
    const { provideContracts } = await import("svc-runtime/v1");
    provideContracts((await import("./dist/generated/contracts.js")).contracts);
    const tools = [(await import("./dist/sum.js")).Sum];
    const config = ToolkitRuntimeConfig.fromJsonStr(${JSON.stringify(JSON.stringify(signedConfig([SUM.fqn])))});
    const event = ${JSON.stringify({ ...event, body: Buffer.from(body).toString("base64") })};
    const app = fastify({ pluginTimeout: 0 });
    await app.register(svcTools, { tools, config });
    for (const options of [{ enforceBase64: () => true }, {}]) {
      const answer = await awsLambdaFastify(app, { decorateRequest: false, ...options })(event, {});
      const bytes = Buffer.from(answer.body, answer.isBase64Encoded ? "base64" : "utf8");
      console.error(answer.statusCode, bytes.includes(Buffer.of(202, 1)) ? "intact" : "changed");
    }
    process.exit();`;
  const { stderr } = run(program, "no-such-package");
  assert.deepEqual(stderr.match(/^200 .*$/gm), ["200 intact", "200 changed"], stderr);
});
