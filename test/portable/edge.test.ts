/** The client as an edge runtime has it: bundled for browsers, without the globals of Node, over `fetch`. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { platformProgram } from "./bundle.js";
import { expectConformance, expectSignedCall, FILES, serveEcho, serveUnsignedEcho } from "./expected.js";

const folder = mkdtempSync(join(tmpdir(), "svc-edge-"));
after(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, "platform.mjs"), (await platformProgram()).code);
writeFileSync(join(folder, "vectors.json"), JSON.stringify(FILES));

/** Evaluates an expression with the program's exports as `platform`; the result is what JSON carries. */
async function evaluate<T>(expression: string): Promise<T> {
  const main = join(folder, "main.mjs");
  writeFileSync(
    main,
    `import { readFileSync } from "node:fs";
    const vectors = JSON.parse(readFileSync(new URL("vectors.json", import.meta.url), "utf8"));
    const platform = await import("./platform.mjs");
    console.log(JSON.stringify(await (${expression})));`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [main]);
  return JSON.parse(stdout) as T;
}

test("it passes all vectors", async () => {
  expectConformance(await evaluate("platform.runVectors(vectors)"));
});

test("it signs, retries and verifies", async () => {
  const served = await serveEcho();
  expectSignedCall(await evaluate(`platform.callSigned(${JSON.stringify(served.target)})`), served);
});

test("it calls without signatures", async () => {
  const { url } = await serveUnsignedEcho();
  assert.equal(await evaluate(`platform.callUnsigned(${JSON.stringify(url)})`), 7);
});
