/** docs/testing.md, docs/client.md and the first steps of docs/replicas.md are true: their code is compiled and run. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createHarness, Harness, type HarnessOptions } from "svc-runtime/testing";
import { ToolProject } from "../generator/project.js";
import { filesOf, GUIDE_FILES, snippetOf } from "../guide.js";
import { REPOSITORY } from "../repository.js";
import { until } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { shellEnv } from "./packages.js";
import { leasePort } from "./process.js";
import { withRedis } from "./redis/installed.js";

const tsc = join(REPOSITORY, "node_modules/typescript/bin/tsc");
const bin = join(REPOSITORY, "generator/bin.js");
const page = (path: string) => readFileSync(join(REPOSITORY, path), "utf8");

const testing = page("docs/testing.md");
const client = page("docs/client.md");
const { "src/sum.ts": sum = "", "tsconfig.json": tsconfig = "" } = GUIDE_FILES;

function projectWith(files: Readonly<Record<string, string>>): ToolProject {
  const project = new ToolProject({ "src/sum.ts": sum, "tsconfig.json": tsconfig, ...files });
  symlinkSync(REPOSITORY, join(project.root, "node_modules/svc-gen"));
  symlinkSync(join(REPOSITORY, "node_modules/tsx"), join(project.root, "node_modules/tsx"));
  mkdirSync(join(project.root, "node_modules/.bin"));
  return project;
}

async function loaded<T>(project: ToolProject, path: string): Promise<T> {
  return (await project.load(path)) as T;
}

function run(project: ToolProject, command: string) {
  return spawnSync("bash", ["-euc", command], { cwd: project.root, encoding: "utf8", env: shellEnv });
}

test("the tests of docs/testing.md pass, before the first svc-gen", () => {
  const project = projectWith(filesOf(testing));
  const commands = [...testing.matchAll(/^```sh run\n([\s\S]*?)^```$/gm)].map(([, command = ""]) => command);
  assert.equal(commands.length, 2);
  for (const command of commands) {
    const { status, stdout, stderr } = run(project, command);
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /^[#ℹ] pass 3$/m);
  }
});

for (const path of ["docs/http.md", "docs/from-rust.md"]) {
  test(`the tool and the test of ${path} work`, () => {
    const text = page(path);
    const project = projectWith(filesOf(text));
    symlinkSync(join(REPOSITORY, "node_modules/undici"), join(project.root, "node_modules/undici"));
    const { status, stdout, stderr } = run(project, snippetOf(text, "sh run"));
    assert.equal(status, 0, `${stdout}\n${stderr}`);
    assert.match(stdout, /^[#ℹ] pass 1$/m);
  });
}

test("the test kit reports a mistake in the tool as svc-gen does", () => {
  const project = projectWith({
    ...filesOf(testing),
    "src/sum.ts": sum.replace("label: string;", "label: Map<string, string>;"),
  });
  const { status, stdout } = run(project, "node --import tsx --test test/sum.test.ts");
  assert.equal(status, 1);
  assert.match(stdout, /src\/sum\.ts:\d+:\d+/);
  assert.match(stdout, /SVC\d{3}/);
});

test("every method and every option of a harness is in the table", () => {
  const table = (name: string) => testing.includes(`| \`${name}`);
  const methods = Object.getOwnPropertyNames(Harness.prototype).filter((name) => name !== "constructor");
  assert.deepEqual(
    [...methods, "logs"].filter((name) => !table(name)),
    [],
  );
  for (const option of ["signed", "leader", "config", "contracts", "project", "store"])
    assert.ok(table(option), option);
});

test("compiled: the tests without tsx, and the typed client of docs/client.md", async (t) => {
  const project = projectWith(filesOf(testing));
  project.build();
  const { Sum } = await loaded<{ Sum: Parameters<typeof createHarness>[0] }>(project, "src/sum.ts");
  const { contracts } = await loaded<Pick<HarnessOptions, "contracts">>(project, "src/generated/contracts.ts");
  const harness = await createHarness(Sum, { signed: false, ...(contracts && { contracts }) });
  t.after(() => harness.close());
  const url = await harness.http();
  const files = Object.entries(filesOf(client)).map(([path, text]) => [
    path,
    text.replace("http://127.0.0.1:8080", url),
  ]);
  const { compilerOptions } = JSON.parse(tsconfig);
  project.write({
    ...Object.fromEntries(files),
    "tsconfig.json": JSON.stringify({
      compilerOptions: { ...compilerOptions, rootDir: "." },
      include: ["src", "test"],
    }),
  });
  const { status, stdout, stderr } = run(project, `node ${tsc} && node --test dist/test/sum.test.js`);
  assert.equal(status, 0, `${stdout}\n${stderr}`);
  assert.match(stdout, /^[#ℹ] pass 3$/m);
  assert.deepEqual(await spawned(project, ["dist/src/typed.js"]), [0, "43n\n"]);

  // The client alone, with the class and the contracts that svc-gen makes from the tool's metadata.
  const remote = new ToolProject({ "tsconfig.json": tsconfig });
  const commands = snippetOf(client, "sh import").trim().split("\n");
  assert.equal(commands.length, 2);
  for (const command of commands) {
    const [, ...args] = command.replace("http://127.0.0.1:8080", url).split(" ");
    assert.equal((await spawned(remote, [bin, ...args]))[0], 0, command);
  }
  remote.write(Object.fromEntries(files));
  assert.deepEqual(run(remote, `node ${tsc}`).stdout, "");
  assert.deepEqual(await spawned(remote, ["dist/typed.js"]), [0, "43n\n"]);
});

test("docs/replicas.md: two replicas on one host, and a call that is repeated at the other", withRedis(), async () => {
  const text = page("docs/replicas.md");
  const ports = new Map([
    ["6379", await leasePort()],
    ["8081", await leasePort()],
    ["8082", await leasePort()],
  ]);
  const here = (from: string) => from.replace(/\b(?:6379|808[12])\b/g, (port) => String(ports.get(port)));
  const project = new ToolProject({});
  const made = run(project, `node ${bin} new my-tool --yes --skip-install && cd my-tool && node ${bin} config init`);
  const [, publicKey = assert.fail(made.stderr)] = /the public key is ([0-9a-f]{64})/.exec(made.stdout) ?? [];
  project.write(
    Object.fromEntries(Object.entries(filesOf(text)).map(([path, content]) => [`my-tool/${path}`, here(content)])),
  );
  const start = here(snippetOf(text, "sh replicas")).replace("npm run build", `node ${bin} && node ${tsc}`);
  const shell = spawn("bash", ["-euc", `${start}wait`], {
    cwd: join(project.root, "my-tool"),
    detached: true,
    env: { ...process.env, SVC_REPLAY_REDIS_GRACE_MS: "300" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  atEnd(() => shell.pid !== undefined && process.kill(-shell.pid, "SIGKILL"));
  let log = "";
  shell.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    log += chunk;
  });
  await until(() => log.match(/"msg":"serving"/g)?.length === 2, "both servers serve");
  const { stdout, stderr } = run(project, `cd my-tool; ${snippetOf(text, "sh repeat").replace("HEX", publicKey)}`);
  assert.equal(stdout, snippetOf(text, "text repeat"), stderr);
});

/** Exit code and output of a program. It must not block this process, which has the server. */
async function spawned(project: ToolProject, args: readonly string[]): Promise<[code: unknown, printed: string]> {
  const child = spawn(process.execPath, args, { cwd: project.root, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const [code] = await once(child, "close");
  return [code, printed];
}
