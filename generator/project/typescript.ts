/**
 * The one compiler of the process: ts-morph's TypeScript, which typescript-json-schema shares (`shareCompiler` in
 * program.ts). It is loaded by `require`, because an `import` would first scan its megabytes for exported names.
 */

import "./bare-typescript.js";

import morph = require("ts-morph");

export import ts = morph.ts;
