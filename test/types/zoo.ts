// biome-ignore-all lint/suspicious/noTemplateCurlyInString: types are source texts here
/**
 * The type zoo: types as a tool author may write them, each with values that TypeScript takes and values that it does
 * not. Nobody's opinion is written here but the expectation of the port and of refusals: whether a value belongs to its
 * type is judged by tsc, and svc-gen must agree (zoo.test.ts).
 */

import type { Code } from "#generator/diagnostics/diagnostics.js";
import { toolSource } from "../generator/project.js";

export interface ZooType {
  readonly name: string;
  /** The type of the one member `v` of Input and of the payload of Output. */
  readonly type: string;
  /** Declarations that it needs. */
  readonly before?: string;
  /** The port of the member; `one` unless said. */
  readonly many?: true;
  /** Expressions of the type. */
  readonly accept: readonly string[];
  /** Expressions that are not of the type. */
  readonly refuse: readonly string[];
  /** Values about which tsc and the contract differ on purpose, with the reason. */
  readonly differ?: readonly (readonly [expression: string, reason: string])[];
}

export interface RefusedType {
  readonly name: string;
  readonly type: string;
  readonly before?: string;
  readonly code: Code;
  /** Without the tool's name: `Input.v.when`. */
  readonly subject: string;
}

const named = `
export interface Point { x: number; y: number }
export interface Named { name: string }
export enum Colour { Red = "red", Green = "green" }
export enum Level { Low, Mid = 5, High }
export const enum Flag { On = "on", Off = "off" }
export enum Mixed { A = "a", B = 2 }
`;

export const ZOO: readonly ZooType[] = [
  // Primitives
  {
    name: "string",
    type: "string",
    accept: ['""', '"é\\u0000"', '"\\ud83d\\ude00"'],
    refuse: ["1", "null", "true", "[]", "{}"],
  },
  {
    name: "number",
    type: "number",
    accept: ["0", "-1.5", "1e300", "9007199254740991"],
    refuse: ['"1"', "null", "true", "[1]"],
  },
  { name: "boolean", type: "boolean", accept: ["true", "false"], refuse: ["0", '"true"', "null"] },
  { name: "null", type: "null", accept: ["null"], refuse: ["0", '""', "false", "{}"] },
  { name: "unknown", type: "unknown", accept: ["1", "null", '"x"', "[1, { a: 2 }]", "{ a: { b: null } }"], refuse: [] },
  { name: "any", type: "any", accept: ["1", "null", "[]"], refuse: [] },
  { name: "object", type: "object", accept: ["{}", "{ a: 1 }", "[]"], refuse: ["1", '"x"', "null", "true"] },
  { name: "empty", type: "{}", accept: ["1", '"x"', "{ }", "[]", "false"], refuse: ["null"] },
  {
    name: "bigint",
    type: "bigint",
    accept: ["0n", "-9223372036854775808n", "18446744073709551615n", "5n"],
    refuse: ['"1"', "1.5", "null", "true"],
  },
  // Literals and enums
  { name: "literal", type: '"a"', accept: ['"a"'], refuse: ['"b"', "1", "null"] },
  { name: "number literal", type: "5", accept: ["5"], refuse: ["6", '"5"'] },
  { name: "negative literal", type: "-1 | 0 | 1.5", accept: ["-1", "0", "1.5"], refuse: ["1", "-1.5"] },
  { name: "true", type: "true", accept: ["true"], refuse: ["false", "1"] },
  { name: "literals", type: '"b" | "a" | "c"', accept: ['"a"', '"b"', '"c"'], refuse: ['"d"', '""', "null"] },
  { name: "literals and null", type: '"b" | null | "a"', accept: ['"a"', "null"], refuse: ['"d"', "0"] },
  {
    name: "literals of two kinds",
    type: '"x" | 1 | false',
    accept: ['"x"', "1", "false"],
    refuse: ["true", "0", '"1"'],
  },
  {
    name: "string enum",
    before: named,
    type: "Colour",
    accept: ["Colour.Red", "Colour.Green"],
    refuse: ['"blue"', "0"],
  },
  {
    name: "enum member",
    before: named,
    type: "Colour.Green",
    accept: ["Colour.Green"],
    refuse: ["Colour.Red", '"blue"'],
  },
  {
    name: "numeric enum",
    before: named,
    type: "Level",
    accept: ["Level.Low", "Level.Mid", "6"],
    refuse: ["7", '"Low"'],
  },
  { name: "const enum", before: named, type: "Flag", accept: ["Flag.On"], refuse: ['"maybe"', "1"] },
  { name: "mixed enum", before: named, type: "Mixed", accept: ["Mixed.A", "Mixed.B"], refuse: ['"b"', "3"] },
  { name: "enum or null", before: named, type: "Colour | null", accept: ["Colour.Red", "null"], refuse: ['"blue"'] },
  {
    name: "const array",
    before: 'export const C = ["red", "blue"] as const;',
    type: "(typeof C)[number]",
    accept: ['"red"', '"blue"'],
    refuse: ['"green"'],
  },
  {
    name: "keyof",
    before: "export const O = { z: 1, 1: 2, a: 3 };",
    type: "keyof typeof O",
    accept: ['"z"', '"a"', "1"],
    refuse: ['"b"', "2"],
  },
  {
    name: "exclude",
    before: 'type All = "c" | "b" | "a";',
    type: 'Exclude<All, "b">',
    accept: ['"c"', '"a"'],
    refuse: ['"b"'],
  },
  // Template literals
  { name: "template string", type: "`x-${string}`", accept: ['"x-"', '"x-y\\n"'], refuse: ['"y"', '"X-"', "1"] },
  {
    name: "template number",
    type: "`v${number}`",
    accept: ['"v1"', '"v-1.5"', '"v1e3"', '"v0x1f"'],
    refuse: ['"v"', '"vx"', '"v1x"'],
  },
  {
    name: "template branded text",
    before: 'export type A = "xy" & { readonly brand: 1 };\nexport type B = `b${string}` & { readonly brand: 2 };',
    type: "`${A}a${B}-${number}`",
    accept: ['"xyab-1" as `${A}a${B}-${number}`', '"xyabc-1e5" as `${A}a${B}-${number}`'],
    refuse: ['"xab-1"', '"xyab"', '"xyac-1"'],
  },
  { name: "template bigint", type: "`${bigint}n`", accept: ['"1n"', '"-20n"', '"0n"'], refuse: ['"1.5n"', '"n"'] },
  { name: "template boolean", type: "`is-${boolean}`", accept: ['"is-true"'], refuse: ['"is-1"'] },
  {
    name: "template union",
    type: '`${"a" | "b"}-${"x" | "y"}`',
    accept: ['"a-x"', '"b-y"'],
    refuse: ['"a-b"', '"c-x"'],
  },
  {
    name: "template special",
    type: "`(${string}.${string})`",
    accept: ['"(a.b)"', '"(.)"'],
    refuse: ['"a.b"', '"(ab)"'],
  },
  // TypeScript ends a placeholder at the first text behind it, and does not search further.
  {
    name: "template host and port",
    type: "`${string}:${number}`",
    accept: ['"a:1"', '":80"'],
    refuse: ['"::1:80"', '"a:b"', '"a:1:2"'],
  },
  {
    name: "template version",
    type: "`v${number}.${number}.${number}`",
    accept: ['"v1.2.3"', '"v1.2.3.4"'],
    refuse: ['"v1.2"', '"v1.2.3.4.5"'],
  },
  {
    name: "template day",
    type: "`${number}-${number}-${number}`",
    accept: ['"2024-01-02"', '"2024-01--2"'],
    refuse: ['"2024--1-2"', '"-1-2-3"', '"1e-5-1-2"'],
  },
  { name: "template unit", type: "`${number}px`", accept: ['"1px"', '" px"', '".5px"', '"0b1px"'], refuse: ['"px"'] },
  {
    name: "template without texts between",
    type: "`${number}${Uppercase<string>}${string}`",
    accept: ['"1A"', '"1Ab"'],
    refuse: ['"1a"', '"A1"', '"1"'],
  },
  {
    name: "template of mapped texts",
    type: "`${Uppercase<string>}-${Capitalize<string>}_${bigint}`",
    accept: ['"A-Bc_1"', '"-_1"'],
    refuse: ['"a-B_1"', '"A-b_1"', '"A-B-C_1_2"'],
  },
  {
    name: "template of a brand",
    before: 'export type Id = string & { readonly __brand: "Id" };',
    type: "`${Id}/${number}`",
    accept: ['"a/1" as `${Id}/${number}`'],
    refuse: ['"a/b"', "1"],
  },
  { name: "uppercase", type: "Uppercase<string>", accept: ['"ABC"', '"1É"'], refuse: ['"aBC"'] },
  { name: "lowercase", type: "Lowercase<string>", accept: ['"abc"'], refuse: ['"aBC"'] },
  { name: "capitalize", type: "Capitalize<string>", accept: ['"Abc"', '""'], refuse: ['"abc"'] },
  { name: "uppercase literals", type: 'Uppercase<"a" | "b">', accept: ['"A"', '"B"'], refuse: ['"a"'] },
  // Arrays and tuples
  {
    name: "array",
    type: "string[]",
    many: true,
    accept: ['["a"]', '["a", "b"]'],
    refuse: ['"a"', "[1]", "{}", "null"],
  },
  { name: "readonly array", type: "readonly number[]", many: true, accept: ["[1, 2]"], refuse: ['["a"]'] },
  { name: "Array", type: "Array<string | number>", many: true, accept: ['["a", 1]'], refuse: ["[true]", "[null]"] },
  { name: "ReadonlyArray", type: "ReadonlyArray<boolean>", many: true, accept: ["[true]"], refuse: ["[0]"] },
  { name: "array of arrays", type: "number[][]", many: true, accept: ["[[1], []]"], refuse: ["[1]", '[["a"]]'] },
  {
    name: "array of objects",
    before: named,
    type: "Point[]",
    many: true,
    accept: ["[{ x: 1, y: 2 }]"],
    refuse: ["[{ x: 1 }]", "[1]"],
  },
  {
    name: "array of bigint",
    type: "bigint[]",
    many: true,
    accept: ["[1n, 9007199254740993n]"],
    refuse: ['["1"]', "[1.5]"],
  },
  { name: "array of nullable", type: "(string | null)[]", many: true, accept: ['[null, "a"]'], refuse: ["[1]"] },
  { name: "array or null", type: "string[] | null", accept: ['["a"]', "null", "[]"], refuse: ['"a"', "[1]"] },
  { name: "one or array", type: "string | string[]", accept: ['"a"', '["a"]', "[]"], refuse: ["1", "[1]"] },
  {
    name: "tuple",
    type: "[string, number]",
    many: true,
    accept: ['["a", 1]'],
    refuse: ['["a"]', '["a", 1, 2]', '[1, "a"]'],
  },
  {
    name: "optional tuple",
    type: "[string, number?]",
    many: true,
    accept: ['["a"]', '["a", 1]'],
    refuse: ["[]", '["a", "b"]'],
  },
  {
    name: "labelled tuple",
    type: "[first: string, second?: boolean]",
    many: true,
    accept: ['["a", true]'],
    refuse: ["[true]"],
  },
  {
    name: "rest tuple",
    type: "[string, ...number[]]",
    many: true,
    accept: ['["a"]', '["a", 1, 2]'],
    refuse: ["[1]", '["a", "b"]'],
  },
  {
    name: "middle rest",
    type: "[string, ...number[], boolean]",
    many: true,
    accept: ['["a", true]', '["a", 1, 2, false]'],
    refuse: ['["a"]', '["a", 1]', '["a", true, true]'],
  },
  {
    name: "leading rest",
    type: "[...string[], number]",
    many: true,
    accept: ["[1]", '["a", "b", 1]'],
    refuse: ['["a"]', "[1, 2]"],
  },
  { name: "readonly tuple", type: "readonly [1, 2]", many: true, accept: ["[1, 2]"], refuse: ["[2, 1]"] },
  {
    name: "tuple of conversions",
    type: "[Date, string]",
    accept: ['[new Date(0), "1970-01-01T00:00:00.000Z"]'],
    refuse: ['["x", "y"]', "[new Date(0)]"],
  },
  {
    name: "elements left out",
    type: "{ at: [string, Date?, number?] }",
    accept: ['{ at: ["a"] }', '{ at: ["a", undefined, 1] }', '{ at: ["a", new Date(0)] }'],
    refuse: ['{ at: ["a", 1] }', "{ at: [undefined] }"],
  },
  { name: "nested tuple", type: "{ at: [number, number] }", accept: ["{ at: [1, 2] }"], refuse: ["{ at: [1] }"] },
  {
    name: "optional array",
    type: "{ list?: string[] }",
    accept: ["{ }", '{ list: ["a"] }', "{ list: [] }"],
    refuse: ["{ list: [1] }"],
  },
  // Objects
  {
    name: "interface",
    before: named,
    type: "Point",
    accept: ["{ x: 1, y: 2 }"],
    refuse: ["{ x: 1 }", '{ x: 1, y: "2" }', "null", "[]"],
  },
  {
    name: "inline",
    type: "{ a: { b: { c: string } } }",
    accept: ['{ a: { b: { c: "x" } } }'],
    refuse: ["{ a: { b: {} } }", "{ a: null }"],
  },
  {
    name: "optional member",
    type: "{ a?: string; b: number }",
    accept: ['{ a: "x", b: 1 }', "{ b: 1 }", "{ a: undefined, b: 1 }"],
    refuse: ['{ a: "x" }', "{ a: 1, b: 1 }"],
  },
  {
    name: "null at an optional member",
    type: "{ a?: string }",
    accept: [],
    refuse: [],
    differ: [["{ a: null }", "null stands for an absent optional member"]],
  },
  {
    name: "member or undefined",
    type: "{ a: string | undefined }",
    accept: ['{ a: "x" }', "{ a: undefined }"],
    refuse: ["{ a: 1 }"],
  },
  {
    name: "anything or undefined",
    type: "{ a: {} | null | undefined; b: unknown; c: any }",
    accept: ["{ a: 1, b: 1, c: 1 }", "{ a: undefined, b: null, c: [] }"],
    refuse: ["1"],
  },
  { name: "optional or null", type: "{ a?: string | null }", accept: ['{ a: "x" }', "{ }"], refuse: ["{ a: 1 }"] },
  {
    name: "unknown member",
    type: "{ a: string }",
    accept: [],
    refuse: [],
    differ: [['{ a: "x", b: 1 }', "unknown members are ignored; tsc complains about fresh literals only"]],
  },
  {
    name: "extends",
    before: `${named}export interface P3 extends Point { z: number }`,
    type: "P3",
    accept: ["{ x: 1, y: 2, z: 3 }"],
    refuse: ["{ x: 1, y: 2 }"],
  },
  {
    name: "intersection",
    before: named,
    type: "Point & Named",
    accept: ['{ x: 1, y: 2, name: "n" }'],
    refuse: ["{ x: 1, y: 2 }"],
  },
  {
    name: "intersection narrowing",
    type: "{ a: string | number } & { a: string }",
    accept: ['{ a: "x" }'],
    refuse: ["{ a: 1 }"],
  },
  { name: "getter", type: "{ get a(): string }", accept: ['{ a: "x" }'], refuse: ["{ a: 1 }"] },
  {
    name: "class of data",
    before: 'export class Data { a = 1; readonly b: string = ""; get c(): boolean { return true; } }',
    type: "Data",
    accept: ['{ a: 1, b: "x", c: false }'],
    refuse: ['{ a: 1, b: "x" }', '{ a: "1", b: "x", c: true }'],
  },
  {
    name: "parameter properties",
    before: "export class Pair { constructor(public left: number, readonly right: string) {} }",
    type: "Pair",
    accept: ['{ left: 1, right: "r" }'],
    refuse: ["{ left: 1 }"],
  },
  { name: "readonly", before: named, type: "Readonly<Point>", accept: ["{ x: 1, y: 2 }"], refuse: ["{ x: 1 }"] },
  { name: "partial", before: named, type: "Partial<Point>", accept: ["{ }", "{ x: 1 }"], refuse: ['{ x: "1" }', "1"] },
  {
    name: "required",
    type: "Required<{ a?: string; b?: number }>",
    accept: ['{ a: "x", b: 1 }'],
    refuse: ['{ a: "x" }'],
  },
  {
    name: "pick",
    before: named,
    type: 'Pick<Point & Named, "name" | "x">',
    accept: ['{ x: 1, name: "n" }'],
    refuse: ["{ x: 1 }"],
  },
  { name: "omit", before: named, type: 'Omit<Point, "y">', accept: ["{ x: 1 }"], refuse: ['{ x: "1" }'] },
  {
    name: "mapped",
    type: '{ [K in "b" | "a"]: K }',
    accept: ['{ a: "a", b: "b" }'],
    refuse: ['{ a: "b", b: "b" }', '{ a: "a" }'],
  },
  {
    name: "mapped optional",
    type: '{ [K in "b" | "a"]?: number }',
    accept: ["{ }", "{ b: 1 }"],
    refuse: ['{ b: "1" }'],
  },
  {
    name: "key remapping",
    before: named,
    type: "{ [K in keyof Point as `get_${K}`]: Point[K] }",
    accept: ["{ get_x: 1, get_y: 2 }"],
    refuse: ["{ get_x: 1 }"],
  },
  {
    name: "conditional",
    before: "type Wrap<T> = T extends string ? { text: T } : { other: T };",
    type: "Wrap<string>",
    accept: ['{ text: "x" }'],
    refuse: ["{ text: 1 }"],
  },
  {
    name: "distributed conditional",
    before: "type Wrap<T> = T extends string ? { text: T } : { other: T };",
    type: "Wrap<string | number>",
    accept: ['{ text: "x" }', "{ other: 1 }"],
    refuse: ['{ other: "x" }'],
  },
  {
    name: "generic",
    before: "export interface Box<T> { value: T }",
    type: "Box<string>",
    accept: ['{ value: "x" }'],
    refuse: ["{ value: 1 }"],
  },
  {
    name: "two of a generic",
    before: "export interface Box<T> { value: T }",
    type: "{ a: Box<string>; b: Box<number> }",
    accept: ['{ a: { value: "x" }, b: { value: 1 } }'],
    refuse: ["{ a: { value: 1 }, b: { value: 1 } }", '{ a: { value: "x" }, b: { value: "x" } }'],
  },
  {
    name: "generic default",
    before: "export interface Box<T = boolean> { value: T }",
    type: "Box",
    accept: ["{ value: true }"],
    refuse: ["{ value: 1 }"],
  },
  {
    name: "infer",
    before: "type Item<T> = T extends (infer U)[] ? U : never;",
    type: "Item<string[]>",
    accept: ['"x"'],
    refuse: ["1"],
  },
  { name: "indexed access", before: named, type: 'Point["x"]', accept: ["1"], refuse: ['"1"'] },
  {
    name: "typeof",
    before: 'export const sample = { a: 1, b: ["x"] };',
    type: "typeof sample",
    accept: ['{ a: 2, b: ["y"] }'],
    refuse: ["{ a: 2 }", "{ a: 2, b: [1] }"],
  },
  {
    name: "same name twice",
    before: "namespace A { export interface T1 { a: string } } namespace B { export interface T1 { b: number } }",
    type: "{ one: A.T1; two: B.T1 }",
    accept: ['{ one: { a: "x" }, two: { b: 1 } }'],
    refuse: ['{ one: { b: 1 }, two: { a: "x" } }'],
  },
  {
    name: "merged interface",
    before: "export interface M { a: string } export interface M { b: number }",
    type: "M",
    accept: ['{ a: "x", b: 1 }'],
    refuse: ['{ a: "x" }'],
  },
  { name: "weak", type: "{ a?: string; b?: number }", accept: ["{ }", "{ b: 1 }"], refuse: ["1"] },
  { name: "never member", type: "{ a: string; n?: never }", accept: ['{ a: "x" }'], refuse: ['{ a: "x", n: 1 }'] },
  {
    name: "undefined member",
    type: "{ a: string; n?: undefined }",
    accept: ['{ a: "x" }'],
    refuse: ['{ a: "x", n: 1 }'],
  },
  {
    name: "quoted names",
    type: '{ "a b": string; "": number; "é": boolean; "a\\"\\n*/": null }',
    accept: ['{ "a b": "x", "": 1, "é": true, "a\\"\\n*/": null }'],
    refuse: ['{ "a b": "x", "": 1, "é": true }'],
  },
  {
    name: "integer names",
    type: "{ 2: string; 1: number; 0: boolean }",
    accept: ['{ 2: "x", 1: 1, 0: true }'],
    refuse: ['{ 2: "x", 1: 1 }'],
  },
  {
    name: "prototype names",
    type: '{ ["__proto__"]: string; constructor: number; toString: string; hasOwnProperty: null }',
    accept: ['{ ["__proto__"]: "x", constructor: 1, toString: "t", hasOwnProperty: null }'],
    refuse: [
      '{ ["__proto__"]: "x", constructor: 1 }',
      '{ ["__proto__"]: 1, constructor: 1, toString: "t", hasOwnProperty: null }',
    ],
  },
  {
    name: "prototype name beside others",
    type: '{ ["__proto__"]: bigint; [name: `x${string}`]: string } | ({ ["__proto__"]?: Date } & Record<string, Date>)',
    accept: ['{ ["__proto__"]: 1n, xa: "" }', '{ ["__proto__"]: new Date(0), a: new Date(1) }', "{ a: new Date(1) }"],
    refuse: ['{ ["__proto__"]: 1n, a: "" }', '{ ["__proto__"]: "x" }', '{ xa: "x" }'],
  },
  // Index signatures
  {
    name: "record",
    type: "Record<string, number>",
    accept: ["{ }", '{ a: 1, "b c": 2, 1: 3 }'],
    refuse: ['{ a: "1" }', "1", "null"],
  },
  {
    name: "index signature",
    before: named,
    type: "{ [name: string]: Point }",
    accept: ["{ a: { x: 1, y: 2 } }"],
    refuse: ["{ a: { x: 1 } }"],
  },
  {
    name: "index with members",
    type: "{ [name: string]: string | number; a: string }",
    accept: ['{ a: "x", b: 1 }'],
    refuse: ["{ b: 1 }", "{ a: 1 }", '{ a: "x", b: true }'],
  },
  {
    name: "numeric index",
    type: "{ [index: number]: string }",
    accept: ["{ }", '{ 1: "x" }', '{ "-1.5": "x", "1e+21": "x", "1e-7": "x", NaN: "x" }'],
    refuse: ["{ 1: 1 }", '{ a: "x" }', '{ "1.0": "x" }', '{ "01": "x" }', '{ "1e3": "x" }', '{ "-0": "x" }'],
  },
  {
    name: "numeric index beside any other",
    type: "{ [name: string]: string | number; [index: number]: number }",
    accept: ['{ a: "x", 1: 2 }', '{ "1.0": "x" }', '{ "0x1": "x" }'],
    refuse: ['{ 1: "x" }', '{ "1.5": "x" }'],
  },
  {
    name: "template index",
    type: "{ [name: `x-${string}`]: number }",
    accept: ["{ }", '{ "x-a": 1 }'],
    refuse: ['{ "x-a": "1" }', "{ y: 1 }"],
  },
  {
    name: "template index beside a member of its names",
    type: '{ [name: `x-${string}`]: string | Date | undefined; "x-(a)": Date; "x-b"?: string }',
    accept: ['{ "x-(a)": new Date(0), "x-b": "y", "x-c": "z" }', '{ "x-(a)": new Date(0) }'],
    refuse: ['{ "x-(a)": "y" }', '{ "x-(a)": new Date(0), "x-b": 1 }', '{ "x-(a)": new Date(0), "x-c": 1 }', "{}"],
  },
  {
    name: "numeric index beside a number",
    type: "{ [index: number]: string | bigint | undefined; 0: bigint; 10?: string; length: number }",
    accept: ['{ 0: 1n, length: 2, 1: "x" }', '{ 0: 1n, 10: "x", length: 2 }'],
    refuse: ['{ 0: "x", length: 2 }', "{ 0: 1n, 10: 5n, length: 2 }", "{ 0: 1n, 1: true, length: 2 }"],
  },
  {
    name: "template indexes of two types",
    type: "{ [name: `at-${string}`]: Date; [name: `text-${string}`]: string; count: bigint }",
    accept: ['{ count: 1n, "at-a": new Date(0), "text-a": "1970-01-01T00:00:00.000Z" }', "{ count: 1n }"],
    refuse: ['{ count: 1n, "at-a": "x" }', '{ count: 1n, "text-a": 1 }', '{ count: 1n, other: "x" }'],
  },
  {
    name: "template index beside any other",
    type: "Record<string, string | Date> & Record<`at-${string}`, Date>",
    accept: ['{ "at-a": new Date(0), text: "x" }'],
    refuse: ['{ "at-a": "x" }', "{ text: 1 }"],
  },
  {
    name: "members or any object",
    type: "{ a?: string } | object",
    accept: ["{}", '{ a: "x" }', "{ b: 1 }", "[{ b: 1 }]"],
    refuse: ["1", "null"],
  },
  {
    name: "an interface over options of the language",
    before: "interface Money extends Intl.NumberFormatOptions { amount: number }",
    type: "Money",
    accept: ["{ amount: 1 }", '{ amount: 1, currency: "EUR" }'],
    refuse: ["{}", "{ amount: 1, currency: 2 }"],
  },
  {
    name: "records told apart by names",
    type: "Record<`at-${string}`, Date> | Record<`text-${string}`, string>",
    accept: ['{ "text-a": "1970-01-01T00:00:00.000Z" }', '{ "at-a": new Date(0) }'],
    refuse: ['{ "at-a": "x" }'],
  },
  {
    name: "no members or a date",
    type: "Record<string, never> | { at: Date }",
    accept: ["{ at: new Date(0) }", "{ }"],
    refuse: ['{ at: "x" }', "{ at: 1 }"],
  },
  { name: "record of no names", type: "Record<never, string>", accept: ["{ }", "1", "[]"], refuse: ["null"] },
  {
    name: "record of literals",
    type: 'Record<"b" | "a", boolean>',
    accept: ["{ a: true, b: false }"],
    refuse: ["{ a: true }"],
  },
  {
    name: "record of enum",
    before: named,
    type: "Record<Colour, number>",
    accept: ["{ [Colour.Red]: 1, green: 2 }"],
    refuse: ["{ red: 1 }"],
  },
  {
    name: "partial record",
    type: 'Partial<Record<"b" | "a", boolean>>',
    accept: ["{ }", "{ b: true }"],
    refuse: ["{ b: 1 }"],
  },
  { name: "record of never", type: "Record<string, never>", accept: ["{ }"], refuse: ["{ a: 1 }"] },
  {
    name: "record of unknown",
    type: "Record<string, unknown>",
    accept: ["{ }", "{ a: [null] }"],
    refuse: ["1", "null"],
  },
  {
    name: "record of dates",
    type: "Record<string, Date>",
    accept: ["{ a: new Date(86400000) }"],
    refuse: ["{ a: 1 }", '{ a: "x" }'],
  },
  // Unions
  { name: "primitives", type: "string | number", accept: ['"x"', "1"], refuse: ["true", "null"] },
  { name: "nullable", type: "number | null", accept: ["1", "null"], refuse: ['"1"'] },
  {
    name: "discriminated",
    type: '{ k: "a"; v: number } | { k: "b"; w: string }',
    accept: ['{ k: "a", v: 1 }', '{ k: "b", w: "x" }'],
    refuse: ['{ k: "a", w: "x" }', '{ k: "c" }', '{ k: "b" }'],
  },
  {
    name: "exclusive",
    type: "{ a: string; b?: never } | { b: number; a?: never }",
    accept: ['{ a: "x" }', "{ b: 1 }"],
    refuse: ['{ a: "x", b: 1 }', "{ }"],
  },
  {
    name: "told apart by what only one declares",
    type: "{ a: string } | { a: string; at: Date }",
    accept: ['{ a: "x", at: new Date(0) }', '{ a: "x" }'],
    refuse: ["{ }"],
  },
  {
    name: "told apart by optional members",
    type: "{ a?: string; n?: bigint } | { b: bigint } | { at?: Date }",
    accept: ["{ b: 5n }", "{ at: new Date(0) }", '{ a: "x" }', "{ }"],
    refuse: ["1"],
  },
  {
    name: "told apart deep inside",
    before: "export interface Some { list: { a?: string }[] } export interface Other { list: { b: Date }[] }",
    type: "Record<string, Some | Other>",
    accept: ['{ x: { list: [{ b: new Date(0) }] }, y: { list: [{ a: "x" }] } }'],
    refuse: ["{ x: { } }"],
  },
  {
    name: "object or primitive",
    before: named,
    type: "Point | string",
    accept: ["{ x: 1, y: 2 }", '"x"'],
    refuse: ["1", "{ x: 1 }"],
  },
  {
    name: "optional union",
    type: "{ u?: string | { n: number } }",
    accept: ["{ }", '{ u: "x" }', "{ u: { n: 1 } }"],
    refuse: ["{ u: 1 }"],
  },
  { name: "optional boolean", type: "{ b?: boolean }", accept: ["{ }", "{ b: false }"], refuse: ["{ b: 0 }"] },
  { name: "boolean or string", type: 'boolean | "auto"', accept: ["true", "false", '"auto"'], refuse: ['"x"', "1"] },
  { name: "bigint or null", type: "bigint | null", accept: ["5n", "null"], refuse: ['"5"', "1.5"] },
  { name: "bigint or string", type: "bigint | string", accept: ["5n", '"x"'], refuse: ["1.5", "true"] },
  { name: "union of arrays", type: "string[] | number[]", accept: ['["a"]', "[1]", "[]"], refuse: ['["a", 1]'] },
  {
    name: "nested unions",
    type: "{ a: { b: string } | { c: number } }[]",
    many: true,
    accept: ['[{ a: { b: "x" } }, { a: { c: 1 } }]'],
    refuse: ["[{ a: { b: 1 } }]"],
  },
  // Recursion
  {
    name: "tree",
    before: "export interface Tree { value: number; children: Tree[] }",
    type: "Tree",
    accept: ["{ value: 1, children: [{ value: 2, children: [] }] }"],
    refuse: ["{ value: 1, children: [{ value: 2 }] }"],
  },
  {
    name: "list",
    before: "export interface Cell { value: string; next?: Cell }",
    type: "Cell",
    accept: ['{ value: "a", next: { value: "b" } }', '{ value: "a" }'],
    refuse: ['{ value: "a", next: { } }'],
  },
  {
    name: "linked null",
    before: "export interface Cell { next: Cell | null }",
    type: "Cell",
    accept: ["{ next: null }", "{ next: { next: null } }"],
    refuse: ["{ next: { } }"],
  },
  {
    name: "json",
    before: "export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };",
    type: "Json",
    accept: ['[1, "a", { b: [null, true] }]', "null"],
    refuse: [],
  },
  {
    name: "json by interfaces",
    before: `export type Value = string | bigint | null | Fields | List; export interface Fields { [name: string]: Value }
interface Items<T> extends ReadonlyArray<T> {} export interface List extends Items<Value> {}`,
    type: "List",
    many: true,
    accept: ['["a", [5n, { b: null }]]', "[[]]"],
    refuse: ["[true]", "{ }", '"a"', "[{ a: true }]"],
  },
  {
    name: "nested arrays",
    before: "export type Nested = (string | Nested)[];",
    type: "Nested",
    many: true,
    accept: ['["a", ["b", []]]'],
    refuse: ["[1]", '["a", [1]]'],
  },
  {
    name: "mutual",
    before: "export interface A { b?: B } export interface B { a: A }",
    type: "A",
    accept: ["{ b: { a: { } } }", "{ }"],
    refuse: ["{ b: { } }"],
  },
  {
    name: "recursive generic",
    before: "export interface N<T> { value: T; next?: N<T> }",
    type: "N<number>",
    accept: ["{ value: 1, next: { value: 2 } }"],
    refuse: ['{ value: 1, next: { value: "2" } }'],
  },
  {
    name: "recursive record",
    before: "export interface Dir { [name: string]: Dir }",
    type: "Dir",
    accept: ["{ a: { b: { } } }"],
    refuse: ["{ a: 1 }"],
  },
  {
    name: "this type",
    before: "export interface Chain { next?: this; v: number }",
    type: "Chain",
    accept: ["{ v: 1, next: { v: 2 } }"],
    refuse: ["{ v: 1, next: { } }"],
  },
  {
    name: "members nested far",
    type: `${"{ a: ".repeat(46)}bigint${" }".repeat(46)}`,
    accept: [`${"{ a: ".repeat(46)}1n${" }".repeat(46)}`],
    refuse: [`${"{ a: ".repeat(45)}1n${" }".repeat(45)}`],
  },
  {
    name: "lists nested far",
    type: `{ a: ${"[string, ".repeat(23)}${"bigint".padEnd(6 + 2 * 22, "[]")}${"]".repeat(23)} }`,
    accept: [`{ a: ${'["x", '.repeat(23)}${"[".repeat(22)}1n${"]".repeat(22)}${"]".repeat(23)} }`],
    refuse: [`{ a: ${'["x", '.repeat(23)}${"[".repeat(21)}1n${"]".repeat(21)}${"]".repeat(23)} }`],
  },
  // Dates, bytes, brands
  {
    name: "date",
    type: "Date",
    accept: ["new Date(0)", 'new Date("2024-02-29T12:00:00.123Z")'],
    refuse: ["1", '"yesterday"', "null"],
  },
  {
    name: "bytes",
    type: "Uint8Array",
    accept: ["new Uint8Array([])", "new Uint8Array([0, 255, 1])"],
    refuse: ["1", '"*"', "[1]"],
  },
  {
    name: "dates deep",
    type: "{ at?: Date; all: Date[] }",
    accept: ["{ all: [new Date(1)] }", "{ at: new Date(2), all: [] }"],
    refuse: ['{ all: ["x"] }'],
  },
  { name: "date or null", type: "Date | null", accept: ["new Date(0)", "null"], refuse: ["1"] },
  {
    name: "bytes in a union",
    type: "{ raw: Uint8Array } | { n: bigint }",
    accept: ["{ raw: new Uint8Array([1]) }", "{ n: 5n }"],
    refuse: ["{ raw: 1 }"],
  },
  {
    name: "brand",
    before: 'export type Id = string & { readonly __brand: "Id" };',
    type: "Id",
    accept: ['"x" as Id'],
    refuse: ["1", "null"],
  },
  {
    name: "brands on literals",
    before:
      'export enum E { Z = "z", One = 1 } export type B = { readonly __brand: 1 };\nexport type L = ("x" | 5 | boolean | E) & B;',
    type: "{ a: L }",
    accept: ['{ a: "x" as L }', "{ a: 5 as L }", "{ a: true as L }", "{ a: E.Z as L }", "{ a: E.One as L }"],
    refuse: ['{ a: "y" }', "{ a: 2 }", "{ a: null }"],
  },
  {
    name: "symbol brand",
    before: "declare const brand: unique symbol; export type Id = number & { readonly [brand]: true };",
    type: "Id",
    accept: ["1 as Id"],
    refuse: ['"1"'],
  },
  {
    name: "brand on bigint",
    before: 'export type Wei = bigint & { __unit: "wei" };',
    type: "Wei",
    accept: ["5n as Wei"],
    refuse: ['"5"'],
  },
  {
    name: "brand on an array",
    type: "number[] & { readonly __sorted: true }",
    many: true,
    accept: ["[1, 2] as number[] & { readonly __sorted: true }"],
    refuse: ['["a"]'],
  },
  {
    name: "pattern or date",
    type: "{ at: `x-${string}` | Date }",
    accept: ['{ at: "x-" }', "{ at: new Date(0) }"],
    refuse: ['{ at: "y" }'],
  },
  {
    name: "told apart by a pattern",
    type: "{ k: `a-${string}`; n: number } | { k: `b-${string}`; n: number; at: Date }",
    accept: ['{ k: "a-", n: 1 }', '{ k: "b-", n: 1, at: new Date(0) }'],
    refuse: ['{ k: "b-", n: 1 }', '{ k: "c-", n: 1 }'],
  },
  { name: "open literals", type: '"a" | "b" | (string & {})', accept: ['"a"', '"zzz"'], refuse: ["1"] },
];

export const REFUSED: readonly RefusedType[] = [
  { name: "Map", type: "Map<string, number>", code: "SVC134", subject: "Input.v" },
  { name: "Set", type: "{ a: Set<string>[] }", code: "SVC134", subject: "Input.v.a[]" },
  { name: "ReadonlyMap", type: "ReadonlyMap<string, number>", code: "SVC134", subject: "Input.v" },
  { name: "WeakMap", type: "WeakMap<object, number>", code: "SVC134", subject: "Input.v" },
  { name: "RegExp", type: "{ when: { re: RegExp }[] }", code: "SVC135", subject: "Input.v.when[].re" },
  { name: "Promise", type: "Promise<string>", code: "SVC143", subject: "Input.v" },
  { name: "function", type: "() => void", code: "SVC130", subject: "Input.v" },
  { name: "function member", type: "{ call: (x: string) => number }", code: "SVC130", subject: "Input.v.call" },
  { name: "constructor", type: "new () => object", code: "SVC130", subject: "Input.v" },
  { name: "Function", type: "Function", code: "SVC130", subject: "Input.v" },
  { name: "method", type: "{ run(): void }", code: "SVC131", subject: "Input.v.run" },
  {
    name: "class with methods",
    before: "class C { a = 1; run() {} }",
    type: "C",
    code: "SVC131",
    subject: "Input.v.run",
  },
  { name: "symbol", type: "symbol", code: "SVC132", subject: "Input.v" },
  {
    name: "unique symbol",
    before: "declare const s: unique symbol;",
    type: "typeof s",
    code: "SVC132",
    subject: "Input.v",
  },
  {
    name: "private",
    before: "class C { private a = 1; b = this.a; }",
    type: "C",
    code: "SVC133",
    subject: "Input.v.a",
  },
  {
    name: "hash private",
    before: "class C { #a = 1; b = this.#a; }",
    type: "C",
    code: "SVC133",
    subject: "Input.v.#a",
  },
  { name: "protected", before: "class C { protected a = 1; }", type: "C", code: "SVC133", subject: "Input.v.a" },
  { name: "never", type: "{ a: never }", code: "SVC137", subject: "Input.v.a" },
  { name: "impossible", type: '{ a: { k: "x" } & { k: "y" } }', code: "SVC137", subject: "Input.v.a" },
  { name: "undefined in an array", type: "(string | undefined)[]", code: "SVC136", subject: "Input.v[]" },
  { name: "void", type: "{ a: void[] }", code: "SVC136", subject: "Input.v.a[]" },
  { name: "bigint literal", type: "1n | 2n", code: "SVC138", subject: "Input.v" },
  { name: "infinity", type: "{ a: 1e999 | 1 }", code: "SVC149", subject: "Input.v.a" },
  { name: "not a number", before: "enum E { A = 0 / 0 }", type: "E", code: "SVC149", subject: "Input.v" },
  { name: "half a character as a literal", type: '"\\ud800"', code: "SVC149", subject: "Input.v" },
  {
    name: "symbol key",
    before: "declare const s: unique symbol;",
    type: "{ [s]: string }",
    code: "SVC141",
    subject: "Input.v[s]",
  },
  {
    name: "endless",
    before: "interface Deep<T> { v: T; next?: Deep<T[]> }",
    type: "Deep<string>",
    code: "SVC140",
    subject: "",
  },
  { name: "typed array", type: "Float64Array", code: "SVC135", subject: "Input.v" },
  { name: "Error", type: "Error", code: "SVC135", subject: "Input.v" },
  {
    name: "of an Error",
    before: "class E extends Error { code = 1 }",
    type: "E[]",
    code: "SVC135",
    subject: "Input.v[]",
  },
  { name: "of an Error, intersected", type: "Error & { code: number }", code: "SVC135", subject: "Input.v" },
  {
    name: "of a Map, far away",
    before: "class A<T> extends Map<string, T> {} class B<T> extends A<T> { b = 1 }",
    type: "{ b: B<string> }",
    code: "SVC135",
    subject: "Input.v.b",
  },
  {
    name: "of an array",
    before: "interface List<T> extends Array<T> { extra: number }",
    type: "List<string>",
    code: "SVC135",
    subject: "Input.v",
  },
  { name: "URL-like boxed", type: "String", code: "SVC135", subject: "Input.v" },
  { name: "array and object", type: "string[] & { extra: number }", code: "SVC142", subject: "Input.v" },
  { name: "iterable", type: "Iterable<string>", code: "SVC135", subject: "Input.v" },
  {
    name: "reference",
    before: 'import type { DataRef } from "svc-runtime";',
    type: "DataRef<string>",
    code: "SVC168",
    subject: "Input.v",
  },
  {
    name: "half a character",
    type: '{ "\\ud800": string }',
    code: "SVC148",
    subject: 'Input.v["\\ud800"]',
  },
  { name: "secret", type: "{ nested: { apiKey: string } }", code: "SVC154", subject: "Input.v.nested.apiKey" },
];

export const toolName = (index: number) => `Tool${index}`;

/** One file a type: its declarations, the type as `T`, the tool. */
export function sourceOf({ type, before = "" }: Pick<ZooType, "type" | "before">, index: number): string {
  return toolSource(toolName(index), `{ v: ${type} }`, `{ ok: { v: ${type} } }`, `${before}\nexport type T = ${type};`);
}
