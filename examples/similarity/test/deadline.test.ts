/** The built server as an operator starts it, with the threads of the pool. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const ENTRY = fileURLToPath(new URL("../../generated/server.js", import.meta.url));

/** Starts the server; gives its URL once it serves. */
async function serve(t: TestContext): Promise<string> {
  const child = spawn(process.execPath, [ENTRY], {
    env: { ...process.env, BIND_ADDR: "127.0.0.1:0" },
    stdio: ["ignore", "inherit", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let log = "";
  return await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`the server ended:\n${log}`)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const [line] = /^.*"msg":"serving".*\n/m.exec(log) ?? [];
      if (line !== undefined) resolve((JSON.parse(line) as { readonly url: string }).url);
    });
  });
}

test("a call that computes beyond its deadline gets 504 on time, delays no other, and frees its thread", async (t) => {
  const url = await serve(t);
  const call = (text: string, candidates: object) =>
    fetch(`${url}/nearest/invoke`, { method: "POST", body: JSON.stringify({ text, candidates }) });
  const long = (character: string) => character.repeat(20_000);
  // 2 · 10^11 steps.
  const endless = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}`, long("b")]));
  let ended = false;
  const heavy = call(long("a"), endless).then((response) => {
    ended = true;
    return response.status;
  });
  for (let times = 0; times < 3; times++) {
    assert.equal((await call("kitten", { a: "sitting" })).status, 200);
    assert.equal((await fetch(`${url}/nearest/health`)).status, 200);
  }
  assert.equal(ended, false, "the heavy call is still running");
  assert.equal(await heavy, 504);
  // Both threads work again.
  const after = await Promise.all([call("kitten", { a: "sitting" }), call("kitten", { a: "sitting" })]);
  assert.deepEqual(
    after.map(({ status }) => status),
    [200, 200],
  );
});
