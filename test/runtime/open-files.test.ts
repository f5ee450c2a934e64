/** The limit of open files, by the log of a server that starts under one. */

import assert from "node:assert/strict";
import { platform } from "node:os";
import { it } from "node:test";
import { openFilesWarning } from "#runtime/server/load/open-files.js";
import { PRELUDE, start } from "./child.js";

const LINUX = { skip: platform() === "linux" ? false : "the limit is read on Linux only" };

/** The log of a server that may open so many files. */
async function logUnder(limit: number, env: Record<string, string>): Promise<string> {
  const command = `ulimit -n ${limit} && exec "$0" --input-type=module -e "$1"`;
  const code = `${PRELUDE}await bootstrap([[127, 0, 0, 1], 0], One);`;
  const child = start("sh", ["-c", command, process.execPath, code], env);
  await child.url;
  child.process.kill("SIGTERM");
  return (await child.ended).stderr;
}

it("a limit below maxConnections is logged at the start, with both numbers and what to do", LINUX, async () => {
  const warning = /the limit of open files is (\d+), too low for (\d+) connections .* set SVC_MAX_CONNECTIONS=(\d+)"/;
  const low = await logUnder(400, { SVC_MAX_CONNECTIONS: "1000" });
  assert.deepEqual(warning.exec(low)?.slice(1), ["400", "1000", "336"]);
  assert.doesNotMatch(await logUnder(400, { SVC_MAX_CONNECTIONS: "336" }), warning);
});

it("includes 64 files in addition to the connections", () => {
  assert.equal(openFilesWarning(1_000, 1_064), undefined);
  assert.match(openFilesWarning(1_000, 1_063) ?? "", /limit of open files is 1063/);
  assert.match(openFilesWarning(1_000, 10) ?? "", /SVC_MAX_CONNECTIONS=1$/);
  assert.equal(openFilesWarning(4_096, Number.POSITIVE_INFINITY), undefined);
});
