/** The image of a new project: built from its own Dockerfile, started as a container, called, stopped. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { dirname, join, relative } from "node:path";
import { after, describe, it } from "node:test";
import { LeaderClient } from "#runtime/leader.js";
import { REPOSITORY } from "../repository.js";
import { atEnd } from "../teardown.js";
import { ImageProcess, ImageStore, imagesUnavailable, ok } from "./image-build.js";
import { pack } from "./packages.js";

const FULL = process.env.SVC_TEST_FULL === "1";
const skip = FULL ? (imagesUnavailable() ?? false) : "SVC_TEST_FULL=1 builds images";

const GENERATOR = join(REPOSITORY, "generator/bin.js");
const BASE = "localhost/node-here";
const IMAGE = "localhost/wind-speed";
/** In the build's npm settings, as an access token would be. */
const SECRET = "token-of-a-private-registry";
const HAS_COMPILE_CACHE = Number(process.versions.node.split(".")[0]) >= 22;

const sh = (command: string, cwd: string) => ok("sh", ["-euc", command], cwd);

/** The lines of `docker build` in the head of a container file, without the command and the name of the image. */
function buildOptions(dockerfile: string): string[] {
  const [, options = ""] = /^# {3}docker build (.*)-t \S+ \.$/m.exec(dockerfile) ?? assert.fail(dockerfile);
  return options.split(" ").filter((option) => option !== "");
}

/** All layers but that of the base image. */
async function assertOnlyTool([, ...layers]: readonly string[]): Promise<void> {
  assert.ok(layers.length > 0);
  const files = (await Promise.all(layers.map((layer) => sh(`tar -tzf "${layer}"`, "/")))).join("").trim().split("\n");
  assert.ok(files.includes("tool/dist/generated/server.js"));
  const unwanted = /(^|\/)(typescript|ts-morph|svc-gen|_cacache|_logs|\.npm|\.npmrc|ca\.pem|config\.json)(\/|$)/;
  const outside = /^(?!(etc|tmp|run|var|tool|svc)\/)/;
  assert.deepEqual(
    files.filter((file) => unwanted.test(file) || outside.test(file)),
    [],
  );
  for (const layer of layers) {
    // Whether others may read a file, and its owner: root alone writes, the user of the image reads.
    const rights = `tar --numeric-owner -tvzf "${layer}" | awk '{ print substr($1, 8, 1), $2 }' | sort -u`;
    assert.equal((await sh(rights, "/")).trim(), "r 0/0");
    assert.equal((await sh(`gunzip -c "${layer}" | grep -c "${SECRET}" || true`, "/")).trim(), "0");
  }
}

if (skip !== false) it("the image of a tool project", { skip });

describe("the image of a tool project", { skip }, () => {
  const store = new ImageStore();
  after(() => store.close());
  const project = join(store.folder, "wind-speed");
  const volume = join(store.folder, "config");
  const svcGen = (...args: string[]) => ok(process.execPath, [GENERATOR, ...args], project);

  it("is built from the Dockerfile of a new project", async () => {
    await store.makeBase(BASE);
    const packs = join(store.folder, "packs");
    mkdirSync(packs);
    for (const name of ["svc-gen", "svc-client", "svc-runtime"] as const) await pack(name, packs);
    // A project takes its packages from where svc-gen itself was installed from.
    await sh("mkdir tools && cd tools && npm init -y && npm install --loglevel=error ../packs/*.tgz", store.folder);
    // Files that only their owner can read, as on a machine with a strict umask.
    await sh("umask 077; tools/node_modules/.bin/svc-gen new wind-speed --yes", store.folder);
    const source = join(project, "src/wind-speed.ts");
    const greeting = '    if (name.trim() === "")';
    // A call whose end the test decides.
    const wait = '    if (name.startsWith("http:")) name = await (await fetch(name)).text();\n';
    const text = readFileSync(source, "utf8");
    assert.ok(text.includes(greeting));
    writeFileSync(source, text.replace(greeting, wait + greeting));

    const options = buildOptions(readFileSync(join(project, "Dockerfile"), "utf8"));
    assert.deepEqual(options, ["--build-context", "packages=../packs"]);
    const out = await store.build(
      BASE,
      [...options, "-t", IMAGE, "."],
      project,
      `//registry.example/:_authToken=${SECRET}`,
    );

    // The entrypoint ran in the build, as a user who owns none of the files.
    assert.doesNotMatch(out, /^no compile cache$/m);
  });

  it("has no compiler, npm cache or secret, and all its files belong to root and are readable for its user", async () => {
    await assertOnlyTool(await store.layers(IMAGE));
  });

  const server = { client: undefined as LeaderClient | undefined, process: undefined as ImageProcess | undefined };
  const running = () => server.process ?? assert.fail("no container");

  /** The user of this image's `docker run`, as the shell of a user of the host gives it. */
  async function documentedUser(uid: number): Promise<string> {
    const [, options = ""] =
      /^# {3}docker run (.*) \S+$/m.exec(readFileSync(join(project, "Dockerfile"), "utf8")) ?? [];
    for (const option of ["--read-only", '-v "$PWD/config:/etc/svc:ro"']) assert.ok(options.includes(option), option);
    const [, user = assert.fail("no --user")] = /--user (\S+ \S+ \S+)/.exec(options) ?? [];
    // `exec "$@"` as that user, in a shell without any name for it.
    return (
      await ok("setpriv", [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "sh", "-c", `echo ${user}`], "/")
    ).trim();
  }

  it("the documented command runs it as the owner of a configuration that only the owner can read", async () => {
    const host = 1234;
    const folder = join(project, "config");
    await svcGen("config", "init");
    await sh(
      /^# {3}(mkdir config && mv .*)$/m.exec(readFileSync(join(project, "Dockerfile"), "utf8"))?.[1] ?? "false",
      project,
    );
    const file = join(folder, "config.json");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    for (const path of [folder, file]) chownSync(path, host, host);
    const user = await documentedUser(host);
    assert.equal(user, `${host}:${host}`);
    const refused = await ImageProcess.start(store, IMAGE, folder);
    assert.equal(await refused.exited, 1);
    assert.match(refused.log, /got EACCES; let the user of this process \(uid 1000\) read the file/);
    const owner = await ImageProcess.start(store, IMAGE, folder, undefined, user);
    await owner.logged('"msg":"serving"');
    await owner.signal("TERM");
    assert.equal(await owner.exited, 0);
  });

  it("serves with a read-only root, as user 1000, as process 1", async () => {
    const [leader, tool] = await Promise.all(
      ["leader.key", "tool.key"].map(async (file) =>
        JSON.parse(await svcGen("keys", "new", file, "--json", "--reveal")),
      ),
    );
    const config = JSON.parse(readFileSync(join(project, "config.example.json"), "utf8"));
    config.signed_http.allowed_leaders.leaders.push(leader.allowed_leaders);
    Object.assign(config.signed_http.tools, tool.tools);
    mkdirSync(volume);
    const file = join(volume, "config.json");
    writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
    for (const path of [volume, file]) chownSync(path, 1000, 1000);

    server.process = await ImageProcess.start(store, IMAGE, volume);
    await running().logged('"msg":"serving"');
    server.client = await LeaderClient.connect(`http://${running().address}:8080/wind-speed`, {
      leader: { id: "leader", keyId: 0, key: readFileSync(join(project, "leader.key"), "utf8") },
      toolKey: tool.public_key,
      allowHttp: true,
    });
    const { tag, value, signature } = await server.client.invoke({ name: "Ada" });
    assert.deepEqual([tag, value, signature], ["ok", { greeting: "Hello, Ada!" }, "verified"]);

    const report = `
    const fs = require("fs");
    const codes = ["/tmp/x", "/tool/x", "/tool/.compile-cache/x", "/etc/svc/x"].map((path) => {
      try { fs.writeFileSync(path, ""); } catch ({ code }) { return code; }
    });
    const [, capabilities] = /^CapBnd:\\t(.*)$/m.exec(fs.readFileSync("/proc/1/status", "utf8"));
    const [first] = fs.readFileSync("/proc/1/cmdline", "utf8").split("\\0");
    console.log(JSON.stringify({ ids: [process.getuid(), process.getgid()], codes, capabilities, first }));`;
    const { status, out } = await running().exec(["node", "-e", report]);
    assert.equal(status, 0, out);
    assert.deepEqual(JSON.parse(out), {
      ids: [1000, 1000],
      codes: ["EROFS", "EROFS", "EROFS", "EROFS"],
      capabilities: "0".repeat(16),
      first: "node",
    });
  });

  it("has a health check on a private port, which passes with a server and fails without one", async () => {
    const [kind, ...check] = (await store.config(IMAGE)).Healthcheck.Test;
    assert.equal(kind, "CMD");
    const { status, out } = await running().exec(check);
    assert.deepEqual([status, out], [0, ""]);
    const alone = await ImageProcess.start(store, IMAGE, volume, check);
    assert.deepEqual([await alone.exited, alone.log], [1, ""]);
    const socket = connect(9090, running().address);
    await assert.rejects(once(socket, "connect"), { code: "ECONNREFUSED" });
  });

  it("contains a compile cache that Node reads from the read-only root", async (t) => {
    const compiled = readdirSync(join(await store.root(IMAGE), "tool/.compile-cache"));
    if (!HAS_COMPILE_CACHE) {
      assert.deepEqual(compiled, []);
      return;
    }
    assert.equal(compiled.length, 1);
    const meta = ["node", "dist/generated/server.js", "--meta"];
    const { status, out } = await running().exec(meta, ["NODE_DEBUG_NATIVE=COMPILE_CACHE"]);
    assert.equal(status, 0);
    const [accepted, rejected, written] = [/was accepted/g, /was rejected/g, /writing cache/g].map(
      (pattern) => out.match(pattern)?.length ?? 0,
    ) as [number, number, number];
    t.diagnostic(`${accepted} modules from the compile cache`);
    assert.ok(accepted > 100, out);
    assert.deepEqual([rejected, written], [0, 0], out);
  });

  it("after SIGTERM a running call finishes, then the container exits with 0", async () => {
    const other = createServer().listen(0, running().gateway);
    atEnd(() => other.close());
    await once(other, "listening");
    const asked = once(other, "request") as Promise<[IncomingMessage, ServerResponse]>;
    const { port } = other.address() as AddressInfo;
    const client = server.client ?? assert.fail("no client");
    const call = client.invoke({ name: `http://${running().gateway}:${port}/` });
    const [, answer] = await Promise.race([
      asked,
      call.then(({ value }) => assert.fail(`answered ${JSON.stringify(value)}`)),
    ]);
    await running().signal("TERM");
    await running().logged('"msg":"stopping"');
    answer.end("Grace");
    const { value, signature } = await call;
    assert.deepEqual([value, signature], [{ greeting: "Hello, Grace!" }, "verified"]);
    client.close();
    assert.equal(await running().exited, 0);
    const last = JSON.parse(running().log.trim().split("\n").at(-1) ?? "");
    assert.deepEqual([last.msg, last.cut], ["stopped", 0]);
  });

  it("is built without the keys, the configuration and the npm settings in the project's folder", async () => {
    for (const path of ["keys/acme.key", "config/config.json", ".npmrc"]) {
      mkdirSync(join(project, dirname(path)), { recursive: true });
      writeFileSync(join(project, path), SECRET);
    }
    const everything = join(store.folder, "Containerfile");
    writeFileSync(everything, "FROM scratch\nCOPY . /\n");
    await store.buildah(["build", "--isolation", "chroot", "-f", everything, "-t", "localhost/context", "."], project);
    const [layer] = await store.layers("localhost/context");
    const files = (await sh(`tar -tzf "${layer}"`, "/")).trim().split("\n");
    assert.ok(files.includes("src/wind-speed.ts"));
    assert.deepEqual(
      files.filter((file) => /\.key$|(^|\/)config\.json$|npmrc|node_modules|^dist\//.test(file)),
      [],
    );
  });

  it("is built from docs/deploy/Containerfile, next to a checkout of svc", async () => {
    const folder = join(store.folder, "beside");
    mkdirSync(folder);
    await ok("git", ["clone", "-q", REPOSITORY, join(folder, "svc")]);
    await sh(`"${process.execPath}" "${GENERATOR}" new tool --fqn xyz.demo.tool@1 --yes --skip-install`, folder);
    const tool = join(folder, "tool");
    // From the clone in place of this checkout.
    const manifest = join(tool, "package.json");
    const own = `file:${relative(tool, REPOSITORY)}`;
    const text = readFileSync(manifest, "utf8");
    assert.ok(text.includes(`"${own}"`), text);
    writeFileSync(manifest, text.replaceAll(own, "file:../svc"));
    await sh("npm install --package-lock-only --loglevel=error", tool);
    const file = join(REPOSITORY, "docs/deploy/Containerfile");
    await store.build(BASE, ["-f", file, "--build-context", "svc=../svc", "-t", "localhost/beside", "."], tool, "");
    await assertOnlyTool(await store.layers("localhost/beside"));
    const meta = ["env", "NODE_DEBUG_NATIVE=COMPILE_CACHE", "node", "dist/generated/server.js", "--meta"];
    const described = await ImageProcess.start(store, "localhost/beside", volume, meta);
    assert.equal(await described.exited, 0, described.log);
    if (HAS_COMPILE_CACHE) assert.ok((described.log.match(/was accepted/g)?.length ?? 0) > 100, described.log);
    else assert.equal(described.log, "");
  });
});
