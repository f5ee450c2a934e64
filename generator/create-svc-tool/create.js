#!/usr/bin/env node
// `npm create svc-tool DIR` is `svc-gen new DIR`.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

process.argv.splice(2, 0, "new");
const generator = dirname(createRequire(import.meta.url).resolve("svc-gen/package.json"));
import(pathToFileURL(join(generator, "generator/bin.js")).href);
