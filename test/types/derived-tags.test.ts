/**
 * Random members with random tags, and random types derived from them: the decoder accepts the values that the tags of
 * the author allow, and no others, or svc-gen reports the tags that it could not follow (SVC198). `SVC_TEST_FULL=1` runs
 * 2,000 pairs; SVC_TYPE_SEED runs another selection.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { WireFault } from "#client/wire/fault.js";
import { generate } from "#generator/compile/generate.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { ToolProject, toolSource } from "../generator/project.js";
import { Random } from "./random.js";

const PAIRS = process.env.SVC_TEST_FULL === "1" ? 2_000 : 60;
const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);
/** Ports of one tool. */
const PORTS = 20;

type Accepts = (value: unknown) => boolean;

/** A type with tags, and JSON values at their bounds. */
interface Tagged {
  readonly tags: readonly string[];
  readonly type: string;
  readonly accepts: Accepts;
  readonly values: readonly unknown[];
}

const allOf =
  (...rules: readonly Accepts[]): Accepts =>
  (value) =>
    rules.every((rule) => rule(value));
const numeric =
  (rule: (value: number) => boolean): Accepts =>
  (value) =>
    typeof value === "number" && rule(value);
const textual =
  (rule: (value: string) => boolean): Accepts =>
  (value) =>
    typeof value === "string" && rule(value);

function tagged(random: Random): Tagged {
  const kind = random.pick(["number", "number", "string", "bigint"]);
  const isText = kind === "string";
  const [low, high, step] = [random.below(3), 6 + random.below(3), random.pick([2, 3])];
  const rules: readonly (readonly [string, Accepts])[] = isText
    ? [
        [`@minLength ${low}`, textual(({ length }) => length >= low)],
        [`@maxLength ${high}`, textual(({ length }) => length <= high)],
        [`@pattern ^[a-c]*$`, textual((text) => /^[a-c]*$/.test(text))],
      ]
    : [
        [`@minimum ${low}`, numeric((value) => value >= low)],
        [`@maximum ${high}`, numeric((value) => value <= high)],
        [`@exclusiveMinimum ${low}`, numeric((value) => value > low)],
        [`@multipleOf ${step}`, numeric((value) => value % step === 0)],
      ];
  const chosen = rules.filter(() => random.chance(0.5));
  const wanted = chosen.length === 0 ? rules.slice(0, 1) : chosen;
  const numbers = [low - 1, low, low + 1, high - 1, high, high + 1, step, 12];
  return {
    tags: wanted.map(([tag]) => tag),
    type: kind,
    accepts: allOf(isText ? textual(() => true) : numeric(() => true), ...wanted.map(([, rule]) => rule)),
    values: isText
      ? [...[low - 1, low, high, high + 1].map((length) => "a".repeat(Math.max(0, length))), "abz"]
      : numbers,
  };
}

/** The values of both, and whether one of them is accepted. */
const joined = (given: Tagged, other: Tagged, accepts: Accepts): Tagged => ({
  ...other,
  accepts,
  values: [...given.values, ...other.values],
});

const comment = ({ tags }: Tagged) => `/**\n * ${tags.join("\n * ")}\n */`;

/** An expression in the scope of `declarations`: of the tagged type, or of an object with the tagged member. */
interface Derived {
  readonly declarations: readonly string[];
  readonly expression: string;
  readonly member: string;
  readonly of: Tagged;
  /** The JSON value of the expression's type that contains a value of the member. */
  readonly wrap: (value: unknown) => unknown;
  /** Whether TypeScript keeps no link to the declaration, so that the tags may only be reported. */
  readonly isOpen: boolean;
  /** Kinds of derivation. */
  readonly by: readonly string[];
}

type Change = (given: Derived, name: string, random: Random) => Partial<Derived>;

const named = (given: Derived, name: string, text: string): Partial<Derived> => ({
  declarations: [...given.declarations, text],
  expression: name,
});
const expressed =
  (text: (of: string, member: string) => string): Change =>
  (given) => ({ expression: text(given.expression, given.member) });

/** Types with the member, derived from types with the member. */
const OBJECTS: Readonly<Record<string, Change>> = {
  pick: expressed((of, member) => `Pick<${of}, "${member}">`),
  omit: expressed((of) => `Omit<${of}, "other">`),
  partial: expressed((of) => `Partial<${of}>`),
  required: expressed((of) => `Required<Partial<${of}>>`),
  readonly: expressed((of) => `Readonly<${of}>`),
  generic: expressed((of) => `Same<${of}>`),
  nullable: expressed((of) => `Nullable<${of}>`),
  conditional: expressed((of) => `If<${of}>`),
  exclude: expressed((of) => `Exclude<${of} | null, null>`),
  intersection: expressed((of) => `${of} & { more?: boolean }`),
  alias: (given, name) => named(given, name, `export type ${name} = ${given.expression};`),
  mapped: expressed((of) => `{ [K in keyof (${of})]: (${of})[K] }`),
  keys: expressed((of, member) => `{ [K in "${member}"]: (${of})[K] }`),
  excludedKeys: expressed((of) => `{ [K in Exclude<keyof (${of}), "other">]: (${of})[K] }`),
  renamed: (given) => ({
    expression: `{ [K in keyof (${given.expression}) as \`my_\${K & string}\`]: (${given.expression})[K] }`,
    member: `my_${given.member}`,
    wrap: renamed(given.wrap),
  }),
  inherited: (given, name) =>
    named(
      given,
      name,
      `type ${name}Base = ${given.expression};\nexport interface ${name} extends ${name}Base { own?: string }`,
    ),
  redeclared: (given, name) =>
    named(
      given,
      name,
      `type ${name}Base = ${given.expression};\nexport interface ${name} extends ${name}Base { ${given.member}: ${given.of.type} }`,
    ),
  retagged: (given, name, random) => {
    const of = tagged(random);
    if (of.type !== given.of.type) return {};
    const text = `type ${name}Base = ${given.expression};\nexport interface ${name} extends ${name}Base {\n${comment(of)}\n${given.member}: ${of.type} }`;
    return { ...named(given, name, text), of };
  },
  implemented: (given, name) =>
    named(
      given,
      name,
      `type ${name}Base = ${given.expression};\nexport class ${name} implements Pick<${name}Base, "${given.member}"> { declare ${given.member}: ${given.of.type}; }`,
    ),
  both: (given, _, random) => {
    const other = tagged(random);
    if (other.type !== given.of.type) return {};
    return {
      expression: `${given.expression} & {\n${comment(other)}\n${given.member}: ${other.type} }`,
      of: joined(given.of, other, allOf(given.of.accepts, other.accepts)),
    };
  },
};

const renamed =
  (wrap: Derived["wrap"]): Derived["wrap"] =>
  (value) => {
    const object = wrap(value) as object;
    return { ...object, ...Object.fromEntries(Object.entries(object).map(([name, each]) => [`my_${name}`, each])) };
  };

/** Types of values, derived from the tagged type. */
const VALUES: Readonly<Record<string, Change>> = {
  empty: expressed((of) => `${of} & {}`),
  nonNullable: expressed((of) => `NonNullable<${of} | undefined>`),
  excluded: expressed((of) => `Exclude<${of} | null, null>`),
  extracted: (given) => ({ expression: `Extract<${given.expression} | boolean, ${given.of.type}>` }),
  nullable: expressed((of) => `${of} | null`),
  generic: expressed((of) => `Id<${of}>`),
  boxed: expressed((of) => `Box<${of}>["value"]`),
  alias: (given, name) => named(given, name, `export type ${name} = ${given.expression};`),
  taggedAlias: (given, name, random) => {
    const other = tagged(random);
    if (other.type !== given.of.type) return {};
    return {
      ...named(given, name, `${comment(other)}\nexport type ${name} = ${given.expression};`),
      of: joined(given.of, other, allOf(given.of.accepts, other.accepts)),
    };
  },
  union: (given, name, random) => {
    const other = tagged(random);
    const either: Accepts = (value) => given.of.accepts(value) || other.accepts(value);
    return {
      declarations: [...given.declarations, `${comment(other)}\nexport type ${name} = ${other.type};`],
      expression: `${given.expression} | ${name}`,
      of: { ...joined(given.of, other, either), type: `${given.of.type} | ${other.type}` },
    };
  },
  conditional: expressed((of) => `("a" extends string ? ${of} : boolean)`),
  brand: expressed((of) => `${of} & { readonly __brand?: "b" }`),
  list: (given) => ({ expression: `(${given.expression})[] | null`, wrap: (value) => [given.wrap(value)] }),
  tuple: (given) => ({ expression: `[boolean, ${given.expression}]`, wrap: (value) => [true, given.wrap(value)] }),
  readonlyList: (given) => ({
    expression: `{ list: readonly (${given.expression})[] }`,
    wrap: (value) => ({ list: [given.wrap(value)] }),
  }),
  record: (given) => ({
    expression: `Record<string, ${given.expression}>`,
    wrap: (value) => ({ any: given.wrap(value) }),
  }),
  recordOfKeys: (given) => ({
    expression: `Record<"x" | "y", ${given.expression}>`,
    wrap: (value) => ({ x: given.wrap(value), y: given.wrap(value) }),
  }),
  member: (given) => ({ expression: `{ x?: ${given.expression} }`, wrap: (value) => ({ x: given.wrap(value) }) }),
  inferred: (given) => ({
    expression: `({ v: ${given.expression} } extends { v: infer V } ? V : never)`,
    isOpen: true,
  }),
  awaited: (given) => ({ expression: `Awaited<Promise<${given.expression}>>`, isOpen: true }),
  returned: (given) => ({ expression: `ReturnType<() => ${given.expression}>`, isOpen: true }),
};
/** Derivations after which the type is another than the tagged one. */
const LAST = new Set("list tuple readonlyList record recordOfKeys member union nullable brand".split(" "));

const GENERICS = `
type Same<T> = { [K in keyof T]: T[K] };
type Nullable<T> = { [K in keyof T]: T[K] | null };
type Id<T> = T;
type If<T> = T extends object ? T : never;
interface Box<T> { value: T }
`;

function derive(random: Random, index: number): Derived {
  const of = tagged(random);
  const isAlias = random.chance(0.4);
  const name = `D${index}`;
  let derived: Derived = {
    declarations: [
      isAlias
        ? `${comment(of)}\nexport type ${name} = ${of.type};`
        : `export interface ${name} {\n${comment(of)}\namount: ${of.type};\nother?: boolean;\n}`,
    ],
    expression: name,
    member: "amount",
    of,
    wrap: (value) => (isAlias ? value : { amount: value, other: true, more: true, own: "" }),
    isOpen: false,
    by: [isAlias ? "alias" : "member"],
  };
  const apply = (changes: Readonly<Record<string, Change>>) => {
    const by = random.pick(Object.keys(changes));
    const change = (changes[by] as Change)(derived, `${name}_${derived.by.length}`, random);
    derived = { ...derived, ...change, by: [...derived.by, by] };
    return by;
  };
  let isObject = !isAlias;
  for (let steps = 1 + random.below(3); steps > 0; steps--) {
    if (isObject) {
      const by = apply(OBJECTS);
      // A nullable member is another type than the tagged one.
      if (by === "nullable" || by === "partial") steps = Math.min(steps, 1);
      if (steps > 1 && random.chance(0.5)) {
        isObject = false;
        derived = {
          ...derived,
          expression: `(${derived.expression})["${derived.member}"]`,
          wrap: (value) => value,
          by: [...derived.by, "access"],
        };
      }
    } else if (LAST.has(apply(VALUES))) break;
  }
  return derived;
}

test(`tags apply to derived types, or are reported: ${PAIRS} pairs of seed ${SEED}`, () => {
  const random = new Random(SEED);
  const pairs = Array.from({ length: PAIRS }, (_, i) => derive(random, i));
  const tools = Array.from({ length: Math.ceil(PAIRS / PORTS) }, (_, i) => pairs.slice(i * PORTS, (i + 1) * PORTS));
  const project = new ToolProject(
    Object.fromEntries(
      tools.map((ports, i) => {
        const members = ports.map(({ expression }, j) => `p${j}: ${expression};`);
        const declarations = ports.flatMap((port) => port.declarations).join("\n");
        return [`src/t${i}.ts`, toolSource(`T${i}`, `{\n${members.join("\n")}\n}`, '"done"', GENERICS + declarations)];
      }),
    ),
  );
  const { diagnostics, contracts = [] } = generate({ root: project.root });
  const place = (subject = "") => /^T(\d+)\.Input\.p(\d+)/.exec(subject)?.slice(1).map(Number).join(" ");
  const reported = new Set(diagnostics.filter(({ code }) => code === "SVC198").map(({ subject }) => place(subject)));
  assert.deepEqual(
    diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ code, subject, message }) => [code, subject, message]),
    [],
  );
  let accepted = 0;
  let refused = 0;
  const lost: string[] = [];
  const unfollowed: string[] = [];
  for (const [i, ports] of tools.entries()) {
    const contract = contracts.find(({ fqn }) => fqn === `xyz.test.tool-t${i}@1`);
    assert.ok(contract !== undefined);
    for (const [j, { of, wrap, isOpen, by, expression }] of ports.entries()) {
      const decoder = new InputDecoder({ ...contract, input: contract.input.filter(({ name }) => name === `p${j}`) });
      const takes = (value: unknown) => {
        try {
          decoder.decodeUnsigned(Buffer.from(JSON.stringify({ [`p${j}`]: wrap(value) })));
          return true;
        } catch (error) {
          assert.ok(error instanceof WireFault);
          return false;
        }
      };
      const wrong = of.values.filter((value) => takes(value) !== of.accepts(value));
      accepted += of.values.filter(of.accepts).length;
      refused += of.values.length - of.values.filter(of.accepts).length;
      const what = `${by.join(" ")}: ${expression}: ${of.tags.join(" ")}: ${JSON.stringify(wrong)}`;
      if (wrong.length > 0 && !reported.has(`${i} ${j}`)) lost.push(what);
      else if (reported.has(`${i} ${j}`) && !isOpen) unfollowed.push(what);
    }
  }
  assert.deepEqual(lost, []);
  // An interface or class over a type with computed keys.
  assert.ok(unfollowed.length <= PAIRS / 50, unfollowed.join("\n"));
  assert.ok(accepted > PAIRS && refused > PAIRS, `${accepted} accepted, ${refused} refused`);
  console.log(`${pairs.length} pairs, ${reported.size} reported, ${accepted} values accepted, ${refused} refused`);
});
