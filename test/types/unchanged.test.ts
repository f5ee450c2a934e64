/** tsc notices that Input or Output has changed since svc-gen ran, and nothing else. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { STRICT, toolSource } from "../generator/project.js";
import { COMPILERS, compile, projectWith } from "../typescript/compilers.js";
import { sourceOf, ZOO } from "./zoo.js";

const EXACT = { ...STRICT, exactOptionalPropertyTypes: true, noEmit: true };

const zoo = projectWith(
  COMPILERS[0],
  Object.fromEntries(ZOO.map((each, index) => [`src/tool${index}.ts`, sourceOf(each, index)])),
  EXACT,
);
after(() => zoo.remove());
zoo.build();

for (const compiler of COMPILERS) {
  test(`${compiler.version}: no type of the zoo is taken for a changed one`, () => {
    assert.equal(compile(compiler, zoo.root), "");
  });
}

test("no type of the zoo is taken for a changed one when optional members may be undefined", () => {
  assert.equal(compile(COMPILERS[2], zoo.root, ["-p", ".", "--exactOptionalPropertyTypes", "false"]), "");
});

const DECLARATIONS = `
import type { DataRef } from "svc-runtime";
interface Tree { value: number; children: Tree[] }
interface Wider { value: number; children: Wider[]; more?: string }
enum Colour { Red = "red", Green = "green" }
enum Shade { Red = "red", Green = "green", Blue = "blue" }
type Maybe = { value: number; children: Tree[] } | null;
interface Generic<A, B> { one: A; all: B[]; next?: Generic<A, B> }
type Brand = string & { readonly __brand: "brand" };
`;

const nested = (levels: number, type: string): string => (levels === 0 ? type : `{ a: ${nested(levels - 1, type)} }[]`);

/** A member's type, and what it is changed to. */
const CHANGES: readonly (readonly [before: string, after: string])[] = [
  ["{ a: string }", "{ a: number }"],
  ["{ a: string }", "{ a: string; b: number }"],
  ["{ a: string }", "{ a: string; b?: number }"],
  ["{ a: string; b: number }", "{ a: string }"],
  ["{ a: string; b?: number }", "{ a: string }"],
  ["{ a: string }", "{ b: string }"],
  ["{ a: string }", "{ a?: string }"],
  ["{ a?: string }", "{ a: string }"],
  ["{ a: string }", "{ a: string | null }"],
  ["{ a?: { b: string } }", "{ a?: { b: bigint } }"],
  ["{ a: { b: { c: string }[] } }", "{ a: { b: { c?: string }[] } }"],
  [nested(12, "string"), nested(12, "number")],
  [nested(23, "string"), nested(23, "number")],
  ['"a" | "b"', '"a" | "c"'],
  ['"a" | "b"', '"a"'],
  ['"a"', '"a" | "b"'],
  ['"a"', "string"],
  ["string", '"a"'],
  ["1 | 2", "1 | 3"],
  ["5", "number"],
  ["boolean", "true"],
  ["true", "boolean"],
  ["number", "bigint"],
  ["Date", "string"],
  ["string", "Date"],
  ["Uint8Array", "string"],
  ["Uint8Array", "number[]"],
  ["string[]", "string"],
  ["string[]", "number[]"],
  ["(string | null)[]", "string[]"],
  ["[string, number]", "[string, number?]"],
  ["[string, number]", "[string]"],
  ["[string, number]", "[number, string]"],
  ["[string, ...number[]]", "[string, ...bigint[]]"],
  ["Record<string, number>", "Record<string, bigint>"],
  ["Record<string, number>", "{ a: number }"],
  ["Tree", "Wider"],
  ["Colour", "Shade"],
  ["Colour", "Colour.Red"],
  ["{ kind: 1; a: string } | { kind: 2 }", "{ kind: 1; a: string } | { kind: 2; b: string }"],
  ["{ kind: 1; a: string } | { kind: 2 }", "{ kind: 1; a: string }"],
];

/** The same for whole outputs. */
const OUTPUTS: readonly (readonly [before: string, after: string])[] = [
  ["{ ok: { a: string } }", "{ ok: { a: number } }"],
  ["{ ok: { a: string } }", "{ fine: { a: string } }"],
  ["{ ok: { a: string } }", '{ ok: { a: string } } | "none"'],
  ['{ ok: { a: string } } | "none"', "{ ok: { a: string } }"],
  ["{ ok: { a: DataRef<string> } }", "{ ok: { a: DataRef<number> } }"],
  ["{ ok: { a: DataRef<string> } }", "{ ok: { a: string } }"],
  ["{ ok: { a: string[] } }", "{ ok: { a: DataRef<string>[] } }"],
  ['{ ok: {} } | "none"', '{ ok: {} } | "nothing"'],
];

/** Other words for the same types. */
const SAME: readonly (readonly [before: string, after: string])[] = [
  ["{ a?: Maybe; b: { [name: string]: Maybe } }", "{ a?: Tree; b: Record<string, Tree | null> }"],
  ["Maybe", "null | Tree"],
  ["Generic<string, { a: 1 }>", "{ one: string; all: { a: 1 }[]; next?: Generic<string, { a: 1 }> }"],
  ["Brand", "string"],
  ["Colour", '"green" | "red"'],
  ["{ a: string; b?: number }", "Readonly<{ b?: number | null; a: string }>"],
  ["Tree", "{ value: number; children: readonly Tree[] }"],
  ["string[]", "ReadonlyArray<string>"],
  ["Record<string, Date>", "{ [name: string]: Date }"],
];

/** Compiles all of them at once, the files of `before` with the sources of `after`; the numbers of those with an alarm. */
function alarms(sources: readonly (readonly [before: string, after: string])[], what: RegExp): number[] {
  const files = (side: 0 | 1) =>
    Object.fromEntries(sources.map((pair, index) => [`src/tool${String(index).padStart(3, "0")}.ts`, pair[side]]));
  const project = projectWith(COMPILERS[2], files(0), EXACT);
  try {
    const server = project.build()["src/generated/server.ts"] ?? "";
    const places = server.split("\n").flatMap((line, index) => (line.startsWith("true satisfies") ? [index + 1] : []));
    assert.equal(places.length, sources.length);
    project.write(files(1));
    const said = compile(COMPILERS[2], project.root).split("\n");
    const numbers = said.flatMap((line) => {
      const place = /^src\/generated\/server\.ts\((\d+),/.exec(line)?.[1];
      if (place === undefined) return [];
      assert.match(line, what);
      return [places.indexOf(Number(place))];
    });
    assert.deepEqual(
      said.filter((line) => /error/.test(line) && !line.startsWith("src/generated/server.ts")),
      [],
    );
    return numbers;
  } finally {
    project.remove();
  }
}

const tool = (index: number, input: string, output: string) =>
  toolSource(`Tool${index}`, input, output, DECLARATIONS.replace(/^(?=\w)(?!import)/gm, "export "));
const pairs = (list: readonly (readonly [string, string])[], of: (index: number, type: string) => string) =>
  list.map(([one, other], index) => [of(index, one), of(index, other)] as const);
const all = (list: readonly unknown[]) => [...list.keys()];

test("every change of an input is noticed", () => {
  const sources = pairs(CHANGES, (index, type) => tool(index, `{ v: ${type} }`, '"done"'));
  assert.deepEqual(alarms(sources, /"Input has changed: run svc-gen"/), all(CHANGES));
});

test("every change of an output is noticed", () => {
  const sources = [
    ...pairs(CHANGES, (index, type) => tool(index, "{ v: 1 }", `{ ok: { v: ${type} } }`)),
    ...pairs(OUTPUTS, (index, type) => tool(index + CHANGES.length, "{ v: 1 }", type)),
  ];
  assert.deepEqual(alarms(sources, /"Output has changed: run svc-gen"/), all(sources));
});

test("the same in other words is no change", () => {
  assert.deepEqual(
    alarms(
      pairs(SAME, (index, type) => tool(index, `{ v: ${type} }`, `{ ok: { v: ${type} } }`)),
      /$^/,
    ),
    [],
  );
});
