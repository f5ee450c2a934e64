#!/usr/bin/env node
// The committed entry point of the command line: npm does not link a file that exists only after the build.
import { existsSync } from "node:fs";
import module from "node:module";

// Node 22 and later cache the compiled code for the next process.
module.enableCompileCache?.();
const built = new URL("../dist/generator/cli.js", import.meta.url);
if (existsSync(built)) {
  const { run } = await import(built.href);
  process.exitCode = await run(process.argv.slice(2), {
    cwd: process.cwd(),
    colour: process.stderr.isTTY === true && !process.env.NO_COLOR,
    print: (text) => process.stdout.write(text),
    complain: (text) => process.stderr.write(text),
  });
} else {
  console.error("svc-gen: not built; run `npm run build` in the svc-gen repository first");
  process.exitCode = 2;
}
