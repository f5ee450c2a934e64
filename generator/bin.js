#!/usr/bin/env node
// The committed entry point of the command line: npm does not link a file that exists only after the build.
import { existsSync } from "node:fs";
import module from "node:module";

// Node 22 and later cache the compiled code for the next process.
module.enableCompileCache?.();
const built = new URL("../dist/generator/process-host.js", import.meta.url);
if (existsSync(built)) {
  const { runProcess } = await import(built.href);
  await runProcess();
} else {
  console.error("svc-gen: not built; run `npm run build` in the svc-gen repository first");
  process.exitCode = 2;
}
