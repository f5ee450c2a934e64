#!/usr/bin/env node
// The committed entry point of the command line: npm does not link a file that exists only after the build. Node 12 reads
// its syntax, so that the version can be checked.
import { existsSync } from "node:fs";
import module from "node:module";

async function main() {
  const built = new URL("../dist/generator/cli/process-host.js", import.meta.url);
  if (!existsSync(built)) {
    console.error("svc-gen: not built; run `npm run build` in the svc-gen repository first");
    process.exitCode = 2;
    return;
  }
  await import("svc-runtime/internal/node-version");
  // Node 22 and later cache the compiled code for the next process.
  if (module.enableCompileCache) module.enableCompileCache();
  const { runProcess } = await import(built.href);
  await runProcess();
}

main();
