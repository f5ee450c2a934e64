/** Starts the bridge and writes the protocol revisions that pass to a file. */

import { spawn } from "node:child_process";
import { appendFileSync } from "node:fs";

const [, , file, ...args] = process.argv;
const bridge = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
for (const [from, to] of [
  [process.stdin, bridge.stdin],
  [bridge.stdout, process.stdout],
]) {
  from.on("data", (chunk) => {
    for (const [, revision] of String(chunk).matchAll(/rotocolVersion":\s?"([\d-]+)"/g))
      appendFileSync(file, `${revision}\n`);
    to.write(chunk);
  });
  from.on("end", () => to.end());
}
bridge.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => bridge.kill(signal));
