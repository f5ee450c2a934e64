/**
 * ts-morph and its TypeScript, the one compiler of the process, which typescript-json-schema shares (`loadSchemaLibrary`
 * in program.ts). Every other file takes them from here, because an `import` of the package takes twice the time of this
 * `require`: it scans their megabytes for exported names.
 */

import morph = require("ts-morph");

import { readSource } from "../../files/read-file.js";

// Bounds every read of the compiler: the project names the files.
morph.ts.sys.readFile = readSource;

export type * from "ts-morph";

export import ts = morph.ts;
export import Node = morph.Node;
export import SyntaxKind = morph.SyntaxKind;
export import VariableDeclarationKind = morph.VariableDeclarationKind;
export import createWrappedNode = morph.createWrappedNode;
