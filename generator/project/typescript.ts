/**
 * The one compiler of the process: ts-morph's TypeScript, which typescript-json-schema is given too (schema.ts). Loaded
 * by `require`: an `import` would first scan its megabytes for names.
 */

import "./bare-typescript.js";

import morph = require("ts-morph");

export import ts = morph.ts;
