/** The built server as an operator starts it, with the threads of the pool. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const ENTRY = fileURLToPath(new URL("../../generated/server.js", import.meta.url));

/** Starts the server; gives its URL once it serves. */
async function serve(
  t: TestContext,
  more: NodeJS.ProcessEnv = {},
): Promise<{ readonly url: string; readonly kill: () => boolean }> {
  const child = spawn(process.execPath, [ENTRY], {
    env: { ...process.env, BIND_ADDR: "127.0.0.1:0", ...more },
    stdio: ["ignore", "inherit", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let log = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.once("exit", () => reject(new Error(`the server ended:\n${log}`)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const [line] = /^.*"msg":"serving".*\n/m.exec(log) ?? [];
      if (line !== undefined) resolve((JSON.parse(line) as { readonly url: string }).url);
    });
  });
  return { url, kill: () => child.kill("SIGKILL") };
}

test("a call that computes beyond its deadline gets 504 on time, delays no other, and frees its thread", async (t) => {
  const { url } = await serve(t);
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

test("a search is started, watched and read by short calls; after a crash it is interrupted", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "similarity-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  let server = await serve(t, { JOBS_FOLDER: folder });
  const call = async (tool: string, input: object) =>
    (await fetch(`${server.url}/search/${tool}/invoke`, { method: "POST", body: JSON.stringify(input) })).json();
  const { ok: short } = await call("start", { text: "kitten", candidates: { a: "sitting" } });
  while ((await call("status", short)).ok.state === "running") await new Promise(setImmediate);
  assert.deepEqual(await call("result", short), { ok: { found: { matches: [{ name: "a", distance: 3 / 13 }] } } });
  const endless = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`${at}`, "b".repeat(20_000)]));
  const { ok: long } = await call("start", { text: "a".repeat(20_000), candidates: endless });
  assert.deepEqual(await call("result", long), { pending: { state: "running" } });
  server.kill();
  server = await serve(t, { JOBS_FOLDER: folder });
  assert.deepEqual(await call("status", long), { ok: { state: "interrupted" } });
  assert.equal((await call("result", short)).ok.found.matches.length, 1);
  assert.equal(await call("status", { job: "0".repeat(64) }), "unknown");
});
