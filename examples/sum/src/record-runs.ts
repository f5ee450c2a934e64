/**
 * Writes each run of Sum to the file `RUNS_FILE` before the tool's code begins, for the demo of the replicas:
 * `node --import ./record-runs.js generated/server.js`. A line is the nonce of the call in hex. `RUN_MS` adds milliseconds
 * to each run. A run that starts while the file `RUNS_FILE.hold` exists never ends.
 */

import { appendFileSync, existsSync } from "node:fs";
import { Sum } from "./sum.js";

const { RUNS_FILE = "", RUN_MS = "0" } = process.env;
const { invoke } = Sum.prototype;

Sum.prototype.invoke = async function (input, context) {
  appendFileSync(RUNS_FILE, `${Buffer.from(context.auth?.nonce ?? []).toString("hex")}\n`);
  if (existsSync(`${RUNS_FILE}.hold`)) await new Promise(() => {});
  await new Promise((resolve) => setTimeout(resolve, Number(RUN_MS)));
  return invoke.call(this, input, context);
};
