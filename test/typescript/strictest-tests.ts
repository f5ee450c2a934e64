/** Tests of the generated files under every option that an author may turn on, compiled by some versions of TypeScript. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { COMPILERS, type Compiler, compile, projectWith } from "./compilers.js";

/** Everything that makes a compiler harder to please. */
export const STRICTEST = {
  target: "ES2023",
  lib: ["ES2023"],
  types: [],
  rootDir: "src",
  outDir: "dist",
  skipLibCheck: false,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUncheckedSideEffectImports: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  allowUnreachableCode: false,
  allowUnusedLabels: false,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
  forceConsistentCasingInFileNames: true,
  moduleDetection: "force",
};

const WAYS: Readonly<Record<string, object>> = {
  "Node's modules, declarations without inference, .ts in imports": {
    module: "NodeNext",
    isolatedDeclarations: true,
    declaration: true,
    rewriteRelativeImportExtensions: true,
  },
  "a bundler's modules": {
    module: "ESNext",
    moduleResolution: "bundler",
    allowImportingTsExtensions: true,
    noEmit: true,
  },
};

// Members of every kind, so that every kind of codec is among the generated ones.
const SOURCE = `
import { SvcTool, StatusCode } from "svc-runtime";
import type { Point } from "./point.ts";
export interface Tree { value: Point; children: Tree[] }
export type Output = { ok: { tree: Tree; more: Record<string, unknown> } } | { err: { why: "a" | "b" } } | "nothing";
export interface Input {
  /** @minLength 1 */
  text: string;
  big: bigint;
  when?: Date;
  raw: Uint8Array;
  any: { [name: string]: number | [string, ...boolean[], Date] };
  tree: Tree;
  which: { kind: "one"; a: number } | { kind: "two"; b: string };
}
export class Sum extends SvcTool<Input, Output> {
  static override fqn(): string { return "xyz.test.sum@1"; }
  static override description(): string { return "Sums."; }
  override async invoke(): Promise<Output> { return "nothing"; }
  override async health(): Promise<StatusCode> { return StatusCode.OK; }
}
`;

/** Registers the tests of these versions. */
export function testStrictest(compilers: readonly Compiler[]): void {
  for (const [way, options] of Object.entries(WAYS)) {
    const project = projectWith(
      COMPILERS[0],
      { "src/sum.ts": SOURCE, "src/point.ts": "export interface Point { x: number; y?: number }\n" },
      { ...STRICTEST, ...options },
    );
    after(() => project.remove());
    project.build();
    for (const compiler of compilers) {
      test(`${compiler.version}: ${way}`, () => assert.equal(compile(compiler, project.root), ""));
    }
  }
}
