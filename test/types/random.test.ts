/**
 * Types made by a seeded generator, with values of them and values with one place spoilt. What tsc takes, the contract
 * must take; what the contract takes must be, once decoded, what tsc takes: so JSON's own looseness (null for an absent
 * member, unknown members, a text that reads as a date) needs no list of exceptions, and nothing of a wrong type gets
 * through. `SVC_TEST_FULL=1` runs 1,200 types; SVC_TYPE_SEED runs another selection.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { ts } from "#generator/compile/project/typescript.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { OutputEncoder } from "#runtime/server/wire/output.js";
import { STRICT, ToolProject, toolSource } from "../generator/project.js";
import { compile, FASTEST } from "../typescript/compilers.js";
import { programOf } from "../typescript/program.js";
import { openJudge } from "./judge.js";
import { Random } from "./random.js";

const COUNT = process.env.SVC_TEST_FULL === "1" ? 1200 : 30;
const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);

/** A value as an expression and as JSON, with its inner values. */
interface Value {
  readonly text: string;
  readonly json: string;
  readonly members?: readonly (readonly [name: string, value: Value])[];
  readonly items?: readonly Value[];
}

interface RandomType {
  readonly text: string;
  /** Undefined when a random value would not end. */
  readonly value: (random: Random, depth: number) => Value;
}

const leaf = (text: string, json = text): Value => ({ text, json });
const record = (members: readonly (readonly [string, Value])[]): Value => ({
  text: `{ ${members.map(([name, { text }]) => `${JSON.stringify(name)}: ${text}`).join(", ")} }`,
  json: `{${members.map(([name, { json }]) => `${JSON.stringify(name)}:${json}`).join(",")}}`,
  members,
});
const list = (items: readonly Value[]): Value => ({
  text: `[${items.map(({ text }) => text).join(", ")}]`,
  json: `[${items.map(({ json }) => json).join(",")}]`,
  items,
});

const NAMES = ["a", "b", "c", "id", "10", "2", "x-y", "é"];
const TEXTS = ['"a"', '"x-"', '"yes!"', '"é"'];
const DATE = '"1970-01-01T00:00:00.000Z"';
const SPOILT = [
  ...[...TEXTS, DATE, '"AQID"', "1.5", "-0.25", "3", "true", "false", "null"].map((text) => leaf(text)),
  record([]),
  list([]),
];

function simple(random: Random): RandomType {
  const kinds: (() => RandomType)[] = [
    () => ({ text: "string", value: (r) => leaf(r.pick(TEXTS)) }),
    () => ({ text: "number", value: (r) => leaf(r.pick(["1.5", "2.25", "-7.125"])) }),
    () => ({ text: "boolean", value: (r) => leaf(r.pick(["true", "false"])) }),
    () => ({ text: "null", value: () => leaf("null") }),
    () => ({
      text: "bigint",
      value: (r) => leaf(`${r.pick(["5", "-9007199254740993", "18446744073709551615"])}n`.replace(/^(.*)$/, "$1"), ""),
    }),
    () => ({ text: "Date", value: () => leaf("new Date(0)", '"1970-01-01T00:00:00.000Z"') }),
    () => ({ text: "Uint8Array", value: () => leaf("new Uint8Array([1, 2, 3])", '"AQID"') }),
    () => {
      const texts = [...new Set([random.pick(TEXTS), random.pick(TEXTS), random.pick(TEXTS)])];
      return { text: texts.join(" | "), value: (r) => leaf(r.pick(texts)) };
    },
    () => ({ text: "1.5 | -0.25 | true", value: (r) => leaf(r.pick(["1.5", "-0.25", "true"])) }),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
    () => ({ text: "`x-${string}`", value: () => leaf('"x-1"') }),
    () => ({ text: "unknown", value: (r) => r.pick(SPOILT) }),
    () => ({
      text: "Colour",
      value: (r) => (r.chance(0.5) ? leaf("Colour.Red", '"red"') : leaf("Colour.Blue", '"blue"')),
    }),
  ];
  return random.pick(kinds)();
}

/** `json` left empty above means: the text without what only TypeScript reads. */
function settled(value: Value): Value {
  return value.json !== "" ? value : { ...value, json: value.text.replace(/n$/, "").replace(/ as .*$/, "") };
}

function objectType(random: Random, depth: number): RandomType & { readonly names: readonly string[] } {
  const names = [...new Set([random.pick(NAMES), random.pick(NAMES), random.pick(NAMES)])].slice(
    0,
    1 + random.below(3),
  );
  const members = names.map((name) => ({ name, optional: random.chance(0.35), type: typeOf(random, depth - 1) }));
  return {
    names,
    text: `{ ${members.map(({ name, optional, type }) => `${JSON.stringify(name)}${optional ? "?" : ""}: ${type.text}`).join("; ")} }`,
    value: (r, d) =>
      record(
        members
          .filter(({ optional }) => !optional || (d > 0 && r.chance(0.6)))
          .map(({ name, type }) => [name, settled(type.value(r, d - 1))] as const),
      ),
  };
}

function typeOf(random: Random, depth: number): RandomType {
  if (depth <= 0) return simple(random);
  const kinds: (() => RandomType)[] = [
    () => simple(random),
    () => simple(random),
    () => objectType(random, depth),
    () => objectType(random, depth),
    () => {
      const item = typeOf(random, depth - 1);
      return {
        text: `(${item.text})[]`,
        value: (r, d) => list(Array.from({ length: r.below(3) }, () => settled(item.value(r, d - 1)))),
      };
    },
    () => {
      const items = [typeOf(random, depth - 1), typeOf(random, depth - 1)];
      const rest = random.chance(0.4) ? typeOf(random, 0) : undefined;
      return {
        text: `[${items.map(({ text }) => text).join(", ")}${rest === undefined ? "" : `, ...(${rest.text})[]`}]`,
        value: (r, d) =>
          list(
            [...items, ...(rest === undefined ? [] : Array.from({ length: r.below(3) }, () => rest))].map((each) =>
              settled(each.value(r, d - 1)),
            ),
          ),
      };
    },
    () => {
      const item = typeOf(random, depth - 1);
      return {
        text: `Record<string, ${item.text}>`,
        value: (r, d) =>
          record(
            [...new Set([r.pick(NAMES), r.pick(NAMES)])]
              .slice(0, r.below(3))
              .map((name) => [name, settled(item.value(r, d - 1))] as const),
          ),
      };
    },
    () => {
      const branches = Array.from({ length: 2 + random.below(2) }, () => typeOf(random, depth - 1));
      return {
        text: `(${branches.map(({ text }) => text).join(" | ")})`,
        value: (r, d) => settled(r.pick(branches).value(r, d - 1)),
      };
    },
    () => {
      const inner = objectType(random, depth);
      return { text: `Readonly<${inner.text}>`, value: inner.value };
    },
    () => {
      const inner = objectType(random, depth);
      return { text: `Partial<${inner.text}>`, value: inner.value };
    },
    () => {
      const inner = objectType(random, depth);
      const kept = inner.names[0] as string;
      return {
        text: `Pick<${inner.text}, ${JSON.stringify(kept)}>`,
        value: (r, d) => record((inner.value(r, d).members ?? []).filter(([name]) => name === kept)),
      };
    },
    () => {
      const inner = typeOf(random, depth - 1);
      return { text: `Box<${inner.text}>`, value: (r, d) => record([["value", settled(inner.value(r, d - 1))]]) };
    },
    () => ({
      text: "Tree",
      value: function tree(r: Random, d: number): Value {
        return record([
          ["label", leaf(r.pick(TEXTS))],
          ["children", list(d > 0 ? Array.from({ length: r.below(3) }, () => tree(r, d - 1)) : [])],
        ]);
      },
    }),
  ];
  return random.pick(kinds)();
}

/** The value with one random place replaced or one member left out. */
function spoil(value: Value, random: Random): Value {
  const inner = value.members?.length ?? value.items?.length ?? 0;
  if (inner > 0 && random.chance(0.75)) {
    const at = random.below(inner);
    if (value.members !== undefined) {
      if (random.chance(0.3)) return record(value.members.filter((_, index) => index !== at));
      return record(
        value.members.map(([name, each], index) => [name, index === at ? spoil(each, random) : each] as const),
      );
    }
    if (value.items !== undefined) {
      if (random.chance(0.2)) return list(value.items.slice(0, at));
      return list(value.items.map((each, index) => (index === at ? spoil(each, random) : each)));
    }
  }
  return random.pick(SPOILT);
}

/** A decoded value as an expression. Texts of the enum are given as its members, which are texts too. */
function expression(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (value instanceof Uint8Array) return `new Uint8Array([${[...value].join(", ")}])`;
  if (value === "red" || value === "blue") return value === "red" ? "Colour.Red" : "Colour.Blue";
  if (Array.isArray(value)) return `[${value.map(expression).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${expression(member)}`)
    .join(", ")} }`;
}

const DECLARATIONS = `
export enum Colour { Red = "red", Blue = "blue" }
export interface Box<T> { value: T }
export interface Tree { label: string; children: Tree[] }
`;

const random = new Random(SEED);
const types = Array.from({ length: COUNT }, () => {
  const type = typeOf(random, 3);
  const good = Array.from({ length: 3 }, () => settled(type.value(random, 3)));
  return { type, values: [...good, ...good.map((value) => spoil(value, random)), spoil(good[0] as Value, random)] };
});

test(`${COUNT} random types of seed ${SEED}: tsc and the contract give the same verdict`, async () => {
  const project = new ToolProject(
    {
      "src/declarations.ts": DECLARATIONS,
      ...Object.fromEntries(
        types.map(({ type }, index) => {
          const text = `{ v: ${type.text} }`;
          return [
            `src/tool${index}.ts`,
            toolSource(
              `T${index}`,
              text,
              `{ ok: ${text} }`,
              'import type { Box, Colour, Tree } from "./declarations.js";',
            ),
          ];
        }),
      ),
    },
    STRICT,
  );
  project.build(true);
  // tsc finds in the generated server the types that svc-gen has seen.
  assert.equal(compile(FASTEST, project.root, ["-p", ".", "--noEmit"]), "");
  const contracts = await project.contracts();
  const byFqn = new Map(contracts.map((contract) => [contract.fqn, contract]));
  const decoded = types.map(({ values }, index) => {
    const contract = byFqn.get(`xyz.test.tool-t${index}@1`) as Contract;
    const decoder = new InputDecoder(contract);
    const encoder = new OutputEncoder(contract);
    const judge = openJudge(contract);
    return values.map(({ json }) => {
      judge(`{"v":${json}}`);
      try {
        const input = decoder.decodeUnsigned(Buffer.from(`{"v":${json}}`));
        // What was read can be written.
        encoder.encode({ ok: input });
        return { text: expression(input.v) };
      } catch (error) {
        return { why: String(error) };
      }
    });
  });
  // Two lines a value: as it was made, and as it was decoded.
  const lines = types.map(({ type, values }, index) => [
    `import { Colour, type Box, type Tree } from "./declarations.js"; void Colour; type T = ${type.text}; type Unused = [Box<1>, Tree];`,
    ...values.flatMap(({ text }, at) => [
      `{ const v: T = ${text}; }`,
      `{ const v: T = ${decoded[index]?.[at]?.text ?? "0 as never"}; }`,
    ]),
  ]);
  const verdicts = judge(
    project.root,
    lines.map((each) => `${each.join("\n")}\n`),
  );
  const disagreements: string[] = [];
  let accepted = 0;
  let compared = 0;
  for (const [index, { type, values }] of types.entries()) {
    for (const [at, { text }] of values.entries()) {
      const result = decoded[index]?.[at];
      compared++;
      if (result?.text !== undefined) accepted++;
      // The protocol's limit of a list port, which no type has.
      const isEmptyList = result?.why?.endsWith("v: expected 1 to 256 values, got 0") === true;
      if (result?.text === undefined && !isEmptyList && verdicts[index]?.[2 * at + 1]) {
        disagreements.push(`${type.text}\n   ${text} is of the type, the contract says ${result?.why}`);
      }
      if (!verdicts[index]?.[2 * at + 2]) {
        disagreements.push(`${type.text}\n   ${text} became ${result?.text}, which is not of the type`);
      }
    }
  }
  assert.deepEqual(disagreements, []);
  assert.ok(accepted > compared * 0.4 && accepted < compared * 0.9, `${accepted} of ${compared} accepted`);
});

/** For each file, for each line, whether tsc has nothing to say about it. */
function judge(root: string, sources: readonly string[]): boolean[][] {
  const texts = new Map(sources.map((text, index) => [join(root, `src/values${index}.ts`), text]));
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts"],
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const program = programOf([...texts.keys()], options, texts);
  return [...texts].map(([path, text]) => {
    const file = program.getSourceFile(path) as ts.SourceFile;
    const bad = new Set<number>();
    for (const { start } of [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]) {
      bad.add(file.getLineAndCharacterOfPosition(start ?? 0).line);
    }
    assert.ok(!bad.has(0), text.split("\n", 1)[0]);
    return text.split("\n").map((_, line) => !bad.has(line));
  });
}
