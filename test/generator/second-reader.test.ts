/**
 * typescript-json-schema as the second reader, and ajv as the judge: which faults of svc-gen's own schemas each finds.
 * Without the first, a dropped member or a wrong literal is published; without the second, a schema that no validator
 * compiles.
 */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { Schemas } from "#generator/compile/emit/schema.js";
import { generate, type Review } from "#generator/compile/generate.js";
import type { ObjectShape, Shape, Tool } from "#generator/compile/model.js";
import { loadSchemaLibrary } from "#generator/compile/project/program.js";
import { SecondReader } from "#generator/compile/second-reader/second-reader.js";
import { type JsonObject, object, printJson, readJson } from "#generator/text/json.js";
import { sourceOf, ZOO } from "../types/zoo.js";
import { STRICT, secondReader, ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: types are source texts here

/** Types that the zoo has not, for entries of the list that need them. */
const MORE: Readonly<Record<string, string>> = {
  "src/tags.ts": toolSource("Tags", "{\n/** @minimum 1\n @asType integer */\na: number; b: string }"),
  "src/reference.ts": toolSource(
    "Reference",
    "{ a: string }",
    "{ ok: { data: DataRef<{ x: number }>; list: DataRef<string>[] } }",
  ).replace("{ SvcTool", "{ type DataRef, SvcTool"),
  "src/wrapper.ts": toolSource("Wrapper", "{ a: WithSerdeErrorPath<string[]> }").replace(
    "{ SvcTool",
    "{ SvcTool, type WithSerdeErrorPath",
  ),
  "src/alias.ts": toolSource(
    "Alias",
    "{ a: integer; c: Readonly<{ x: 1 }>; d: bigint | number | 'x' }",
    '"done"',
    "type integer = number;",
  ),
  "src/recursive.ts": toolSource(
    "Recursive",
    "{ a?: [Shared, ...number[]]; b: { c?: Shared }; d: { c?: Node } }",
    '"done"',
    "type Node = { next?: Node }; type Shared = { t?: Node };",
  ),
  "src/initialized.ts": toolSource(
    "Initialized",
    "{ a: Data }",
    '"done"',
    "class Data { when = String(1); size = 3; }",
  ),
};
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: types are source texts here

test("both readings agree if `undefined` is no value of an optional member", () => {
  const source = toolSource("A", "{ a?: string; b: { at: [string?] } }");
  new ToolProject({ "src/a.ts": source }, { ...STRICT, exactOptionalPropertyTypes: true }).build(true);
});

test("both readings of the type zoo agree, and nearly all types are compared", (t) => {
  const printed = t.mock.method(console, "warn", () => {});
  const zoo = Object.fromEntries(ZOO.map((type, at) => [`src/tool${at}.ts`, sourceOf(type, at)]));
  new ToolProject({ ...zoo, ...MORE }).build(true);
  assert.equal(printed.mock.callCount(), 0);
  const types = 2 * (ZOO.length + Object.keys(MORE).length);
  assert.ok(secondReader.compared > types - 20, `${secondReader.compared} of ${types}`);
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: types are source texts here
const planted = new ToolProject({
  "src/order.ts": toolSource(
    "Order",
    '{ id: string; lines: { amount: bigint; when?: Date }[]; kind: "a" | "b" | "c"; pair: { at: [string, number] }; note: string | null; code: `a-${string}`; names: { [name: `x_${string}`]: 1 }; maybe: { at: [string, boolean?] } }',
    "{ ok: { total: number } } | { failed: { why: string } }",
  ),
});
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: types are source texts here

type Change = (shape: Shape) => Shape;

/** Changes a member of the model, by its path: a name, or `[]` for the items of a list. */
function changed(shape: Shape, [name, ...rest]: readonly string[], change: Change): Shape {
  if (name === undefined) return change(shape);
  if (shape.kind === "array") return { ...shape, item: changed(shape.item, rest, change) };
  assert.ok(shape.kind === "object");
  const members = shape.members.map((each) =>
    each.name === name ? { ...each, shape: changed(each.shape, rest, change) } : each,
  );
  return { ...shape, members };
}

const members = (change: (members: ObjectShape["members"]) => ObjectShape["members"]): Change => {
  return (shape) => ({ ...(shape as ObjectShape), members: change((shape as ObjectShape).members) });
};

const optional = (value: boolean) => members((all) => all.map((each) => ({ ...each, optional: value })));

/** Fault of the model, path of the changed shape, and the beginning of what is reported. */
const FAULTS: readonly (readonly [fault: string, path: string, change: Change, said: string])[] = [
  ["a dropped member", "", members((all) => all.slice(1)), 'Order.Input: accepts an object without "id"'],
  [
    "a member that became optional",
    "lines []",
    optional(true),
    'Order.Input.lines[]: accepts an object without "amount"',
  ],
  [
    "a member that became required",
    "lines []",
    optional(false),
    'Order.Input.lines[]: refuses an object without "when"',
  ],
  ["a missing literal", "kind", () => ({ kind: "literal", values: ["a", "b"] }), 'Order.Input.kind: refuses "c"'],
  ["a wrong literal", "kind", () => ({ kind: "literal", values: ["a", "b", "d"] }), 'Order.Input.kind: accepts "d"'],
  ["a number for an integer", "lines [] amount", () => ({ kind: "number" }), "Order.Input.lines[].amount: accepts 0.5"],
  ["text for a date", "lines [] when", () => ({ kind: "string" }), 'Order.Input.lines[].when: accepts "x"'],
  [
    "a tuple with one place less",
    "pair at",
    (shape) => ({ ...(shape as Shape & { kind: "tuple" }), items: [{ kind: "string" }] }),
    'Order.Input: accepts {"id":',
  ],
  ["null that is not taken", "note", () => ({ kind: "string" }), "Order.Input.note: refuses null"],
  ["a wrong pattern", "code", () => ({ kind: "string", pattern: "^b-[\\s\\S]*$" }), 'Order.Input.code: {"type"'],
  [
    "wrong names of an index signature",
    "names",
    (shape) => ({
      ...(shape as ObjectShape),
      indexes: [{ pattern: "^y_[\\s\\S]*$", shape: { kind: "literal", values: [1] } }],
    }),
    'Order.Input.names: {"type"',
  ],
  [
    "a closed object",
    "pair",
    (shape) => ({ ...(shape as ObjectShape), closed: true }),
    "Order.Input.pair: refuses null",
  ],
];

/** The diagnostics of a run whose model or schemas are changed after the types were lowered. */
function found(review: (...tool: [...Parameters<Review>, SecondReader]) => ReturnType<Review>): readonly string[] {
  const reader = new SecondReader();
  const { diagnostics } = generate({ root: planted.root }, (...tool) => review(...tool, reader));
  return diagnostics
    .filter(({ code }) => /^SVC18\d$/.test(code))
    .map(({ code, subject, message }) => `${code} ${subject} ${message}`);
}

for (const [fault, path, change, said] of FAULTS) {
  test(`the second reading finds ${fault}`, () => {
    const messages = found((program, type, tool, schemas, reader) => {
      const wrong = { ...tool, input: changed(tool.input, path.split(" ").filter(Boolean), change) as ObjectShape };
      return reader.review(program, type, wrong, schemas);
    });
    const texts = messages.map((each) => each.replace(/^SVC180 (\S+) .*?svc-gen: /, "$1: "));
    assert.ok(texts.length > 0 && texts.length < 3, texts.join("\n"));
    assert.ok(
      texts.some((text) => text.startsWith(said)),
      texts.join("\n"),
    );
  });
}

test("the second reading finds a lost variant", () => {
  const messages = found((program, type, tool, schemas, reader) =>
    reader.review(program, type, { ...tool, output: tool.output.slice(0, 1) }, schemas),
  );
  assert.match(
    messages.join("\n"),
    /^SVC180 Order\.Output .*svc-gen: refuses an object without "ok"; .* accepts an object without "ok"$/m,
  );
});

/** Schemas with a keyword more. */
class WrongSchemas extends Schemas {
  readonly #keyword: readonly [string, number];

  constructor(...keyword: [string, number]) {
    super();
    this.#keyword = keyword;
  }

  override input(tool: Tool): JsonObject {
    return object(...super.input(tool).members, this.#keyword);
  }
}

test("the second reading finds null missing in a nested tuple, which only a list port may lack", () => {
  class Forgetful extends Schemas {
    override input(tool: Tool): JsonObject {
      return readJson(
        printJson(super.input(tool)).replace('"type":["boolean","null"]', '"type":"boolean"'),
      ) as JsonObject;
    }
  }
  const messages = found((program, type, tool, _, reader) => reader.review(program, type, tool, new Forgetful()));
  assert.deepEqual(messages.length, 1);
  assert.match(messages[0] ?? "", /^SVC180 Order\.Input\.maybe\.at\[1\] .*svc-gen: refuses null; .* accepts null$/);
});

test("ajv finds a keyword that no validator knows", () => {
  const messages = found((program, type, tool, _, reader) =>
    reader.review(program, type, tool, new WrongSchemas("minProps", 1)),
  );
  assert.deepEqual(messages, [
    'SVC181 Order.Input ajv refuses the schema of this type: strict mode: unknown keyword: "minProps"',
  ]);
});

test("the second reading finds a limit that only one schema has", () => {
  const messages = found((program, type, tool, _, reader) =>
    reader.review(program, type, tool, new WrongSchemas("maxProperties", 4)),
  );
  assert.equal(messages.length, 1);
  assert.match(
    messages[0] ?? "",
    /^SVC180 Order\.Input .*svc-gen: \{"\$schema":.*; typescript-json-schema: \{"type":"object"/,
  );
});

/** A type that reaches itself through interfaces with lists of the next one. */
const ring = (name: string, size: number) =>
  Array.from({ length: size }, (_, at) => `interface ${name}${at} { next?: ${name}${(at + 1) % size}[] }`).join("\n");

test("types nested in 150 interfaces are read twice, and more deeply nested types are not compared", () => {
  const project = new ToolProject({
    "src/a.ts": toolSource("A", "{ v: R0 }", '"done"', ring("R", 150)),
    "src/b.ts": toolSource("B", "{ v: R0 }", '"done"', ring("R", 500)),
  });
  const reader = new SecondReader();
  const { diagnostics } = generate({ root: project.root }, (...tool) => reader.review(...tool));
  assert.deepEqual(
    diagnostics.map(({ code, subject }) => `${code} ${subject}`),
    ["SVC182 B.Input"],
  );
});

// The command line, with a library that reads every string literal as text.

const { JsonSchemaGenerator } = loadSchemaLibrary() as {
  readonly JsonSchemaGenerator: { readonly prototype: { getUnionDefinition(...args: unknown[]): object } };
};
const { getUnionDefinition } = JsonSchemaGenerator.prototype;
afterEach(() => {
  JsonSchemaGenerator.prototype.getUnionDefinition = getUnionDefinition;
});

function misread(): void {
  JsonSchemaGenerator.prototype.getUnionDefinition = function (...args) {
    const definition = getUnionDefinition.apply(this, args);
    return "enum" in definition ? Object.assign(definition, { enum: undefined, type: "string" }) : definition;
  };
}

const literals = (tag = "") => ({ "src/a.ts": toolSource("A", `{\n${tag}\nkind: "x" | "y" }`) });

test("--check fails if two readings disagree, and prints the position", async () => {
  const project = new ToolProject(literals());
  project.build();
  misread();
  for (const options of [[], ["--quiet"]]) {
    const { code, err } = await svcGenIn(project.root, ["--check", ...options]);
    assert.equal(code, 1);
    assert.match(
      err,
      /src\/a\.ts:3:32 - warning SVC180: A\.Input\.kind: a second generator .*: svc-gen: refuses ""; typescript-json-schema: accepts ""\n/,
    );
    assert.match(err, /hint: .*@acknowledge SVC180/);
  }
  const { code, out } = await svcGenIn(project.root, ["--check", "--json"]);
  assert.equal(code, 1);
  const [{ severity, subject }] = JSON.parse(out).diagnostics;
  assert.deepEqual([severity, subject], ["warning", "A.Input.kind"]);
  // Generation asks one reader only.
  assert.deepEqual(await svcGenIn(project.root, []), { code: 0, out: "up to date\n", err: "" });
});

test("an acknowledged disagreement passes --check", async () => {
  const project = new ToolProject(literals("/** @acknowledge SVC180 */"));
  project.build();
  misread();
  assert.deepEqual(await svcGenIn(project.root, ["--check"]), { code: 0, out: "up to date\n", err: "" });
});

test("comments run nothing", async () => {
  const evil = 'require("./evil.cjs").value';
  const project = new ToolProject({
    "src/evil.cjs": 'require("node:fs").writeFileSync(__dirname + "/ran", ""); exports.value = ["x"];',
    "src/a.ts": toolSource(
      "A",
      "Input",
      '"done"',
      `
/** @examples ${evil} */
export interface Input {
  /**
   * @TJS-examples ${evil}
   * @TJS-default ${evil}
   * @$ref ./evil.json
   * @ignore
   */
  a: string;
  /** @type ${evil} */
  b?: {
    /** @items ${evil} */
    c: string[];
  };
}`,
    ),
  });
  project.build();
  assert.equal((await svcGenIn(project.root, ["--check"])).code, 0);
  assert.equal(existsSync(join(project.root, "src/ran")), false);
  // The library runs it when it is given the comments.
  const { getProgramFromFiles, generateSchema } = loadSchemaLibrary() as typeof import("typescript-json-schema");
  generateSchema(getProgramFromFiles([join(project.root, "src/a.ts")], STRICT), "Input", { ignoreErrors: true });
  assert.equal(existsSync(join(project.root, "src/ran")), true);
});

test("a chain of types that is too deep for the second reader is noted, and passes --check", async () => {
  const chain = Array.from({ length: 400 }, (_, at) => `interface C${at} { v: string; next?: C${at + 1} }`).join("\n");
  const project = new ToolProject({
    "src/a.ts": toolSource("A", "{ a: C0 }", '"done"', `${chain}\ntype C400 = string;`),
  });
  project.build();
  const { code, err } = await svcGenIn(project.root, ["--check"]);
  assert.match(err, /note SVC182: A\.Input: this type is nested too deeply or too large for the second generator\n/);
  assert.deepEqual([code, err.match(/SVC\d+:/g)], [0, ["SVC182:"]]);
});

test("@additionalProperties false on a member, an alias or an interface causes no difference", () => {
  const closed = "/** @additionalProperties false */\n";
  const input = `{\n${closed}a: { x: string }; b: Alias[]; c?: Node }`;
  const types = `${closed}type Alias = { x: string };\n${closed}interface Node { next?: Node }`;
  assert.doesNotThrow(() => new ToolProject({ "src/a.ts": toolSource("A", input, undefined, types) }).build(true));
});
