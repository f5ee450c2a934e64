/**
 * The packed packages, installed into clean folders: by npm without optional packages; with SVC_TEST_FULL=1 by npm, pnpm
 * and yarn, hoisted and isolated.
 */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { scratchFolder } from "../scratch-folder.js";
import {
  copyExample,
  inProject,
  installPrograms,
  installProject,
  MANAGERS,
  NPM,
  NPM_SERVER,
  sizeOf,
  YARN_PNP,
} from "./package-managers.js";
import { type PackedPackage, pack } from "./packages.js";
import { startServer } from "./process.js";

const ONLY_POSIX = { skip: process.platform === "win32" && "written for a POSIX shell" };
const ONLY_FULL = { skip: process.env.SVC_TEST_FULL !== "1" && "SVC_TEST_FULL=1 runs it" };

/**
 * What a server installs without optional packages: 62 packages and 13.4 MB on 2026-11-28, and room for what a new
 * version of a dependency may add. What is in them, and what fewer would take: VERSIONING.md.
 */
const MAX_PACKAGES = 66;
const MAX_MEGABYTES = 14.5;

/** Imports and requires every export of the installed packages of the runtime. */
const DOORS = `
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const require = createRequire(import.meta.url);
const installed = Object.keys(JSON.parse(readFileSync("package.json", "utf8")).dependencies);
const exported = installed.flatMap((name) =>
  Object.keys(require(name + "/package.json").exports)
    .filter((door) => !/package\\.json|\\*/.test(door))
    .map((door) => name + door.slice(1)),
);
for (const door of exported) {
  const [imported, required] = [await import(door), require(door)];
  const names = Object.keys(imported);
  const same = names.length > 0 && names.every((name) => imported[name] === required[name]);
  if (!same) throw new Error(door + ": require() gives something else than import");
}
console.log(exported.length + " doors");
`;

/** Runs svc-gen where Plug'n'Play has it, as `yarn svc-gen` does. */
const PNP_SVC_GEN = `
const manifest = process.getBuiltinModule("module").createRequire(process.cwd() + "/").resolve("svc-gen/package.json");
await import(manifest.replace("package.json", "generator/bin.js"));
`;

/** Imports every door, makes a signed call, and looks at the engine that would sign. */
async function assertServes(project: string, engine: RegExp): Promise<void> {
  writeFileSync(join(project, "doors.mjs"), DOORS);
  assert.match(await inProject(project, "node", "doors.mjs"), /^\d+ doors\n$/);
  assert.match(await inProject(project, "node", "dist/demo.js"), /\nAll checks passed\. /);
  const server = await startServer(join(project, "dist/generated/server.js"), { signed_http: { mode: "disabled" } });
  assert.match(server.log(), engine);
  assert.equal(await server.stop(), 0);
}

/** Why a server with an address of Redis that is none does not start. */
async function assertNotStarted(project: string, reason: RegExp): Promise<void> {
  const signed = { signed_http: { allowed_leaders: { version: 1, leaders: [] }, tools: { sum: {} } } };
  const start = startServer(join(project, "dist/generated/server.js"), signed, { SVC_REPLAY_REDIS_URL: "nowhere" });
  await assert.rejects(start, reason);
}

const engineOf = (omitsOptional: boolean) =>
  omitsOptional ? /"ed25519":"node:crypto \(sodium-native / : /"ed25519":"libsodium \(sodium-native is installed\)"/;

describe("installed packages", ONLY_POSIX, () => {
  let client: PackedPackage;
  let runtime: PackedPackage;
  let more: PackedPackage[];
  before(async () => {
    const target = scratchFolder();
    client = await pack("svc-client", target);
    runtime = await pack("svc-runtime", target);
    more = [await pack("svc-runtime-redis", target), await pack("svc-runtime-storage", target)];
  });

  describe(NPM_SERVER.title, () => {
    let project: string;
    before(async () => {
      project = await installProject(NPM_SERVER, { client, runtime });
    });

    it("is as large as VERSIONING.md says", (t) => {
      const { packages, bytes } = sizeOf(project);
      const megabytes = bytes / 1e6;
      t.diagnostic(`${packages} packages, ${megabytes.toFixed(1)} MB`);
      assert.ok(packages <= MAX_PACKAGES, `${packages} packages`);
      assert.ok(megabytes <= MAX_MEGABYTES, `${megabytes} MB`);
    });

    it("serves a project that was built elsewhere, with node:crypto; every export can be imported and required", async () => {
      copyExample(project, "build");
      await assertServes(project, engineOf(true));
    });

    it("shares a replay store if svc-runtime-redis is installed; otherwise the start asks for the package", async () => {
      await assertNotStarted(project, /npm install svc-runtime-redis\b/);
      await inProject(project, "npm", ...NPM, "--omit=optional", ...more.map(({ tarball }) => tarball));
      await assertNotStarted(project, /SVC_REPLAY_REDIS_URL: expected redis:/);
      await assertServes(project, engineOf(true));
    });
  });

  describe("every package manager", ONLY_FULL, () => {
    let generator: PackedPackage;
    let programs: string;
    before(async () => {
      generator = await pack("svc-gen", scratchFolder());
      programs = await installPrograms([...MANAGERS, YARN_PNP]);
    });
    // Before the file ends, which may not take long: the caches of all managers are in it.
    after(() => rm(programs, { recursive: true, force: true }));

    for (const manager of MANAGERS) {
      it(`${manager.title}: generates, compiles and serves`, async () => {
        const project = await installProject(manager, { client, runtime, generator, more }, programs);
        copyExample(project, "sources");
        await inProject(project, "svc-gen", "--quiet");
        await inProject(project, "tsc");
        await assertServes(project, engineOf(manager.omitsOptional));
        await assertNotStarted(project, /SVC_REPLAY_REDIS_URL: expected redis:/);
        // At once, for the same reason.
        await rm(project, { recursive: true });
      });
    }

    it(`${YARN_PNP.title}: serves; svc-gen names the setting that it needs`, async () => {
      const project = await installProject(YARN_PNP, { client, runtime, generator, more }, programs);
      copyExample(project, "sources");
      copyExample(project, "build");
      const pnp = `NODE_OPTIONS="--require ${project}/.pnp.cjs --loader ${project}/.pnp.loader.mjs" node`;
      const run = (args: string) => inProject(project, "sh", "-c", `${pnp} ${args}`);
      assert.match(await run("dist/demo.js"), /\nAll checks passed\. /);
      writeFileSync(join(project, "svc-gen.mjs"), PNP_SVC_GEN);
      await assert.rejects(run("svc-gen.mjs"), /error SVC103: svc-runtime is not found[\s\S]*nodeLinker: node-modules/);
    });
  });
});
