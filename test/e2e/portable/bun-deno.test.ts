/**
 * The client in Bun and Deno: bundled for the web, and as they resolve it. Bun takes the modules of Node, and `fetch`
 * since it replaces undici by a module without `dispatch`. Deno takes the portable ones: its node:crypto throws at some
 * keys, and it asks at the console before it loads libsodium. In the full run only, which installs both in
 * node_modules/.cache: 100 MB each.
 */

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { bundleForBrowsers, platformProgram } from "../../portable/bundle.js";
import { expectConformance, expectSignedCall, FILES, serveEcho, serveUnsignedEcho } from "../../portable/expected.js";
import { REPOSITORY } from "../../repository.js";
import { run, shellEnv } from "../packages.js";

const CACHE = join(REPOSITORY, "node_modules/.cache/runtimes");
const BIN = join(CACHE, "node_modules/.bin");

const RUNTIMES = {
  Bun: { command: [join(BIN, "bun")], engines: ["libsodium", "node:crypto"] },
  // With no other permission than this, so that nothing asks at the console.
  Deno: { command: [join(BIN, "deno"), "run", "--no-prompt", "--no-lock", "--allow-net"], engines: [] },
} as const;

const skip =
  process.env.SVC_TEST_FULL === "1"
    ? false
    : "NOT TESTED: client and server in Bun and Deno, in the full run only (SVC_TEST_FULL=1)";

// Within the repository, so that its packages and `#` imports resolve.
const folder = skip === false ? mkdtempSync(join(REPOSITORY, "dist", "tests-runtimes-")) : "";
after(() => rmSync(folder, { recursive: true, force: true }));

/** Evaluates an expression with the program's exports as `platform`; the result is what JSON carries. */
async function evaluate<T>([program, ...args]: readonly string[], file: string, expression: string): Promise<T> {
  const main = join(folder, `main-${file}`);
  writeFileSync(
    main,
    `import vectors from "./vectors.json" with { type: "json" };
    import * as platform from "./${file}";
    const evaluate = async () => ${expression};
    console.log(JSON.stringify(await evaluate()));`,
  );
  const audit = join(folder, "permissions");
  rmSync(audit, { force: true });
  const env = { ...process.env, DENO_AUDIT_PERMISSIONS: audit, DENO_NO_UPDATE_CHECK: "1" };
  const { stdout } = await promisify(execFile)(program as string, [...args, main], { env });
  const asked = existsSync(audit) ? readFileSync(audit, "utf8").match(/"permission":"\w+"/g) : [];
  assert.deepEqual(
    [...new Set(asked)].filter((each) => !/net/.test(each)),
    [],
    "permissions that were asked for",
  );
  return JSON.parse(stdout) as T;
}

describe("in other runtimes", { skip }, () => {
  before(async () => {
    mkdirSync(CACHE, { recursive: true });
    if (!Object.values(RUNTIMES).every(({ command: [program] }) => existsSync(program))) {
      writeFileSync(join(CACHE, "package.json"), '{ "private": true }\n');
      const args = ["install", "--no-audit", "--no-fund", "--no-save", "--foreground-scripts", "bun@1", "deno@2"];
      const { status, stderr } = spawnSync("npm", args, { cwd: CACHE, encoding: "utf8", env: shellEnv });
      assert.equal(status, 0, stderr);
    }
    writeFileSync(join(folder, "vectors.json"), JSON.stringify(FILES));
    writeFileSync(join(folder, "portable.mjs"), (await platformProgram()).code);
    const native = await bundleForBrowsers(
      `export * from "./platform.js";
      export const selectEngine = async (name: "libsodium" | "node:crypto") => (await import("#client/wire/signature/ed25519.js")).selectEngine(name);`,
      undefined,
      { platform: "node", external: ["svc-client", "svc-runtime/*", "#client/*", "#runtime/*", "@noble/*"] },
    );
    writeFileSync(join(folder, "native.mjs"), native.code);
  });

  for (const [name, { command, engines }] of Object.entries(RUNTIMES)) {
    test(`${name} runs the signed demo, server and leader`, async () => {
      const [program, ...args] = name === "Deno" ? [command[0], "run", "--allow-all"] : command;
      const { out } = await run(program, [...args, join(REPOSITORY, "examples/sum/dist/demo.js")]);
      assert.match(out, /unsigned: 401 auth_failed$/m);
      // Deno reports no exit code of a process that was sent SIGTERM.
      assert.match(out, name === "Deno" ? /end with exit code 0, got null$/m : /\nAll checks passed\. /);
    });

    for (const [file, title] of [
      ["portable.mjs", "bundled for the web"],
      ["native.mjs", "as it resolves svc-runtime/leader"],
    ] as const) {
      describe(`${name}, ${title}`, () => {
        test("the client passes all recorded vectors", async () => {
          expectConformance(await evaluate(command, file, "platform.runVectors(vectors)"));
          for (const engine of file === "native.mjs" ? engines : []) {
            const selected = `await platform.selectEngine(${JSON.stringify(engine)})`;
            expectConformance(await evaluate(command, file, `platform.runVectors(vectors, ${selected})`));
          }
        });

        test("the client signs, retries, verifies and calls without signatures", async () => {
          const served = await serveEcho();
          const { url } = await serveUnsignedEcho();
          const target = JSON.stringify(served.target);
          expectSignedCall(await evaluate(command, file, `platform.callSigned(${target})`), served);
          assert.equal(await evaluate(command, file, `platform.callUnsigned(${JSON.stringify(url)})`), 7);
        });
      });
    }
  }
});
