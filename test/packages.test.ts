/**
 * What a user misses without a package that this project was asked to use: a row fails without the package and names it,
 * and what does not need the package works. What is missed without a part of one is in second-reader.test.ts,
 * packages-needed.test.ts, portable/graph.test.ts and fastify-application.test.ts.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { REPOSITORY } from "./generator/project.js";

const HOOK = new URL("without-package.mjs", import.meta.url).href;
const EXAMPLE = `${REPOSITORY}/examples/sum`;
const { href: BIN } = pathToFileURL(`${REPOSITORY}/generator/bin.js`);

/** Commands by the name that a user would give them. The folder is that of examples/sum. */
const COMMANDS = {
  "svc-gen": `process.argv = ["node", "svc-gen", "--quiet"]; await import(${JSON.stringify(BIN)});`,
  "svc-gen --check": `process.argv = ["node", "svc-gen", "--check", "--quiet"]; await import(${JSON.stringify(BIN)});`,
  "server --meta": `process.argv = ["node", "server.js", "--meta"]; await import("./dist/generated/server.js");`,
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

function run(command: Command, without: string) {
  const code = `await import(${JSON.stringify(HOOK)}); ${COMMANDS[command]}`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], {
    cwd: EXAMPLE,
    encoding: "utf8",
    env: { ...process.env, WITHOUT_PACKAGE: without },
  });
  return { status, stderr };
}

const PACKAGES: readonly (readonly [name: string, missed: readonly Command[], works: Command])[] = [
  ["ts-morph", ["svc-gen --check"], "a key"],
  ["typescript-json-schema", ["svc-gen --check"], "a key"],
  ["ajv", ["svc-gen --check"], "svc-gen"],
  ["handlebars", ["svc-gen --check"], "a key"],
  ["fastify", ["a start"], "server --meta"],
  ["@mysten/bcs", ["a result read by a leader"], "a start"],
  ["@noble/ed25519", ["a key"], "svc-gen"],
  ["@noble/hashes", ["a key"], "svc-gen"],
];

for (const [name, missed, works] of PACKAGES) {
  test(`without ${name} there is no ${missed.join(", no ")}, and ${works} works`, () => {
    for (const command of missed) {
      const { status, stderr } = run(command, name);
      assert.equal(status, 1, `${command}: ${stderr}`);
      assert.ok(stderr.includes(`Cannot find package '${name}`), stderr);
    }
    const { status, stderr } = run(works, name);
    assert.equal(status, 0, `${works}: ${stderr}`);
  });
}

test("with all packages every command works", () => {
  for (const command of Object.keys(COMMANDS) as Command[]) {
    const { status, stderr } = run(command, "no-such-package");
    assert.equal(status, 0, `${command}: ${stderr}`);
  }
});
