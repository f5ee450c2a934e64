/**
 * ts-morph and its TypeScript, the only compiler of the process, shared with typescript-json-schema
 * (`loadSchemaLibrary` in program.ts). Import them only from here: this `require` takes half the time of an `import`,
 * which scans megabytes for exported names.
 */

import morph = require("ts-morph");

import { readTextFile } from "../../files/read-file.js";

// Bounded reading, because the project chooses the files.
morph.ts.sys.readFile = readTextFile;

export type * from "ts-morph";

export import ts = morph.ts;
export import Node = morph.Node;
export import SyntaxKind = morph.SyntaxKind;
export import VariableDeclarationKind = morph.VariableDeclarationKind;
export import createWrappedNode = morph.createWrappedNode;
