/** Rights of the files that hold keys or decide who may call; a configuration that two servers share. */

import assert from "node:assert/strict";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { ConfigError, ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { scratchFolder } from "../scratch-folder.js";
import { alice, allowList, countingTool, echoCall, type LogEntry, serveFor, until } from "./tools.js";

const directory = scratchFolder();

let serial = 0;
function file(content: string, mode: number): string {
  const path = join(directory, `${serial++}.json`);
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const SEED = "09".repeat(32);
const ALICE = allowList([alice]);
const config = (tools: Record<string, object>, list?: string) =>
  `{"signed_http":{${list === undefined ? `"allowed_leaders":${ALICE}` : `"allowed_leaders_path":${JSON.stringify(list)}`},"tools":${JSON.stringify(tools)}}}`;
const keyed = { response_signing_key: SEED };
const warnings = (log: readonly LogEntry[]) =>
  log
    .filter(({ level, fields }) => level === "warn" && fields.signed === undefined)
    .map(({ message }) => message)
    .filter((message) => !message.startsWith("authorize of "));
const FAULT = "must not be writable by every user of this machine; remove that permission (chmod o-w)";

describe("permissions of files", { skip: process.platform === "win32" }, () => {
  it("a world-writable configuration is a start-up error, also behind a link", () => {
    const path = file("{}", 0o646);
    const link = join(directory, "link");
    symlinkSync(path, link);
    for (const name of [path, link]) {
      assert.throws(() => ToolkitRuntimeConfig.fromPath(name), {
        name: "ConfigError",
        message: `configuration ${JSON.stringify(name)} ${FAULT}`,
      });
    }
    chmodSync(path, 0o664);
    ToolkitRuntimeConfig.fromPath(path);
  });

  it("a world-writable allow-list is a start-up error", () => {
    const list = file(ALICE, 0o602);
    assert.throws(
      () => ToolkitRuntimeConfig.fromJsonStr(config({ demo: {} }, list)),
      (error) => error instanceof ConfigError && error.message === `allow-list ${JSON.stringify(list)} ${FAULT}`,
    );
  });

  it("a file that becomes world-writable is not read again until that is corrected", async () => {
    const tool = countingTool();
    const list = file(ALICE, 0o644);
    const path = file(config({ [tool.fqn]: keyed }, list), 0o600);
    const server = await serveFor([tool], {
      config: ToolkitRuntimeConfig.fromPath(path),
      reloadIntervalMs: 20,
      replayStore: new ReplayMemory(),
    });
    const accepted = async () => (await echoCall(tool, "1").send(server.url)).status === 200;
    chmodSync(list, 0o646);
    writeFileSync(list, '{"version":1,"leaders":[]}');
    await until(() => warnings(server.log).length === 1, "a warning");
    assert.equal(await accepted(), true);
    assert.deepEqual(warnings(server.log), [
      `allow-list ${JSON.stringify(list)} ${FAULT}; the previous version remains in use`,
    ]);
    chmodSync(list, 0o644);
    await until(async () => !(await accepted()), "the list without keys");
  });

  it("a world-readable private key causes a warning, at start and in a new version", async () => {
    const warning = (path: string) =>
      `configuration ${JSON.stringify(path)} contains a private key and is readable by every user of this machine: remove that permission (chmod o-r)`;
    const tool = countingTool();
    const start = async (content: string, mode: number) => {
      const path = file(content, mode);
      const server = await serveFor([tool], {
        config: ToolkitRuntimeConfig.fromPath(path),
        reloadIntervalMs: 20,
        replayStore: new ReplayMemory(),
      });
      return { path, server, said: warnings(server.log).filter((message) => message.includes("private key")) };
    };
    const open = await start(config({ [tool.fqn]: keyed }), 0o604);
    assert.deepEqual(open.said, [warning(open.path)]);
    assert.deepEqual((await start(config({ [tool.fqn]: keyed }), 0o640)).said, []);
    const disabled = config({ [tool.fqn]: keyed }).replace('"allowed', '"mode":"disabled","allowed');
    const off = await start(disabled, 0o644);
    assert.deepEqual(off.said, [warning(off.path)], "the key is there, whether it is used or not");
    const { path, server, said } = await start(config({ [tool.fqn]: {} }), 0o644);
    assert.deepEqual(said, []);
    writeFileSync(path, config({ [tool.fqn]: keyed }));
    await server.reload();
    assert.ok(warnings(server.log).includes(warning(path)));
  });
});

it("a version of a shared configuration keeps the entries of the tools of every server", async () => {
  const [one, two] = [countingTool(), countingTool()];
  const path = file(config({ [one.fqn]: keyed, [two.fqn]: keyed }), 0o600);
  const shared = ToolkitRuntimeConfig.fromPath(path);
  const server = await serveFor([one], { config: shared, reloadIntervalMs: 20 });
  await serveFor([two], { config: shared, reloadIntervalMs: 20 });
  writeFileSync(path, config({ [one.fqn]: keyed }));
  await server.reload();
  assert.match(
    warnings(server.log)[0] ?? "",
    new RegExp(`got no entry for ${two.fqn.replaceAll(".", "\\.")}; restore it`),
  );
  assert.ok(shared.hasTool(two.fqn));
});

describe("valid configurations that are probably unintended cause warnings", () => {
  const nobody = '{"version":1,"leaders":[{"leader_id":"alice","keys":[]}]}';
  const signed = (list: string, entry: object, fqn: string) =>
    `{"signed_http":{${list},"tools":{${JSON.stringify(fqn)}:${JSON.stringify({ ...keyed, ...entry })}}}}`;
  const inPlace = (list: string) => `"allowed_leaders":${list}`;
  const fqn = "xyz.doubt.tool@1";
  const tool = countingTool({ fqn });
  const EMPTY_LIST =
    "configuration: the allow-list contains no key: every call will be refused; add the key of a leader";

  for (const [what, text, expected] of [
    ["a fine one", signed(inPlace(ALICE), { replay_cache_ttl_ms: 86_400_000 }, fqn), undefined],
    ["no leaders", signed(inPlace('{"version":1,"leaders":[]}'), {}, fqn), EMPTY_LIST],
    ["leaders without keys", signed(inPlace(nobody), {}, fqn), EMPTY_LIST],
    [
      "a file without leaders",
      signed(`"allowed_leaders_path":${JSON.stringify(file(nobody, 0o600))}`, {}, fqn),
      EMPTY_LIST,
    ],
    [
      "both sources",
      signed(`${inPlace(ALICE)},"allowed_leaders_path":"/nowhere"`, {}, fqn),
      "configuration: allowed_leaders_path is ignored because allowed_leaders is set: remove one of the two",
    ],
    [
      "no body",
      '{"invoke_max_body_bytes":0}',
      "configuration: invoke_max_body_bytes is 0: every call will be refused; raise it, or remove it",
    ],
    [
      "a TTL in some other unit",
      signed(inPlace(ALICE), { replay_cache_ttl_ms: 300_000_000 }, fqn),
      `configuration: replay_cache_ttl_ms of "${fqn}" is 3 days or more: check the unit, which is milliseconds; a replay memory that is full of old answers refuses calls`,
    ],
  ] as const) {
    it(what, async () => {
      const { log } = await serveFor([tool], {
        config: ToolkitRuntimeConfig.fromJsonStr(text),
        replayStore: new ReplayMemory(),
      });
      assert.deepEqual(warnings(log), expected === undefined ? [] : [expected]);
    });
  }

  it("also in a later version", async () => {
    const path = file(signed(inPlace(ALICE), {}, fqn), 0o600);
    const server = await serveFor([tool], {
      config: ToolkitRuntimeConfig.fromPath(path),
      replayStore: new ReplayMemory(),
    });
    assert.deepEqual(warnings(server.log), []);
    writeFileSync(path, signed(inPlace(nobody), {}, fqn));
    await server.reload();
    assert.deepEqual(warnings(server.log), [EMPTY_LIST]);
  });
});
