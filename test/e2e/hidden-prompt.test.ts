/** `svc-gen invoke` asks a terminal for a secret, which the terminal does not show. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { REPOSITORY } from "../repository.js";
import { countingTool, one, serveFor, until } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";

const WITHOUT_SCRIPT = spawnSync("script", ["--version"]).status === 0 ? false : "script (util-linux) is not installed";

test("invoke asks for a secret, sends it and does not show it; Ctrl-C at the prompt sends no call", {
  skip: WITHOUT_SCRIPT,
}, async () => {
  const tool = countingTool({
    input: [one("apiKey", { kind: "string" })],
    inputSchema:
      '{"type":"object","properties":{"apiKey":{"type":"string","format":"password","writeOnly":true}},"required":["apiKey"]}',
    invoke: () => ({ ok: { value: "done" } }),
  });
  const { url } = await serveFor([tool]);
  /** Runs the command in a pseudo terminal; gives its exit code and all that the terminal shows. */
  const answering = async (keys: string) => {
    const command = `'${process.execPath}' '${join(REPOSITORY, "generator/bin.js")}' invoke ${url}/tool '{}'`;
    const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"]);
    atEnd(() => child.kill());
    let shown = "";
    child.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
    });
    await until(() => shown.includes("apiKey (not shown): "), "it asks");
    child.stdin.write(keys);
    const [code] = await once(child, "close");
    return { code, shown };
  };
  const { code, shown } = await answering("canary-1\r");
  assert.equal(code, 0, shown);
  assert.doesNotMatch(shown, /canary/);
  assert.deepEqual(tool.calls.inputs, [{ apiKey: "canary-1" }]);
  const ended = await answering("canary-2\u0003");
  assert.equal(ended.code, 130);
  assert.doesNotMatch(ended.shown, /canary/);
  assert.equal(tool.calls.invoked, 1);
});
