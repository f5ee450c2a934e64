/** The server of an example in the bundles that docs/deploy/README.md describes, with the commands of that page. */

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { scratchFolder } from "../scratch-folder.js";
import { inProject, NPM } from "./package-managers.js";
import { run } from "./packages.js";
import { startServer } from "./process.js";

const ROOT = process.cwd();
const ONLY_FULL = { skip: process.env.SVC_TEST_FULL !== "1" && "SVC_TEST_FULL=1 runs it" };
const PAGE = readFileSync("docs/deploy/README.md", "utf8");

/** Bundlers of the table by the command to run, with the packages that each needs. */
const BUNDLERS = [...PAGE.matchAll(/^\| (\w+) ([\d.]+) \| `((\w+) .*|\w+)` \|/gm)].map(
  ([, name = "", version = "", command = ""]) => ({ name, version, command }),
);
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  rollup: ["rollup", "@rollup/plugin-commonjs", "@rollup/plugin-json", "@rollup/plugin-node-resolve"],
  webpack: ["webpack", "webpack-cli"],
  rspack: ["@rspack/core", "@rspack/cli"],
  ncc: ["@vercel/ncc"],
};

/** Serves the bundle from a folder, and calls the tool once. */
async function assertServes(file: string, engine: RegExp): Promise<void> {
  const server = await startServer(file, { signed_http: { mode: "disabled" } });
  const answer = await fetch(`${server.url}/sum/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ a: 1, b: 2, label: "three", tags: ["x"] }),
  });
  assert.deepEqual(await answer.json(), { ok: { sum: 3, label: "three", tags: ["x"] } });
  assert.match(server.log(), engine);
  assert.equal(await server.stop(), 0);
}

describe("bundles", ONLY_FULL, () => {
  let project: string;
  before(async () => {
    project = scratchFolder();
    cpSync("examples/sum/dist", join(project, "dist"), { recursive: true });
    for (const name of ["rollup", "webpack", "vite"])
      cpSync(`docs/deploy/bundle/${name}.config.mjs`, join(project, `${name}.config.mjs`));
    writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
    const specs = BUNDLERS.flatMap(({ name, version }) => {
      const [first = name, ...others] = PACKAGES[name] ?? [];
      return [`${first}@${version}`, ...others];
    });
    // bun and esbuild fetch their programs, as packages of the registry, in scripts.
    const args = [...NPM.filter((arg) => arg !== "--engine-strict" && arg !== "--ignore-scripts"), ...specs];
    const { status, out } = await run("npm", args, { cwd: project });
    assert.equal(status, 0, out);
    for (const [name, path] of [
      ["svc-runtime", "runtime"],
      ["svc-client", "runtime/client"],
      ["sodium-native", "node_modules/sodium-native"],
    ] as const)
      symlinkSync(join(ROOT, path), join(project, "node_modules", name));
  });

  it("the page has eight bundlers", () => assert.equal(BUNDLERS.length, 8));

  for (const { name, version, command } of BUNDLERS) {
    it(`${name} ${version}`, async () => {
      const out = join(project, "out");
      mkdirSync(out, { recursive: true });
      await inProject(project, "sh", "-c", `rm -rf out && ${command}`);
      const file = name === "ncc" ? "index.js" : "server.mjs";
      const elsewhere = scratchFolder();
      cpSync(out, elsewhere, { recursive: true });
      await assertServes(join(out, file), /"ed25519":"libsodium /);
      await assertServes(join(elsewhere, file), /"ed25519":"node:crypto \(sodium-native cannot be loaded\)"/);
    });
  }
});
