// Builds the packages and the example that the demos run, and prints each step before it begins.
import { spawnSync } from "node:child_process";

const TSC = "test/typescript/7/node_modules/typescript/bin/tsc";

/** Runs a program of the repository; a failure ends this process, after its output. */
function run(...args) {
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

console.log("compiling svc-runtime and svc-gen");
run(TSC, "-b");
console.log("bundling the pages of svc-gen dev");
await import("./build-page.mjs");
console.log("generating the server of examples/sum");
run("generator/bin.js", "--quiet", "--project", "examples/sum");
console.log("compiling examples/sum\n");
run(TSC, "-p", "examples/sum");
