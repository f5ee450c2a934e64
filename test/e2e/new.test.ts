/** A new project from packed packages, in a clean folder: made by `npm create`, installed, tested, built, served. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { LeaderClient } from "#runtime/leader.js";
import { CliProcess } from "../generator/cli-process.js";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";
import { ONLY_POSIX, PACKAGES, shell, shellEnv } from "./packages.js";
import { startServer } from "./process.js";

/** By default a command that passed is not run a second time. */
const FULL = process.env.SVC_TEST_FULL === "1";

const FQN = "xyz.demo.wind-speed@1";
/** Below both of these there is no node_modules of this repository on the way up. */
const packs = scratchFolder();
const clean = scratchFolder();
const installer = scratchFolder();
const project = join(clean, "wind-speed");

test("npm create svc-tool makes a project, installs it and generates", ONLY_POSIX, () => {
  for (const folder of [".", "runtime/client", "runtime", "generator/create-svc-tool"]) {
    shell(`npm pack --silent --ignore-scripts --pack-destination "${packs}"`, join(REPOSITORY, folder));
  }
  // As npm would install the packages; the packages that they need are those of this repository.
  symlinkSync(join(REPOSITORY, "node_modules"), join(installer, "node_modules"));
  const root = join(installer, "root");
  const packages: Record<string, object> = {};
  for (const name of ["svc-gen", "svc-client", "svc-runtime", "create-svc-tool"]) {
    const target = join(root, "node_modules", name);
    mkdirSync(target, { recursive: true });
    const tarball = join(packs, `${name}-0.1.0.tgz`);
    shell(`tar -xzf "${tarball}" --strip-components=1`, target);
    const { version, bin } = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
    packages[`node_modules/${name}`] = { version, resolved: `file:${tarball}`, bin };
  }
  mkdirSync(join(root, "node_modules/.bin"));
  symlinkSync("../create-svc-tool/create.js", join(root, "node_modules/.bin/create-svc-tool"));
  writeFileSync(join(root, "package.json"), '{ "private": true }');
  const lock = { name: "root", lockfileVersion: 3, requires: true, packages };
  writeFileSync(join(root, "node_modules/.package-lock.json"), JSON.stringify(lock));

  const said = shell(`npm create svc-tool "${project}" -- --fqn ${FQN} --yes`, root);
  assert.ok(said.includes(`${FQN} is ready. Next:\n`), said);
  assert.ok(existsSync(join(project, "meta.json")));
  const { packages: installed } = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8"));
  for (const name of ["svc-gen", "svc-client", "svc-runtime"]) {
    const { resolved } = installed[`node_modules/${name}`];
    assert.equal(realpathSync(join(project, resolved.slice("file:".length))), join(packs, `${name}-0.1.0.tgz`));
  }
});

test("the steps of its workflow pass", ONLY_POSIX, () => {
  const workflow = readFileSync(join(project, ".github/workflows/ci.yml"), "utf8");
  const steps = [...workflow.matchAll(/^ {6}- run: (.*)$/gm)].map(([, step = ""]) => step);
  assert.deepEqual(steps, ["npm ci", "npx svc-gen --check", "npm run build", "npm test"]);
  // What `npm ci` would install has just been installed.
  for (const step of steps.slice(1)) {
    const out = shell(step, project);
    if (step === "npm test") assert.match(out, /^[#ℹ] pass 3\n[#ℹ] fail 0$/m);
  }
  // They test the tool: with another greeting they fail.
  const compiled = join(project, "dist-test/src/wind-speed.js");
  writeFileSync(compiled, readFileSync(compiled, "utf8").replace("Hello", "Goodbye"));
  const tests = ["--test", "dist-test/test/wind-speed.test.js"];
  assert.equal(spawnSync(process.execPath, tests, { cwd: project, env: shellEnv }).status, 1);
});

/** The commands of docs/get-started.md, each with the output that the page shows for it. */
function getStarted(): (readonly [command: string, shown: string])[] {
  const page = readFileSync(join(REPOSITORY, "docs/get-started.md"), "utf8");
  const blocks = /^```sh get started\n([\s\S]*?)^```$(?:\n\n```text get started\n([\s\S]*?)^```$)?/gm;
  return [...page.matchAll(blocks)].flatMap(([, commands = "", shown = ""]) =>
    commands
      .trim()
      .split("\n")
      .map((command) => [command, shown] as const),
  );
}

test("docs/get-started.md, with a type error that is corrected", ONLY_POSIX, async (t) => {
  const bin = join(project, "node_modules/svc-gen/generator/bin.js");
  const source = join(project, "src/wind-speed.ts");
  const good = readFileSync(source, "utf8");
  const { scripts } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  let server: CliProcess | undefined;
  const serve = async (...args: string[]) => {
    assert.equal(await (server?.interrupt() ?? 0), 0);
    server = new CliProcess(project, [...args, "--port", "0"], bin);
    await server.line(/^✓ serving on /);
    return server;
  };
  /** A command as it is typed, standard error included. */
  const typed = (command: string) => {
    const { status, stdout, stderr } = spawnSync("sh", ["-euc", command], {
      cwd: project,
      env: shellEnv,
      encoding: "utf8",
    });
    return { status, out: stdout, err: stderr };
  };
  const greeting = (times: string) => `{"ok":{"greeting":"${times}"}}`;
  const withoutTimes = (text: string) => text.replaceAll(/\d+ ms/g, "0 ms");
  const compact = (text: string) => text.replaceAll(/\n */g, "").replaceAll('": ', '":');

  const steps = new Map<string, (command: string, shown: string) => Promise<void> | void>([
    // Done by the test before, from the registry's point of view.
    ["node generator/bin.js new ../my-tool --yes", () => {}],
    ["cd ../my-tool", () => {}],
    [
      "npm run dev",
      async () => {
        assert.equal(scripts.dev, "svc-gen dev");
        await serve("dev");
      },
    ],
    [
      `npx svc-gen invoke '{"name":"Ada","options":{"times":2}}'`,
      async (command, shown) => {
        const { out, err } = typed(command);
        assert.equal(withoutTimes(out + err), withoutTimes(shown));
        const result = compact(out);
        writeFileSync(source, good.replace("name.trim()", "name.trimm()"));
        await server?.complaint(
          /src\/wind-speed\.ts:\d+:\d+ - error TS\d+[\s\S]*~~~[\s\S]*the last good build keeps serving/,
        );
        assert.equal(compact(typed(command).out), result, "the last good build serves");
        writeFileSync(source, good.replace("Hello, ", "Ahoi, "));
        await server?.line(/^✓ serving on \S+ after/);
        assert.equal(compact(typed(command).out), greeting("Ahoi, Ada! Ahoi, Ada!"));
        writeFileSync(source, good);
        await server?.line(/^✓ serving on \S+ after/);
      },
    ],
    [
      `npx svc-gen invoke '{"nam":"Ada"}'`,
      (command, shown) => {
        const { status, err } = typed(command);
        assert.deepEqual([status, err], [1, shown]);
      },
    ],
    [
      "npm test",
      (command) => {
        // The last step of the workflow, with the same sources.
        assert.equal(readFileSync(source, "utf8"), good);
        if (FULL) assert.match(shell(command, project), /^[#ℹ] pass 3\n[#ℹ] fail 0$/m);
      },
    ],
    [
      "npx svc-gen dev --signed",
      async () => {
        await serve("dev", "--signed");
      },
    ],
    [
      `npx svc-gen invoke '{"name":"Ada"}' --signed --replay`,
      (command, shown) => {
        const { status, out, err } = typed(command);
        assert.deepEqual([status, withoutTimes(out + err)], [0, withoutTimes(shown)]);
      },
    ],
    ["npx svc-gen --check", (command) => assert.equal(typed(command).status, 0)],
  ]);
  try {
    const commands = getStarted();
    assert.deepEqual(
      commands.map(([command]) => command),
      [...steps.keys()],
    );
    for (const [command, shown] of commands) {
      const from = performance.now();
      await steps.get(command)?.(command, shown);
      t.diagnostic(`${((performance.now() - from) / 1000).toFixed(1)} s  ${command}`);
    }
  } finally {
    assert.equal(await (server?.interrupt() ?? 0), 0);
  }
});

test(
  "the project can be served, and git ignores exactly the files that must not be committed",
  ONLY_POSIX,
  async () => {
    const server = join(project, "dist/generated/server.js");
    const open = await startServer(server, {});
    const readme = readFileSync(join(project, "README.md"), "utf8");
    const [, path = "", body = ""] = /127\.0\.0\.1:8080(\S+) -d '(.*)'/.exec(readme) ?? assert.fail(readme);
    const answer = await fetch(open.url + path, { method: "POST", body });
    assert.deepEqual(await answer.json(), { ok: { greeting: "Hello, Ada! Hello, Ada!" } });
    assert.equal(await open.stop(), 0);

    // As the README of the project says, with the public key of a leader.
    const acme = JSON.parse(shell("npx svc-gen keys new acme.key --leader-id acme --json", project));
    shell(`npx svc-gen config init --leader-id acme --leader-public-key ${acme.public_key}`, project);
    shell("npx svc-gen config check config.json", project);
    for (const file of ["acme.key", "config.json"]) rmSync(join(project, file));

    // By hand: the example of a configuration with the entries that `keys new` prints.
    const keysOf = (file: string) => JSON.parse(shell(`npx svc-gen keys new ${file} --json --reveal`, project));
    const [leader, tool] = [keysOf("leader.key"), keysOf("tool.key")];
    const config = JSON.parse(readFileSync(join(project, "config.example.json"), "utf8"));
    config.signed_http.allowed_leaders.leaders.push(leader.allowed_leaders);
    Object.assign(config.signed_http.tools, tool.tools);
    const signed = await startServer(server, config);
    const client = await LeaderClient.connect(`${signed.url}/wind-speed`, {
      leader: { id: "leader", keyId: 0, key: readFileSync(join(project, "leader.key"), "utf8") },
      toolKey: tool.public_key,
    });
    const { tag, value, signature } = await client.invoke({ name: "Ada" });
    assert.deepEqual([tag, value, signature], ["ok", { greeting: "Hello, Ada!" }, "verified"]);
    client.close();
    assert.equal(await signed.stop(), 0);

    writeFileSync(join(project, "config.json"), "{}");
    mkdirSync(join(project, ".svc"), { recursive: true });
    writeFileSync(join(project, ".svc/leader.key"), "");
    const listed = shell("git init -q . && git add . && git ls-files", project).trim().split("\n").sort();
    assert.deepEqual(listed, [
      ".dockerignore",
      ".gitattributes",
      ".github/workflows/ci.yml",
      ".gitignore",
      "AGENTS.md",
      "Dockerfile",
      "README.md",
      "config.example.json",
      "meta.json",
      "package-lock.json",
      "package.json",
      "src/generated/contracts.ts",
      "src/generated/server.ts",
      "src/wind-speed.ts",
      "test/tsconfig.json",
      "test/wind-speed.test.ts",
      "tsconfig.json",
    ]);
  },
);

test("the commands of its AGENTS.md work", ONLY_POSIX, () => {
  const text = readFileSync(join(project, "AGENTS.md"), "utf8");
  const commands = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, command = ""]) => command);
  assert.ok(commands.length > 5);
  shell("git -c user.name=a -c user.email=a@example.org commit -qm first", project);
  // The tests above ran these.
  const done = [...getStarted().map(([command]) => command), "npm test", "npm run build"];
  for (const command of commands.filter((each) => !done.includes(each))) shell(command, project);
  assert.ok(existsSync(join(project, "src/rate.ts")));
});

test("all packages have one version, which they require of each other", () => {
  const manifests = Object.values(PACKAGES).map((folder) =>
    JSON.parse(readFileSync(join(REPOSITORY, folder, "package.json"), "utf8")),
  );
  const [{ version, engines }] = manifests;
  for (const manifest of manifests) {
    assert.deepEqual([manifest.version, manifest.engines], [version, engines]);
    const required = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies });
    const own = required.filter(([name]) => name in PACKAGES);
    assert.deepEqual(
      own.filter(([, range]) => range !== version),
      [],
      manifest.name,
    );
  }
});
