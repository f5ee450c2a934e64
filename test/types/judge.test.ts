/**
 * Random types with constraints, judged by ajv over their published schema. What a tool gets is what was checked: the walk
 * accepts exactly what the schema accepts (judge.ts lists the differences by design), and what it delivers, written again,
 * is accepted too. `SVC_TEST_FULL=1` runs 1,200 types; SVC_TYPE_SEED runs another selection.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { ToolProject, toolSource } from "../generator/project.js";
import { proves } from "../proves.js";
import { openJudge } from "./judge.js";
import { Random } from "./random.js";

const COUNT = process.env.SVC_TEST_FULL === "1" ? 1200 : 30;
const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);

/** A member's type with the tags of its comment, and JSON texts that fit, or just do not. */
interface Tagged {
  readonly tags: string;
  readonly type: string;
  readonly value: (random: Random) => string;
}

const tag = (name: string, value: unknown = "") => `@${name} ${value}`.trim();
const near = (random: Random, bound: number) => bound + random.pick([-1, -0.5, 0, 0, 0.5, 1]);

function numberType(random: Random, kind: "number" | "integer" | "bigint"): Tagged {
  const low = random.below(5) - 2;
  const high = low + random.below(6);
  const step = kind === "number" ? random.pick([0.5, 0.1, 3]) : random.pick([2, 3]);
  const chosen = [
    random.chance(0.5) && tag(random.chance(0.5) ? "minimum" : "exclusiveMinimum", low - 1),
    random.chance(0.5) && tag(random.chance(0.5) ? "maximum" : "exclusiveMaximum", high + 1),
    random.chance(0.25) && tag("multipleOf", step),
    kind === "integer" && tag("asType", "integer"),
    kind === "bigint" && random.chance(0.3) && tag("format", random.pick(["int64", "uint64"])),
  ];
  return {
    tags: chosen.filter((each) => each !== false).join("\n   * "),
    type: kind === "bigint" ? "bigint" : "number",
    value: (r) => {
      const number = near(r, r.pick([low - 1, high + 1, 0, step * r.below(4)]));
      if (kind === "bigint") return String(Math.trunc(number));
      return String(r.chance(0.7) ? Math.trunc(number) + 0 : number);
    },
  };
}

const TEXTS = [
  "",
  "a",
  "ab",
  "abc",
  "abcd",
  "ab-12",
  "é",
  "\u{1f600}",
  "\u{1f600}b",
  "x@example.org",
  "2024-02-29",
  "10:00:00Z",
];

function textType(random: Random): Tagged {
  const least = random.below(3);
  const chosen = [
    random.chance(0.4) && tag("minLength", least),
    random.chance(0.4) && tag("maxLength", least + random.below(3)),
    random.chance(0.3) && tag("pattern", random.pick(["^a", "^[a-z]*$", "^\\p{L}+$", "[0-9]"])),
    random.chance(0.2) && tag("format", random.pick(["email", "date", "time", "uuid", "iban"])),
  ];
  return {
    tags: chosen.filter((each) => each !== false).join("\n   * "),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
    type: random.pick(["string", "string", "string", "`a${string}`"]),
    value: (r) => JSON.stringify(r.pick(TEXTS)),
  };
}

const plain = (type: string, ...values: readonly string[]): Tagged => ({
  tags: "",
  type,
  value: (r) => r.pick(values),
});

/** Any JSON, now and then where something else belongs. */
const ODD = ["null", "true", "1", '"a"', "[]", "{}", '{"a":1}', "[1,1]", "[{}]"];

function typeOf(random: Random, depth: number): Tagged {
  const simple = () =>
    random.pick<() => Tagged>([
      () => numberType(random, "number"),
      () => numberType(random, "integer"),
      () => numberType(random, "bigint"),
      () => textType(random),
      () => textType(random),
      () => plain("boolean", "true", "false"),
      () => plain('"x" | "y" | 3', '"x"', '"y"', "3", '"z"'),
      () => plain("Date", '"2024-01-01T00:00:00Z"', '"2024-01-01"', '"x"'),
      () => plain("Uint8Array", '"AQID"', '"A"', '""'),
      () => plain("unknown", ...ODD),
    ])();
  if (depth === 0) return simple();
  return random.pick<() => Tagged>([
    simple,
    () => listType(random, depth),
    () => listType(random, depth),
    () => {
      const object = objectType(random, depth - 1);
      return { ...object, tags: "" };
    },
    () => {
      const branches = Array.from({ length: 2 + random.below(2) }, () => objectType(random, depth - 1));
      return {
        tags: "",
        type: branches.map(({ type }) => `(${type})`).join(" | "),
        value: (r) => {
          const texts = branches.map((branch) => branch.value(r));
          return r.chance(0.3) ? merged(texts) : r.pick(texts);
        },
      };
    },
    () => {
      const item = typeOf(random, 0);
      return {
        tags: item.tags,
        type: `(${item.type}) | null`,
        value: (r) => (r.chance(0.2) ? "null" : item.value(r)),
      };
    },
    () => plain("Expr", ...EXPRESSIONS),
    () => {
      const item = simple();
      return {
        tags: "",
        type: `Record<string, ${item.tags === "" ? item.type : "number"}>`,
        value: (r) => `{${r.pick(["", `"k":${item.value(r)}`, `"k":1,"l":${item.value(r)}`])}}`,
      };
    },
    () =>
      plain("[a: string, b?: number, ...rest: boolean[]]", '["a"]', '["a",1]', '["a",null,true]', "[]", '["a",1,2]'),
  ])();
}

const EXPRESSIONS = [
  '{"value":1}',
  '{"value":6}',
  '{"left":{"value":1},"op":"+","right":{"value":2}}',
  '{"left":{"value":1},"op":"*","right":{"left":{"value":9},"op":"+","right":{"value":0}}}',
  '{"left":{"value":1},"op":"-","right":{"value":2}}',
];

function listType(random: Random, depth: number): Tagged {
  const item = typeOf(random, depth - 1);
  const least = random.below(3);
  const chosen = [
    random.chance(0.4) && tag("minItems", least),
    random.chance(0.4) && tag("maxItems", least + random.below(3)),
    random.chance(0.5) && tag("uniqueItems"),
    // Tags of one item reach its list too, but not those that another list would take first.
    !/Items/.test(item.tags) && item.tags,
  ];
  return {
    tags: chosen.filter((each) => each !== false && each !== "").join("\n   * "),
    type: `(${item.type})[]`,
    value: (r) => `[${Array.from({ length: r.below(5) }, () => item.value(r)).join(",")}]`,
  };
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: a type
const ZED_ONLY = "[name: `z${string}`]: string;";
const NAMES = ["a", "b", "kind", "10"];

function objectType(random: Random, depth: number, isInput = false): Tagged {
  const names = [...new Set([random.pick(NAMES), random.pick(NAMES), random.pick(NAMES)])];
  const closed = !isInput && random.chance(0.15);
  const members = names.map((name) => ({ name, optional: random.chance(0.35), ...typeOf(random, depth) }));
  const texts = members.map(
    ({ name, optional, tags, type }) =>
      `${tags === "" ? "" : `/**\n   * ${tags}\n   */ `}${JSON.stringify(name)}${optional ? "?" : ""}: ${type};`,
  );
  return {
    tags: "",
    // An index signature for some names forbids all others.
    type: `{\n${[...texts, ...(closed ? [ZED_ONLY] : [])].join("\n")}\n}`,
    value: (r) => {
      const given = members.filter(({ optional }) => (optional ? r.chance(0.6) : r.chance(0.97)));
      const pairs = given.map(
        ({ name, optional, value }) =>
          `${JSON.stringify(name)}:${r.chance(0.06) ? r.pick(ODD) : optional && r.chance(0.1) ? "null" : value(r)}`,
      );
      if (r.chance(0.1)) pairs.push(`${r.pick(['"more"', '"z"', '"zz"'])}:${r.pick(ODD)}`);
      return `{${pairs.join(",")}}`;
    },
  };
}

/** The members of several objects in one, each name once. */
function merged(texts: readonly string[]): string {
  return JSON.stringify(Object.assign({}, ...texts.map((text) => JSON.parse(text) as object)));
}

/** Another branch may hold the same value with its null member absent. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

/** A JSON value with `true` for every text, number and boolean, and without its nulls. */
function namesIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesIn);
  if (typeof value !== "object") return true;
  return Object.fromEntries(Object.entries(withoutNulls(value) ?? {}).map(([name, member]) => [name, namesIn(member)]));
}

const EXPR = `
type Small = {
  /** @maximum 5 */
  value: number;
};
export type Expr = { left: Expr; op: "+"; right: Expr } | { left: Expr; op: "*"; right: Expr } | Small;
`;

const random = new Random(SEED);
const types = Array.from({ length: COUNT }, () => objectType(random, 2, true));

test(`the decoder accepts what ajv accepts, and its results are accepted again: ${COUNT} types of seed ${SEED}`, async () => {
  const project = new ToolProject(
    Object.fromEntries(
      types.map(({ type }, index) => [`src/t${index}.ts`, toolSource(`T${index}`, type, '"done"', EXPR)]),
    ),
  );
  const { diagnostics } = project.generate();
  // Random tags may contradict one another: such types are left out, and few.
  const wrong = new Set(
    diagnostics.filter(({ severity }) => severity === "error").map(({ place }) => place?.file as string),
  );
  assert.ok(wrong.size < COUNT / 4, `${wrong.size} of ${COUNT} types are refused`);
  for (const file of wrong) project.write({ [file]: "export {};\n" });
  project.build(true);
  const contracts = await project.contracts();
  let accepted = 0;
  let refused = 0;
  let equal = 0;
  for (const [index, { value }] of types.entries()) {
    const contract = contracts.find(({ fqn }) => fqn === `xyz.test.tool-t${index}@1`);
    if (contract === undefined) continue;
    const judge = openJudge(contract);
    const encoders = contract.input.map((port) => {
      const codec = port.many ? (port.list ?? ({ kind: "array", item: port.codec } as const)) : port.codec;
      // Constraints are written under a union only; one of a single branch holds them to it everywhere.
      return { port, encoder: new ValueEncoder({ kind: "union", branches: [codec] }, contract.definitions) };
    });
    for (let i = 0; i < 40; i++) {
      const body = value(random);
      const verdict = judge(body);
      if (!verdict.accepted) {
        refused++;
        continue;
      }
      accepted++;
      const input = verdict.decoded as Readonly<Record<string, unknown>>;
      const again = encoders.flatMap(({ port, encoder }) =>
        input[port.name] === undefined ? [] : [`${JSON.stringify(port.name)}:${encoder.write(input[port.name])}`],
      );
      const written = `{${again.join(",")}}`;
      const second = judge(written);
      assert.ok(second.accepted, `${body} became ${written}, which is refused: ${second.details}`);
      // Where an undeclared member has been left out, another branch of a union may take what remains.
      if (!isDeepStrictEqual(namesIn(JSON.parse(written)), namesIn(JSON.parse(body)))) continue;
      assert.deepEqual(withoutNulls(second.decoded), withoutNulls(verdict.decoded), body);
      equal++;
    }
  }
  const share = accepted / (accepted + refused);
  assert.ok(share > 0.15 && share < 0.85, `${accepted} accepted, ${refused} refused`);
  assert.ok(equal > accepted / 2, `${equal} of ${accepted} compared with what they became`);
  console.log(equal, accepted);
  proves("5.32");
});
