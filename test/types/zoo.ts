/**
 * The type zoo: types as a tool author may write them, each with values that TypeScript takes and values that it does
 * not. Nobody's opinion is written here but the expectation of the port and of refusals: whether a value belongs to its
 * type is judged by tsc, and svc-gen must agree (zoo.test.ts).
 *
 * zoo.txt has them, each with its lines below it:
 *
 *     name: type               `name []: type` when the port of the member is a `many`
 *       where a declaration    `Named` for those of NAMED
 *       + values of the type
 *       - values that are not of the type
 *       ~ value; the reason why tsc and the contract differ on purpose
 *       ! code and subject     of a type that is refused
 */

import { readFileSync } from "node:fs";
import type { Code } from "#generator/compile/diagnostics/diagnostics.js";
import { toolSource } from "../generator/project.js";

interface Named {
  readonly name: string;
  /** The type of the one member `v` of Input and of the payload of Output. */
  readonly type: string;
  /** Declarations that it needs. */
  readonly before: string;
}

export interface ZooType extends Named {
  /** Whether the port of the member is a `many`. */
  readonly many: boolean;
  /** Expressions of the type. */
  readonly accept: readonly string[];
  /** Expressions that are not of the type. */
  readonly refuse: readonly string[];
  readonly differ: readonly (readonly [expression: string, reason: string])[];
}

export interface RefusedType extends Named {
  readonly code: Code;
  /** Without the tool's name: `Input.v.when`. */
  readonly subject: string;
}

const NAMED = `
export interface Point { x: number; y: number }
export interface Named { name: string }
export enum Colour { Red = "red", Green = "green" }
export enum Level { Low, Mid = 5, High }
export const enum Flag { On = "on", Off = "off" }
export enum Mixed { A = "a", B = 2 }`;

const read = readFileSync(new URL("zoo.txt", import.meta.url), "utf8")
  .split(/\n(?=\S)/)
  .filter((block) => !block.startsWith("//"))
  .map((block) => {
    const [head = "", ...lines] = block.trimEnd().split("\n");
    const [, name = "", many, type = ""] = /^(.*?)( \[\])?: (.*)$/.exec(head) ?? [];
    const marked = (mark: string) =>
      lines.filter((line) => line.startsWith(`  ${mark} `)).map((line) => line.slice(3 + mark.length));
    const before = marked("where").map((line) => (line === "Named" ? NAMED : line));
    const [accept = [], refuse = [], refusal] = ["+", "-", "!"].map((mark) => marked(mark)[0]?.split("; "));
    const differ = marked("~").map((line) => line.split("; ") as [string, string]);
    return { name, type, before: before.join("\n"), many: many !== undefined, accept, refuse, differ, refusal };
  });

/** A type nested as deep as that. */
const nested = (depth: number, open: string, inner: string, close: string) =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
const inList = (text: string, first: string) => `{ a: ${nested(23, `[${first}, `, text, "]")} }`;
const plain = { before: "", many: false, differ: [] };

export const ZOO: readonly ZooType[] = [
  ...read.filter(({ refusal }) => refusal === undefined),
  {
    ...plain,
    name: "members nested far",
    type: nested(46, "{ a: ", "bigint", " }"),
    accept: [nested(46, "{ a: ", "1n", " }")],
    refuse: [nested(45, "{ a: ", "1n", " }")],
  },
  {
    ...plain,
    name: "lists nested far",
    type: inList(`bigint${"[]".repeat(22)}`, "string"),
    accept: [inList(nested(22, "[", "1n", "]"), '"x"')],
    refuse: [inList(nested(21, "[", "1n", "]"), '"x"')],
  },
  {
    ...plain,
    name: "a ring of 60 interfaces",
    before: Array.from({ length: 60 }, (_, at) => `interface Ring${at} { next?: Ring${(at + 1) % 60} }`).join("\n"),
    type: "Ring0",
    accept: ["{}", "{ next: { next: {} } }"],
    refuse: ["{ next: 1 }", "{ next: { next: { next: [] } } }"],
  },
];

export const REFUSED: readonly RefusedType[] = read.flatMap(({ refusal: [refusal] = [], ...type }) => {
  const [code, subject = ""] = refusal?.split(" ") ?? [];
  return code === undefined ? [] : [{ ...type, code: code as Code, subject }];
});

export const toolName = (index: number) => `Tool${index}`;

/** One file a type: its declarations, the type as `T`, the tool. */
export function sourceOf({ type, before }: Pick<ZooType, "type" | "before">, index: number): string {
  return toolSource(toolName(index), `{ v: ${type} }`, `{ ok: { v: ${type} } }`, `${before}\nexport type T = ${type};`);
}
