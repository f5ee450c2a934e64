/**
 * One tool project on TypeScript 5.9, 6, 7.0 and 7.1: generated, compiled by its own tsc, served, called. And what
 * test/typescript/versions.test.ts tests of versions 7.0 and 7.1, with the versions before.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { svcGenIn } from "../generator/run-cli.js";
import { REPOSITORY } from "../repository.js";
import { COMPILERS, compile, projectWith } from "../typescript/compilers.js";
import { testOptions } from "../typescript/option-tests.js";
import { testStrictest } from "../typescript/strictest-tests.js";
import { startServer } from "./process.js";

const textOf = (file: string) => readFileSync(join(REPOSITORY, "test/typescript/project", file), "utf8");

/** What `tsc --init` writes with its suggestions for Node, and one tool. */
const FILES = { "tsconfig.json": textOf("tsconfig.json"), "src/shipment.ts": textOf("shipment.ts") };

const INPUT =
  '{"parcels":[{"weight":9007199254,"size":[1,2,3],"contents":{"book":2,"pen":1}},' +
  '{"weight":1,"size":[4,5],"contents":{},"insured":{"value":9007199254740993,"until":"2030-01-01T00:00:00Z"}}],' +
  '"carrier":{"drone":{"range":3.5}},"pickup":"2024-02-29T12:00:00.000Z","label":"AQID","note":NOTE}';
const light = INPUT.replace("9007199254,", "29999,");

/** Requests and the bytes that answer them. */
const CALLS = [
  [
    light.replace("NOTE", "null"),
    '{"booked":{"number":"S-2-drone","weight":30000,"arrival":"2024-02-29T12:00:00.000Z","label":"AwIB",' +
      '"pieces":[2,3],"byCarrier":{"drone":30000},"insured":9007199254740993}}',
  ],
  [INPUT.replace("NOTE", '"later"'), '{"refused":{"reason":"too-heavy","parcel":0}}'],
  [light.replace("NOTE", '"closed"'), '"closed"'],
] as const;

/** The generated files of the first version. */
let generated: readonly string[] | undefined;

for (const compiler of COMPILERS) {
  test(`TypeScript ${compiler.version}: generates, compiles, serves and answers`, async () => {
    const { root } = projectWith(compiler, FILES);
    assert.equal(compile(compiler, root, ["--version"]).startsWith(`Version ${compiler.version}`), true);
    const { code, err } = await svcGenIn(root, ["--quiet"]);
    assert.equal(code, EXIT.done, err);
    assert.equal(compile(compiler, root), "");
    const texts = ["src/generated/contracts.ts", "src/generated/server.ts", "meta.json"].map((file) =>
      readFileSync(join(root, file), "utf8"),
    );
    generated ??= texts;
    assert.deepEqual(texts, generated, "the same files for every version");
    const server = await startServer(join(root, "dist/generated/server.js"), {});
    try {
      for (const [body, answer] of CALLS) {
        const response = await fetch(`${server.url}/shipment/invoke`, {
          method: "POST",
          headers: { accept: "application/json" },
          body,
        });
        assert.equal(await response.text(), answer);
        assert.equal(response.status, 200);
      }
    } finally {
      assert.equal(await server.stop(), 0);
    }
  });
}

const [oldest, six] = COMPILERS;

testOptions([oldest, six]);
testStrictest([oldest, six]);
