// biome-ignore-all lint/suspicious/noTemplateCurlyInString: types are source texts here
/** The declared order, whatever else is in the project: unrelated files change the checker's type ids, and nothing else. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { proves } from "../proves.js";
import { ToolProject, toolSource } from "./project.js";

const before = `
import { Later } from "./later.js";
enum Size { Small = "small", Big = "big" }
interface Base { zulu: string; mike: number }
interface Derived extends Base { alpha: boolean; mike: 5 }
type Keys = "kilo" | "bravo" | "golf";
type Letters = "c" | "a" | Later;
const COLOURS = ["violet", "red", "amber"] as const;
type Either<T, U> = { left: T } | { right: U } | { both: [T, U] };
type Wide = { second: 1 } & { first: 2 } & Base;
`;
const input = `{
  2: string; 1: string; ten: string; 0: string;
  literals: "m" | "z" | "b";
  letters: Letters;
  nested: Exclude<Letters, "a"> | "extra";
  colour: (typeof COLOURS)[number];
  keys: keyof Base;
  derived: Derived;
  record: Record<Keys, number>;
  partial: Partial<Record<"y" | "x", number>>;
  pick: Pick<Derived, "alpha" | "zulu">;
  omit: Omit<Derived, "mike">;
  mapped: { [K in "t" | "s" | "r"]: K };
  remapped: { [K in keyof Base as \`to_\${K}\`]: Base[K] };
  wide: Wide;
  either: Either<"q" | "p", string>;
  size: Size | "none";
  numbers: 30 | 4 | 100;
  mix: string | null | number;
  objects: { w: 1 } | { v: 2 } | "text";
}`;
const output = `{ zz: { n: 1 } } | "done" | { aa: { m: { y: 1; x: 2 } } } | { mm: { o: 3 } }`;

const expected = `2:s 1:s ten:s 0:s literals:[m z b] letters:[c a z m] nested:[c z m extra] colour:[violet red amber] keys:[zulu mike] \
derived:{zulu mike alpha} record:{kilo bravo golf} partial:{y x} pick:{zulu alpha} omit:{zulu alpha} mapped:{t s r} \
remapped:{to_zulu to_mike} wide:{second first zulu mike} either:<{left} {right} {both}> size:[small big none] numbers:[30 4 100] \
mix:<s null n> objects:<{w} {v} [text]>`;

/** Types that are worked out. Where their constituents have no place of their own in the source, the order is that of their texts. */
const WORKED_OUT: readonly (readonly [type: string, order: string])[] = [
  ["boolean | string", "<b s>"],
  ["string | boolean | 'x'", "<s b>"],
  ["{ id: string } & (Zulu | Alpha)", "<{id z} {id a}>"],
  ["Common", "<{id z} {id m} {id a}>"],
  ["(Zulu | Alpha) & (Mike | { q: 1 })", "<{z m} {z q} {a m} {a q}>"],
  ["NonNullable<Zulu | Alpha | null>", "<{z} {a}>"],
  ["NonNullable<Letters | null>", "[c a z m]"],
  ["Readonly<Zulu | Alpha>", "<{a} {z}>"],
  ["Shape['kind']", "[z m a]"],
  ["Record<Shape['kind'], 1>", "{z m a}"],
  ["{ [K in Shape as K['kind']]: K }", "{z m a}"],
  ["(typeof LIST)[number]['id']", "[zz aa mm]"],
  ["(typeof NEST)[keyof typeof NEST]['v']", "[z a]"],
  ["Record<Colour, 1>", "{z-red a-green}"],
  ["`${'b' | 'a'}-${'y' | 'x'}`", "[b-y b-x a-y a-x]"],
  ["Record<`to_${'b' | 'a'}`, 1>", "{to_b to_a}"],
  ["Uppercase<'b' | 'a'>", "[A B]"],
  ["Tagged<'ok' | 'err'>", "<{err} {ok}>"],
  ["Lists<string, number>", "<a:n a:s>"],
  ["Lists<number, string>", "<a:n a:s>"],
  ["Events<{ zulu: string; mike: number; alpha: 1 }>", "<{alpha} {mike} {zulu}>"],
  ["Keys<{ z: 1; m: 2; a: 3 }>", "[z m a]"],
  ["Events<{ zulu: string; alpha: 1 }> | 'none'", "<[none] {alpha} {zulu}>"],
  ["Events<Omen> | 'none'", "<[none] {alpha} {zulu}>"],
  ["EventsOrNone<Omen>", "<[none] {alpha} {zulu}>"],
  ["'first' | Records<{ zulu: string; alpha: 1 }> | null", "<[first ] {alpha} {zulu}>"],
  ["Pairs<{ zulu: string; alpha: 1 }>", "<{left} [none] {kind alpha} {kind zulu}>"],
];
/** Inputs whose members are worked out: ports are exactly as declared. */
const PORTS: readonly (readonly [type: string, ports: string])[] = [
  ["Record<'b' | 'c' | 'a', 1>", "b c a"],
  ["{ first: 1 } & Record<'z' | 'y', 1> & { last: 1 }", "first z y last"],
  ["Partial<Record<'z' | 'y', 1>>", "z y"],
  ["{ [K in Exclude<Letters, 'a'>]: K }", "c z m"],
  ["Record<Shape['kind'], 1>", "z m a"],
  ["{ [K in Shape as K['kind']]: K }", "z m a"],
  ["Record<Colour, 1>", "z-red a-green"],
  ["Record<(typeof COLOURS)[number], 1>", "violet red amber"],
  ["Record<`to_${'b' | 'a'}_${'y' | 'x'}`, 1>", "to_b_y to_b_x to_a_y to_a_x"],
  ["{ [K in keyof Omen as `to_${K}`]: Omen[K] }", "to_zulu to_alpha"],
  ["Picked<Omen>", "zulu alpha"],
  ["Pick<Wide, 'alpha' | 'zulu' | 'late'>", "zulu alpha late"],
  ["Omit<Wide, 'alpha'>", "zulu late early"],
];
const workedOut = `
import type { Alpha, Mike, Zulu } from "./later.js";
type Letters = "c" | "a" | "z" | "m";
type Common = { id: string } & (Zulu | Mike | Alpha);
type Shape = { kind: "z"; r: 1 } | { kind: "m"; s: 1 } | { kind: "a"; t: 1 };
type Tagged<K> = K extends string ? { [P in K]: 1 } : never;
type Lists<T, U> = T[] | U[];
type Events<T> = { [K in keyof T]: { [P in K]: T[K] } }[keyof T];
type Records<T> = { [K in keyof T]: Record<K & string, T[K]> }[keyof T];
interface Omen { zulu: string; alpha: 1 }
type EventsOrNone<T> = Events<T> | "none";
type PairOf<T> = { [K in keyof T]: { kind: K } & { [P in K]: T[K] } };
type Pairs<T> = PairOf<T>[keyof T] | { left: 1 } | "none";
type Keys<T> = keyof T;
enum Colour { Red = "z-red", Green = "a-green" }
const LIST = [{ id: "zz" }, { id: "aa" }, { id: "mm" }] as const;
type KeysOf<T> = { [K in keyof T]: T[K] extends never ? never : K }[keyof T];
type Picked<T> = { [K in KeysOf<T>]: T[K] };
interface Wide extends Omen { late: 1; early: 1 }
const COLOURS = ["violet", "red", "amber"] as const;
const NEST = { q: { v: "z" }, p: { v: "a" } } as const satisfies Record<string, { v: string }>;
`;

const files = {
  "src/order.ts": toolSource("Order", input, output, before),
  "src/worked-out.ts": toolSource(
    "WorkedOut",
    `{ ${WORKED_OUT.map(([type], index) => `m${index}: ${type}`).join("; ")} }`,
    "Tagged2<'ok' | 'err'>",
    `${workedOut}type Tagged2<K> = K extends string ? { [P in K]: { x: K } } : never;`,
  ),
  ...Object.fromEntries(
    PORTS.map(([type], at) => [`src/ports${at}.ts`, toolSource(`Ports${at}`, type, '"done"', workedOut)]),
  ),
  "src/later.ts":
    'export type Later = "z" | "m"; export interface Alpha { a: 1 } export interface Mike { m: 1 } export interface Zulu { z: 1 }',
};
const project = new ToolProject(files);

interface CodecView {
  kind: string;
  values?: unknown[];
  members?: { name: string }[];
  branches?: CodecView[];
  item?: CodecView;
}

/** The order of everything in a codec, in short. */
function short(codec: CodecView): string {
  if (codec.kind === "literal") return `[${codec.values?.join(" ")}]`;
  if (codec.kind === "object") return `{${codec.members?.map(({ name }) => name).join(" ")}}`;
  if (codec.kind === "array") return `a:${short(codec.item as CodecView)}`;
  if (codec.kind === "union") return `<${codec.branches?.map(short).join(" ")}>`;
  return codec.kind === "null" ? "null" : codec.kind.charAt(0);
}

test("members, variants and literals keep the order in the source", async () => {
  project.build();
  const contracts = (await project.contracts()) as unknown as readonly {
    input: { name: string; codec: CodecView }[];
    output: { name: string }[];
    inputSchema: string;
  }[];
  const [contract] = contracts;
  assert.ok(contract !== undefined);
  assert.equal(contract.input.map(({ name, codec }) => `${name}:${short(codec)}`).join(" "), expected);
  assert.deepEqual(
    contract.output.map(({ name }) => name),
    ["zz", "done", "aa", "mm"],
  );
  assert.match(contract.inputSchema, /"properties":\{"2":.*"1":.*"ten":.*"0":/);
  assert.match(contract.inputSchema, /"required":\["2","1","ten","0","literals"/);
  proves("2.6");
});

test("computed ports keep the order of their declaration", async () => {
  const contracts = await project.contracts();
  const found = PORTS.map(([type], at) => {
    const contract = contracts.find(({ path }) => path === `Ports${at}`);
    return [type, contract?.input.map(({ name }) => name).join(" ")];
  });
  assert.deepEqual(found, PORTS);
  proves("2.1");
});

test("computed types have a stable order", async () => {
  const contracts = (await project.contracts()) as unknown as readonly {
    path: string;
    input: { codec: CodecView }[];
    output: { name: string }[];
    definitions?: [string, CodecView][];
  }[];
  const contract = contracts.find(({ path }) => path === "WorkedOut");
  const definitions = new Map(contract?.definitions);
  const resolved = (codec: CodecView): CodecView =>
    codec.kind === "ref"
      ? resolved(definitions.get((codec as { name?: string }).name ?? "") as CodecView)
      : codec.branches === undefined
        ? codec
        : { ...codec, branches: codec.branches.map(resolved) };
  const found = contract?.input.map(({ codec }, index) => [WORKED_OUT[index]?.[0], short(resolved(codec))]);
  assert.deepEqual(found, WORKED_OUT);
  assert.deepEqual(
    contract?.output.map(({ name }) => name),
    ["err", "ok"],
  );
});

test("unrelated files change no byte", () => {
  const first = project.build();
  project.write({
    "src/aaa.ts": `import type { Alpha, Mike, Zulu } from "./later.js";
export const later: [Alpha, Mike, Zulu][] = [];
export type A = "b" | "z" | "m" | "golf" | "bravo" | "x" | "a" | "extra" | "amber" | "red" | "r" | "s" | "t";
export const n: 100 | 4 | 30 = 4; export const o: { v: 2 } | { w: 1 } | number | null | string = null;
export interface Base { mike: string; zulu: string } export const k: keyof Base = "mike";
export const r: "right" | "left" | "p" | "q" | "aa" | "mm" | "zz" | "done" | "none" | "big" | "small" = "p";`,
    "src/zzz.ts":
      'export declare const last: "m" | "b" | "kilo";\nexport type { A } from "./aaa.js";\nimport "./order.js";',
  });
  const second = project.build();
  assert.deepEqual(second, first);
});

test("recursive types take time proportional to their size, not to their paths", () => {
  const ways = ["a", "b", "c", "d", "e", "f"].map((name) => `T extends { ${name}: infer U } ? Deep<U> : `).join("");
  const deep = new ToolProject({
    "src/deep.ts": toolSource("Deep1", '{ v: Deep<{ a: "z" } | { f: "y" }> }', '"done"', `type Deep<T> = ${ways}T;`),
  });
  // A run of its own for every way would not end: the time limit of the file is what it would reach.
  assert.match(deep.build()["src/generated/contracts.ts"] ?? "", /values: \["y", "z"\]/);
});

test("a second run writes the same bytes", () => {
  assert.deepEqual(project.build(), project.build());
});
