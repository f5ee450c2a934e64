/** Processes whose files change: SIGHUP, and a process without descriptors (protocol.md section 10). */

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { scratchFolder } from "../scratch-folder.js";
import { certificateFiles } from "./certificate.js";
import { start } from "./child.js";
import { RawConnection, type RawResponse, requestText } from "./raw.js";
import { alice, allowList, bob, countingTool, echoCall, type Leader, until } from "./tools.js";

const directory = scratchFolder();

/** What the process serves; the test signs its calls with its own copy of the contract. */
const tool = countingTool({ fqn: "xyz.test.one@1", path: "one" });
const CODE = `
import { openSync, closeSync } from "node:fs";
import { bootstrap, SvcTool } from "svc-runtime";
import { provideContracts } from "svc-runtime/v1";
const port = { name: "value", many: false, codec: { kind: "json" } };
provideContracts([{
  fqn: "xyz.test.one@1", path: "one", description: "A tool.", timeout: 10000,
  inputSchema: '{"properties":{"value":{}}}', outputSchema: '{"oneOf":[]}',
  input: [port], output: [{ name: "ok", ports: [port] }],
}]);
const taken = [];
let taking;
/** Every descriptor that the process may have, and those that come free. */
function take() {
  for (;;) try { taken.push(openSync("/dev/null")); } catch { return; }
}
class One extends SvcTool {
  static fqn() { return "xyz.test.one@1"; }
  static description() { return "A tool."; }
  static path() { return "one"; }
  async invoke({ value }) {
    if (value === "take") taking = setInterval(take, 1);
    if (value === "give") {
      clearInterval(taking);
      for (const file of taken.splice(0)) closeSync(file);
    }
    return { ok: { value: taken.length } };
  }
  async health() { return 200; }
}
`;

const config = (leaders: readonly Leader[]) =>
  `{"signed_http":{"allowed_leaders":${allowList(leaders)},"tools":{"xyz.test.one@1":{}}}}`;

async function run(options: string, env: Record<string, string>, command = process.execPath, args: string[] = []) {
  const code = `${CODE}await bootstrap(One, ${options});`;
  const child = start(command, [...args, "--input-type=module", "-e", code], { BIND_ADDR: "127.0.0.1:0", ...env });
  const ended = child.ended.then(({ code, signal }) => [code, signal]);
  return { ...child, url: await child.url, ended };
}

const status = async (url: string, leader: Leader) => (await echoCall(tool, "1", { leader }).send(url)).status;
const count = (text: string, part: string) => text.split(part).length - 1;

describe("SIGHUP", { skip: process.platform === "win32" }, () => {
  it("forces a check without waiting for the next one, and logs the outcome each time", async () => {
    const target = join(directory, "target.json");
    const links = join(directory, "links");
    mkdirSync(links);
    writeFileSync(target, config([alice, bob]));
    symlinkSync(target, join(links, "config.json"));
    const child = await run("{ reloadIntervalMs: 3600000 }", {
      SVC_TOOLKIT_CONFIG_PATH: join(links, "config.json"),
    });
    writeFileSync(target, config([alice]));
    assert.equal(await status(child.url, bob), 200, "the old version: nobody looked");
    child.process.kill("SIGHUP");
    await until(() => child.stderr().includes("loaded a new version of"), "a new version");
    assert.deepEqual([await status(child.url, bob), await status(child.url, alice)], [401, 200]);
    writeFileSync(target, config([bob]).slice(0, -1));
    for (const times of [1, 2]) {
      child.process.kill("SIGHUP");
      await until(() => count(child.stderr(), "must be JSON") === times, `${times} warnings`);
    }
    assert.equal(await status(child.url, alice), 200);
    child.process.kill("SIGTERM");
    assert.deepEqual(await child.ended, [0, null]);
  });

  it("forces a check of the certificate of a process without a configuration", async () => {
    const child = await run("{}", certificateFiles());
    child.process.kill("SIGHUP");
    await until(() => child.stderr().includes("is unchanged"), "the look");
    child.process.kill("SIGTERM");
    assert.deepEqual(await child.ended, [0, null]);
  });

  it("keeps its default action in a process without files: it ends with its terminal", async () => {
    const child = await run("{}", {});
    child.process.kill("SIGHUP");
    assert.deepEqual(await child.ended, [null, "SIGHUP"]);
  });
});

it("without descriptors (EMFILE) the process keeps serving, and watches again when there are some", {
  skip: process.platform === "win32",
}, async () => {
  const path = join(directory, "config.json");
  writeFileSync(path, config([alice, bob]));
  const limited = ["-c", 'ulimit -n 200; exec "$0" "$@"', process.execPath];
  const child = await run("{ reloadIntervalMs: 50 }", { SVC_TOOLKIT_CONFIG_PATH: path }, "/bin/sh", limited);
  const connection = await RawConnection.open(child.url);
  const call = async (value: string, leader = alice): Promise<RawResponse> =>
    connection.send(echoCall(tool, value, { leader }).text()).response("POST");
  assert.equal((await call('"take"')).status, 200);
  await until(() => child.stderr().includes("EMFILE"), "a warning");
  writeFileSync(path, config([alice]));
  for (let i = 0; i < 20; i++) assert.equal((await call("1", bob)).status, 200, "the last good version");
  assert.equal((await call('"give"')).status, 200);
  await until(() => child.stderr().includes("loaded a new version of"), "a new version");
  assert.equal((await call("1", bob)).status, 401);
  assert.equal(count(child.stderr(), "EMFILE"), 1, child.stderr());
  assert.equal((await connection.send(requestText("GET", "/one/health")).response()).status, 200);
  child.process.kill("SIGTERM");
  assert.deepEqual(await child.ended, [0, null]);
});
