/** Types of packages: what their authors wrote is for others, and the author of a tool can change none of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { generateFrom } from "#generator/compile/generate.js";
import { layoutOf } from "#generator/compile/project/layout.js";
import { compileOnce, openProgram, readProject } from "#generator/compile/project/program.js";
import { OutputEncoder, resultJson } from "#runtime/server/wire/output.js";
import { STRICT, ToolProject, toolSource } from "../generator/project.js";

/** A tool with an input member `v: X` of a package, or with other types. */
function read(declarations: string, { input = "X", output = '"done"', before = "", options = STRICT as object } = {}) {
  const project = new ToolProject(
    {
      "src/a.ts": toolSource(
        "A",
        `{\n  v: ${input} }`,
        output,
        `import type { X } from "pkg";\nexport type { X };\n${before}`,
      ),
      "node_modules/pkg/package.json": '{ "name": "pkg", "version": "1.0.0", "types": "index.d.ts" }',
      "node_modules/pkg/index.d.ts": declarations,
    },
    options,
  );
  const { diagnostics, contracts = [] } = project.generate(true);
  const said = diagnostics.map(({ severity, code, place, subject, message }) => {
    const detail = message.split(": ").slice(1).join(": ");
    return `${severity} ${code} ${place?.file}:${place?.line} ${subject}${detail === "" ? "" : `: ${detail}`}`;
  });
  const schema = () => JSON.parse(contracts[0]?.inputSchema ?? assert.fail(said.join("\n"))).properties.v;
  return { said, schema, contract: contracts[0], hints: diagnostics.map(({ hint }) => hint) };
}

test("a class of a package causes one error, at the member that has it, with the path of its first invalid part", () => {
  const declarations = `export declare class X {
  private $d: Date; clone(): X; isValid(): boolean; year: { of: Map<string, X>; set: () => void };
}`;
  const { said, hints } = read(declarations, { input: "{ when: X[] }" });
  assert.deepEqual(said, ["error SVC133 src/a.ts:6 A.Input.v.when[]: Input.v.when[].$d"]);
  assert.match(hints[0] ?? "", /declare a type of your own/);
  const deep = read("export interface X { a: { b: { c: () => void; d: symbol } } }");
  assert.deepEqual(deep.said, ["error SVC130 src/a.ts:6 A.Input.v: Input.v.a.b.c"]);
});

test("errors in the type arguments of a package's type are reported at the author's types", () => {
  const { said } = read("export interface X<T> { rows: T[]; more(): void }", {
    input: "X<Own>",
    before: "interface Own {\n  run(): void;\n  id: symbol;\n}",
  });
  assert.deepEqual(said, [
    "error SVC131 src/a.ts:5 A.Input.v.rows[].run",
    "error SVC132 src/a.ts:6 A.Input.v.rows[].id",
    "error SVC131 src/a.ts:9 A.Input.v: Input.v.more",
  ]);
});

const SECRETS = "export interface X { token: string; deep: { logprobs: { token: string; password: number }[] } }";

test("names like secrets in a package's type cause a note, which the author can acknowledge at the use of the type", () => {
  assert.deepEqual(read(SECRETS).said, ["note SVC154 src/a.ts:6 A.Input.v: Input.v.token: token"]);
  const mark = (tag: string) => read(SECRETS, { input: `number;\n/** ${tag} */\nw: X` }).said;
  assert.deepEqual(mark("@acknowledge SVC154"), []);
  assert.deepEqual(mark("@notSecret"), []);
  assert.deepEqual(read(SECRETS, { input: "Alias", before: "/** @notSecret */\ntype Alias = X;" }).said, []);
});

test("@notSecret applies to its member, alias or interface and the parts of these, and nowhere else", () => {
  const named =
    "interface Named { token: { password: string } }\n/** @notSecret */\ninterface Marked { token: { secret: string } }";
  const own = (input: string) =>
    read(SECRETS, { input, before: `${named}\n/** @notSecret */\ntype Alias = Named;` }).said;
  assert.deepEqual(own("Marked; a: Alias;\n/** @notSecret */\nb: { apiKey: Named }"), []);
  const inside = [
    "note SVC154 src/a.ts:4 A.Input.v.token: token",
    "note SVC154 src/a.ts:4 A.Input.v.token.password: password",
  ];
  assert.deepEqual(own("Alias; b: Named"), inside);
  assert.deepEqual(own("Named; b: Alias"), inside);
});

test("tags in a package's declarations are used if they apply, and never cause errors", () => {
  const { said, schema } = read(`export interface X {
  /** @format int64 */ id: number;
  /** @format */ prettier: string;
  /** @format phone */ phone: string;
  /** @minimum x */ wrong: number;
  /** @pattern a/ ( */ pattern: string;
  /** @minimum 3 @maximum 1 */ none: number;
  /** @example 12345 */ zip: string; /** lost */
  /** @minLength 2 */ kept: string;
  /** @default 'eu' @example eu */ region?: "eu" | "us";
  /** @default 5 */ fits?: number;
}`);
  assert.deepEqual(said, [
    "warning SVC199 src/a.ts:6 A.Input.v: Input.v.id: @format int64; the schema has the type number without a format",
  ]);
  assert.deepEqual(schema().properties, {
    id: { type: "number" },
    prettier: { type: "string" },
    phone: { type: "string", format: "phone" },
    wrong: { type: "number" },
    pattern: { type: "string" },
    none: { type: "number", minimum: 3 },
    zip: { type: "string", examples: ["12345"] },
    kept: { type: "string", minLength: 2 },
    region: { type: ["string", "null"], enum: ["eu", "us", null], examples: ["eu"] },
    fits: { type: ["number", "null"], default: 5 },
  });
  const slow = read("export interface X { \n/** @pattern ^(a+)+$ */\na: string }");
  assert.deepEqual(slow.said, ["error SVC177 src/a.ts:6 A.Input.v: Input.v.a: (a+)+"]);
});

test("the documentation of a package's generic alias is not that of the author's value, but its constraints apply", () => {
  const declarations = `/** How to use Same. @example Same<X> @minLength 2 */
export type Same<T> = T;
/** An X. @example xx */
export type X = string;`;
  assert.deepEqual(read(declarations, { input: 'import("pkg").Same<string>' }).schema(), {
    type: "string",
    minLength: 2,
  });
  assert.deepEqual(read(declarations).schema(), { type: "string", description: "An X.", examples: ["xx"] });
});

test("data types of @types/node are accepted, and its classes are not", () => {
  const node = { options: { ...STRICT, types: ["node"] } };
  const data = read("export type { CpuInfo as X } from 'node:os';", node);
  assert.deepEqual(data.said, []);
  assert.deepEqual(data.schema().required, ["model", "speed", "times"]);
  const headers = read("export type { IncomingHttpHeaders as X } from 'node:http';", node);
  const name = "access-control-allow-credentials";
  assert.deepEqual(headers.said, [`note SVC154 src/a.ts:6 A.Input.v: Input.v["${name}"]: ${name}`]);
  const socket = read("export type { Socket as X } from 'node:net';", node);
  assert.deepEqual(socket.said, ["error SVC135 src/a.ts:6 A.Input.v: Socket"]);
});

test("a result may have undefined in lists, sent as null, and members with symbols, which are omitted", () => {
  const output = "{ ok: { list: (string | undefined)[]; pair: [number, undefined]; s: { [key]: string; a: 1 } } }";
  const { said, contract } = read("export type X = string;", { output, before: "declare const key: unique symbol;" });
  assert.deepEqual(said, ["note SVC155 src/a.ts:6 A.Output.ok.list"]);
  const value = { ok: { list: ["a", undefined], pair: [1, undefined], s: { [Symbol("key")]: "x", a: 1 } } };
  const result = new OutputEncoder(contract ?? assert.fail()).encode(value);
  assert.equal(resultJson(result)?.toString(), '{"ok":{"list":["a",null],"pair":[1,null],"s":{"a":1}}}');
  const input = read("export type X = string;", { input: "(string | undefined)[]" });
  assert.deepEqual(input.said, ["error SVC136 src/a.ts:6 A.Input.v[]: string | undefined"]);
});

test("`any` causes a note, and an unknown type causes an error", () => {
  assert.deepEqual(read("export type X = any;").said, ["note SVC190 src/a.ts:6 A.Input.v"]);
  const gone = 'import type { Y } from "gone";\nexport interface X { a: { b: Y } }';
  assert.deepEqual(read(gone).said, ["error SVC191 src/a.ts:6 A.Input.v: Input.v.a.b"]);
  const own = read("export type X = string;", { input: "Y", before: 'import type { Y } from "gone";' });
  assert.deepEqual(own.said, ["error TS2307 src/a.ts:4 undefined"]);
});

test("an endless type causes one error and no other diagnostics", () => {
  const endless = `export interface X<T = string> { v: T; a?: X<T[]>; b?: X<{ of: T }>; c?: Wide<T> }
interface Wide<T> { d: X<[T]>; e?: X<T[][]>; f: unknown[] }`;
  const { said } = read(endless);
  assert.deepEqual(said, ["error SVC140 src/a.ts:6 A.Input.v: Input.v.a.…"]);
  const ring = Array.from({ length: 3000 }, (_, at) => `interface R${at} { next?: R${(at + 1) % 3000} }`).join("\n");
  const codes = read(`${ring}\nexport type X = R0;`).said.map((each) => each.split(" ")[1]);
  assert.deepEqual(codes, ["SVC140"]);
});

/** The errors for 50 interfaces, each with two unions of all of them, and how often the compiler is asked for a type. */
function readLargeUnions(last: string) {
  const size = 50;
  const names = Array.from({ length: size }, (_, at) => `C${at}`);
  const groups = Array.from({ length: size / 25 }, (_, at) => names.slice(at * 25, at * 25 + 25).join(" | "));
  const declarations = [
    ...names.map((name, at) => {
      return `interface ${name} { n?: ${names[at + 1] ?? last}; p?: Value<All | "${name}">; q?: Value<All | boolean | "${name}"> }`;
    }),
    ...groups.map((group, at) => `type G${at} = ${group};`),
    `type All = ${groups.map((_, at) => `G${at}`).join(" | ")};`,
    "type Box<T> = { of: T } | readonly T[];",
    "type Value<T> = T | Box<T>;",
  ];
  const project = new ToolProject({ "src/a.ts": toolSource("A", "{ v: C0 }", '"done"', declarations.join("\n")) });
  const read = readProject(layoutOf({ root: project.root }));
  assert.ok(!("diagnostics" in read));
  const program = openProgram(read, compileOnce(read));
  const { getTypeFromTypeNode } = program.checker;
  let asked = 0;
  program.checker.getTypeFromTypeNode = (node) => {
    asked++;
    return getTypeFromTypeNode(node);
  };
  const { diagnostics } = generateFrom(program);
  const branches = 2 * size ** 2;
  return {
    each: asked / branches,
    errors: diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code),
  };
}

test("a recursive template type for paths of members is a text", () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a type
  const nested = "`${K}.${Paths<T[K]> & (string | number)}`";
  const { said, schema } = read(`interface Settings { size: { height: number; width: number }; bold: boolean }
type Paths<T> = T extends object ? Inner<Required<T>> : never;
type Inner<T> = { [K in keyof T]: K extends string | number ? K | ${nested} : never }[keyof T];
export type X = Paths<Settings>;`);
  assert.deepEqual(said, []);
  assert.deepEqual(schema(), { type: "string", enum: ["bold", "size", "size.height", "size.width"] });
});

test("the syntax of a union is walked once for each of its uses, not for each branch", () => {
  const { each, errors } = readLargeUnions("C0");
  assert.deepEqual(errors, []);
  assert.ok(each < 12, `${each} times a branch`);
});

test("no union is lowered after a type was refused because of its size", () => {
  const { each, errors } = readLargeUnions(`string${"[]".repeat(60)}`);
  assert.deepEqual(errors, ["SVC140"]);
  assert.ok(each < 1, `${each} times a branch`);
});
