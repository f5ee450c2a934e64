#!/usr/bin/env node
// Committed entry point of the command line, because npm does not link a file that exists only after the build. The
// syntax is valid for Node 12, so that the version check can run.
import { existsSync } from "node:fs";
import module from "node:module";

async function main() {
  const built = new URL("../dist/generator/cli/process-host.js", import.meta.url);
  if (!existsSync(built)) {
    console.error("svc-gen: not built; run `npm run build` in the svc-gen repository first");
    process.exitCode = 2;
    return;
  }
  const { vulnerableNode } = await import("svc-runtime/internal/node-version");
  if (vulnerableNode) console.error(vulnerableNode);
  // Node 22 and later cache the compiled code for the next process.
  if (module.enableCompileCache) module.enableCompileCache();
  const { runProcess } = await import(built.href);
  await runProcess();
}

main();
