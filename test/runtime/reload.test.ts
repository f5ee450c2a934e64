/** A running server and the files that it is configured by (protocol.md section 10). */

import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type BootstrapOptions, type RunningServer, ToolkitRuntimeConfig } from "#runtime/index.js";
import { proves } from "../proves.js";
import { scratchFolder } from "../scratch-folder.js";
import { expectError } from "./raw.js";
import {
  alice,
  aliceKey2,
  allowList,
  bob,
  type CountingTool,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  type Leader,
  type LogEntry,
  serveFor,
  signedConfig,
  TOOL_SEED,
  until,
} from "./tools.js";

const root = scratchFolder();

let serial = 0;
const newPath = () => {
  const directory = join(root, `${serial++}`);
  mkdirSync(directory);
  return join(directory, "config.json");
};

const OTHER_SEED = Buffer.alloc(32, 77);

/** What a version says. */
interface Version {
  readonly leaders?: readonly Leader[];
  /** Instead of leaders. */
  readonly list?: string;
  readonly key?: Buffer | undefined;
  readonly ttlMs?: number;
  readonly maxBody?: number;
  readonly mode?: "disabled" | "required";
  readonly tools?: readonly string[];
}

function text(tools: readonly string[], version: Version): string {
  const { leaders = [alice, bob], list, key = TOOL_SEED, ttlMs, maxBody, mode, tools: named = tools } = version;
  const entry = JSON.stringify({
    ...((!("key" in version) || version.key !== undefined) && { response_signing_key: key.toString("hex") }),
    ...(ttlMs !== undefined && { replay_cache_ttl_ms: ttlMs }),
  });
  const source =
    list === undefined ? `"allowed_leaders":${allowList(leaders)}` : `"allowed_leaders_path":${JSON.stringify(list)}`;
  return `{${maxBody === undefined ? "" : `"invoke_max_body_bytes":${maxBody},`}"signed_http":{${
    mode === undefined ? "" : `"mode":"${mode}",`
  }${source},"tools":{${named.map((name) => `"${name}":${entry}`)}}}}`;
}

interface Reloadable {
  readonly tool: CountingTool;
  readonly server: RunningServer;
  readonly config: ToolkitRuntimeConfig;
  readonly path: string;
  readonly log: readonly LogEntry[];
  readonly messages: (level: string) => string[];
  /** Puts a version there, as `mv` does, and waits until it was looked at. */
  put(version: Version | string): Promise<void>;
}

/** A server of an echo tool with a configuration's file; looks every 20 ms unless said otherwise. */
async function start(version: Version = {}, options: BootstrapOptions = {}): Promise<Reloadable> {
  const tool = countingTool();
  const path = newPath();
  writeFileSync(path, text([tool.fqn], version), { mode: 0o600 });
  const config = ToolkitRuntimeConfig.fromPath(path);
  const server = await serveFor([tool], { config, reloadIntervalMs: 20, ...options });
  return {
    ...{ tool, server, config, path, log: server.log },
    messages: (level) => server.log.filter((entry) => entry.level === level).map(({ message }) => message),
    put: async (next) => {
      write(path, typeof next === "string" ? next : text([tool.fqn], next));
      await server.reload();
    },
  };
}

function write(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

describe("what a reload changes", () => {
  it("leaders: a revoked key is refused, a new one accepted, on the next request", async () => {
    const { tool, server, path } = await start({}, { reloadIntervalMs: 1_000 });
    const accepted = async (leader: Leader) => (await echoCall(tool, "1", { leader }).send(server.url)).status === 200;
    assert.deepEqual([await accepted(bob), await accepted(aliceKey2)], [true, false]);
    for (const [leaders, kept, gone] of [
      [[alice, aliceKey2], aliceKey2, bob],
      [[alice, bob], bob, aliceKey2],
    ] as const) {
      write(path, text([tool.fqn], { leaders }));
      await until(async () => !(await accepted(gone)), "the revoked key is refused");
      assert.deepEqual([await accepted(kept), await accepted(alice)], [true, true]);
      const refused = await echoCall(tool, "1", { leader: gone }).send(server.url);
      assert.equal(
        expectError(refused, 401, "auth_failed"),
        "X-Svc-Leader-Key-Id: no such leader and key in the allow-list",
      );
    }
  });

  it("the signing key: cached results are signed with the current key, or with none", async () => {
    const { tool, server, put, messages } = await start();
    const call = echoCall(tool, '"kept"');
    expectResult(await call.send(server.url), echoed('"kept"'), call);
    await put({ key: OTHER_SEED });
    expectResult(await call.send(server.url), echoed('"kept"'), call, OTHER_SEED);
    const fresh = echoCall(tool, "2");
    expectResult(await fresh.send(server.url), echoed("2"), fresh, OTHER_SEED);
    await put({ key: undefined });
    expectResult(await call.send(server.url), echoed('"kept"'));
    assert.deepEqual(messages("warn"), [
      "results of the tool are not signed: add response_signing_key to its entry in the configuration",
    ]);
    await put({});
    expectResult(await call.send(server.url), echoed('"kept"'), call);
    assert.equal(tool.calls.invoked, 2);
  });

  it("TTLs: an entry older than the new TTL is not found", async () => {
    const { tool, server, put } = await start({ ttlMs: 300_000 });
    const call = echoCall(tool, "1");
    await call.send(server.url);
    await call.send(server.url);
    assert.equal(tool.calls.invoked, 1);
    await put({ ttlMs: 1 });
    await sleep(2);
    await call.send(server.url);
    assert.equal(tool.calls.invoked, 2);
  });

  it("is logged with the names of the served tools, without text of the file", async () => {
    const { tool, path, put, log } = await start();
    const told = () => log.filter(({ message }) => message.startsWith("loaded a new version of")).map((e) => e.fields);
    await put({ key: OTHER_SEED, ttlMs: 5 });
    await put({ key: OTHER_SEED, ttlMs: 5, tools: [tool.fqn, "xyz.test.unserved@1"] });
    await put({ key: OTHER_SEED, ttlMs: 5, leaders: [alice] });
    assert.deepEqual(told(), [
      { signingKeys: [tool.fqn], replayTtls: [tool.fqn], leaders: false },
      { signingKeys: [], replayTtls: [], leaders: false },
      { signingKeys: [], replayTtls: [], leaders: true },
    ]);
    assert.match(log.at(-1)?.message ?? "", new RegExp(`^loaded a new version of configuration "${path}"`));
  });
});

describe("a version with changes that a reload cannot make is refused as a whole", () => {
  it("the mode, in both directions", async () => {
    const { tool, server, path, put, messages } = await start();
    const gone = { leaders: [alice], mode: "disabled" } as const;
    const kept = "; the previous version remains in use";
    await put(gone);
    await put("{}");
    const fault = `configuration "${path}" must not change the mode of signed requests (required), got disabled; restart the process to change the mode`;
    assert.deepEqual(messages("warn"), [fault + kept, fault + kept]);
    const call = echoCall(tool, "1", { leader: bob });
    expectResult(await call.send(server.url), echoed("1"), call);

    const unsigned = await start({ mode: "disabled" });
    await unsigned.put({});
    assert.match(
      unsigned.messages("warn").at(-1) ?? "",
      /must not change the mode of signed requests \(disabled\), got required; restart/,
    );
    assert.equal(unsigned.config.signedHttpIsRequired(), false);
    proves("10.14");
  });

  it("a served tool's entry", async () => {
    const { tool, server, path, put, messages } = await start();
    await put({ leaders: [alice], tools: ["xyz.test.unserved@1"], key: OTHER_SEED });
    assert.deepEqual(messages("warn"), [
      `configuration "${path}" must keep the entries of all served tools, got no entry for ${tool.fqn}; restore it, or restart the process without these tools; the previous version remains in use`,
    ]);
    const call = echoCall(tool, "1", { leader: bob });
    expectResult(await call.send(server.url), echoed("1"), call);
    proves("10.14");
  });

  it("invoke_max_body_bytes waits for a restart, which is logged once, while the rest is adopted", async () => {
    const { tool, server, config, put, log } = await start({ maxBody: 10_000 });
    await put({ maxBody: 10, leaders: [alice] });
    await put({ maxBody: 10, leaders: [alice, aliceKey2] });
    const call = echoCall(tool, "1");
    assert.equal(config.invokeMaxBodyBytes(), 10_000n);
    expectResult(await call.send(server.url), echoed("1"), call);
    const refused = await echoCall(tool, "1", { leader: bob }).send(server.url);
    expectError(refused, 401, "auth_failed");
    const waiting = log.filter(({ message }) => message.includes("takes effect after a restart"));
    assert.deepEqual(
      waiting.map(({ fields }) => fields),
      [{ inForce: "10000", waiting: "10" }],
    );
    await put({ maxBody: 10_000 });
    await put({ maxBody: 11 });
    assert.equal(log.filter(({ message }) => message.includes("takes effect after a restart")).length, 2);
    proves("10.14");
  });
});

describe("a version that cannot be used", () => {
  it("is logged with its position; the last valid version stays in force until the next", async () => {
    const { tool, server, path, put, messages } = await start();
    const good = text([tool.fqn], { leaders: [alice] });
    const call = () => echoCall(tool, "1", { leader: bob });
    for (const [bad, fault] of [
      [good.slice(0, -20), /^configuration ".*", line 1, column \d+: the document must be JSON/],
      ["", /must be JSON/],
      [good.replace('"tools"', '"tolls"'), /must contain only mode, .*got another member/],
      [good.replace(TOOL_SEED.toString("hex"), "canary"), /response_signing_key must be an Ed25519 private key/],
      [good.replace(/"public_key":"../, '"public_key":"zz'), /public_key must be an Ed25519 public key/],
    ] as const) {
      await put(bad);
      assert.match(messages("warn").at(-1) ?? "", fault);
      assert.match(messages("warn").at(-1) ?? "", /; the previous version remains in use$/);
      assert.equal((await call().send(server.url)).status, 200);
      assert.equal(
        server.reloads().config?.fault,
        messages("warn")
          .at(-1)
          ?.replace(/; the previous.*/, ""),
      );
    }
    rmSync(path);
    await server.reload();
    assert.match(messages("warn").at(-1) ?? "", /ENOENT/);
    assert.equal((await call().send(server.url)).status, 200);
    await put(good);
    assert.equal((await call().send(server.url)).status, 401);
    const { applied, refused, fault } = server.reloads().config ?? assert.fail();
    assert.deepEqual([applied, refused, fault], [1, 6, undefined]);
    proves("10.13");
  });
});

describe("an allow-list by path", () => {
  it("each new version that a look-up reads is logged and counted, also between two polls", async () => {
    const list = newPath();
    write(list, allowList([alice]));
    const { tool, server, messages } = await start({ list }, { reloadIntervalMs: 2_147_483_647 });
    for (const leader of [bob, aliceKey2, aliceKey2, alice]) {
      write(list, allowList([leader]));
      assert.equal((await echoCall(tool, "1", { leader }).send(server.url)).status, 200);
    }
    const loaded = messages("info").filter((message) => /^loaded a new version of allow-list/.test(message));
    assert.deepEqual([loaded.length, server.reloads().allowList?.applied], [3, 3]);
    write(list, allowList([]));
    assert.equal((await echoCall(tool, "1").send(server.url)).status, 401);
    assert.match(
      messages("warn").at(-1) ?? "",
      /^allow-list ".*" contains no key: every call will be refused; add the/,
    );
  });

  it("that is missing in a new version is checked again without another version", async () => {
    const { tool, path, server, put, messages } = await start();
    const list = `${path}.list`;
    await put({ list, key: OTHER_SEED });
    assert.match(messages("warn")[0] ?? "", /^allow-list ".*list" must be a readable file, got ENOENT/);
    const call = echoCall(tool, "1", { leader: bob });
    expectResult(await call.send(server.url), echoed("1"), call);
    assert.equal(server.reloads().allowList, undefined);
    writeFileSync(list, allowList([alice]));
    await until(() => server.reloads().config?.applied === 1, "the new version in force");
    assert.equal((await call.send(server.url)).status, 401);
    // Its own changes are told to the same log.
    rmSync(list);
    await until(() => server.reloads().allowList?.fault?.includes("ENOENT") === true, "the fault of the list");
    assert.match(messages("warn").at(-1) ?? "", /^allow-list .*ENOENT.*the previous version remains in use/);
    const { allowList: stats } = server.reloads();
    assert.deepEqual([stats?.applied, stats?.refused], [0, 1]);
  });

  it("that is invalid keeps its last valid version while the rest of the configuration changes", async () => {
    const list = newPath();
    writeFileSync(list, allowList([alice]));
    const { tool, server, put } = await start({ list });
    writeFileSync(list, "torn");
    await put({ list, key: OTHER_SEED });
    const call = echoCall(tool, "1");
    expectResult(await call.send(server.url), echoed("1"), call, OTHER_SEED);
    writeFileSync(list, allowList([bob]));
    await server.reload();
    assert.equal((await echoCall(tool, "1").send(server.url)).status, 401);
    assert.deepEqual([server.reloads().allowList?.applied, server.reloads().allowList?.refused], [1, 1]);
  });
});

describe("files that are not watched", () => {
  it("a configuration set in code", async () => {
    const tool = countingTool();
    const server = await serveFor([tool], { config: signedConfig([tool.fqn]) });
    assert.deepEqual(Object.values(server.reloads()), [undefined, undefined, undefined, undefined]);
    await server.reload();
  });

  it("the file of a server that was closed", async () => {
    const { tool, server, config, path } = await start();
    await server.close();
    write(path, text([tool.fqn], { leaders: [bob] }));
    await server.reload();
    assert.notEqual(config.leaders.lookup("alice", 0n), undefined);
  });

  for (const reloadIntervalMs of [9, 2_147_483_648]) {
    it(`an interval of ${reloadIntervalMs} is a start-up error`, async () => {
      await assert.rejects(start({}, { reloadIntervalMs }), {
        name: "RangeError",
        message: /^reloadIntervalMs: expected an integer from 10 to 2147483647 milliseconds, got /,
      });
    });
  }
});

it("a relative path keeps referring to the same file", async () => {
  const path = newPath();
  const tool = countingTool();
  writeFileSync(path, text([tool.fqn], {}));
  const link = join(dirname(path), "link");
  symlinkSync("config.json", link);
  const before = process.cwd();
  process.chdir(dirname(path));
  const config = ToolkitRuntimeConfig.fromPath("link");
  process.chdir(before);
  const server = await serveFor([tool], { config, reloadIntervalMs: 20 });
  write(path, text([tool.fqn], { leaders: [bob] }));
  await until(() => server.reloads().config?.applied === 1, "the new version in force");
});
