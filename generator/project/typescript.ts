/**
 * ts-morph and the one compiler of the process, ts-morph's TypeScript, which typescript-json-schema shares
 * (`shareCompiler` in program.ts). They are loaded by `require`, because an `import` would first scan their megabytes
 * for exported names.
 */

import morph = require("ts-morph");

export import ts = morph.ts;
export import Node = morph.Node;
export import SyntaxKind = morph.SyntaxKind;
export import createWrappedNode = morph.createWrappedNode;
export import VariableDeclarationKind = morph.VariableDeclarationKind;
