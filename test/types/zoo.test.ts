/** The zoo against tsc: every value is compiled as a constant of its type, and the contract must give the same verdict. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { ts } from "#generator/compile/project/typescript.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { OutputEncoder, resultJson } from "#runtime/server/wire/output.js";
import { STRICT, ToolProject } from "../generator/project.js";
import { linesRefused, programOf } from "../typescript/program.js";
import { assertLinear } from "../wire/growth.js";
import { openJudge } from "./judge.js";
import { REFUSED, sourceOf, toolName, ZOO } from "./zoo.js";

const project = new ToolProject(
  Object.fromEntries(ZOO.map((each, index) => [`src/tool${index}.ts`, sourceOf(each, index)])),
);

const expressions = ZOO.map(({ accept, refuse, differ = [] }) => [
  ...accept,
  ...refuse,
  ...differ.map(([text]) => text),
]);

/** The values of one type: a constant for tsc each, and the same expressions as they are at run time. */
function valuesOf(index: number): string {
  // Enums are values; brands are named in casts.
  const names = [...(ZOO[index]?.before ?? "").matchAll(/export (?:const enum|enum|type) (\w+)/g)].map(
    ([, name]) => name,
  );
  const list = expressions[index] as readonly string[];
  return [
    `import { ${["type T", ...new Set(names)].join(", ")} } from "./tool${index}.js";`,
    ...list.map((text, at) => `export const v${at}: T = ${text};`),
    "",
  ].join("\n");
}

const judged = judge();
project.build();
const contracts = await project.contracts();

/** tsc's verdict on every value. The values are compiled to `values/`, those that it refuses too. */
function judge(): boolean[][] {
  const values = new Map(ZOO.map((_, index) => [join(project.root, `src/values${index}.ts`), valuesOf(index)]));
  project.write(Object.fromEntries([...values].map(([path, text]) => [path.slice(project.root.length + 1), text])));
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ["lib.es2023.d.ts"],
    module: ts.ModuleKind.NodeNext,
    strict: true,
    rootDir: join(project.root, "src"),
    outDir: join(project.root, "values"),
    skipLibCheck: true,
    types: [],
  };
  const program = programOf([...values.keys()], options);
  const verdicts = [...values.keys()].map((path, index) => {
    const bad = linesRefused(program, path);
    assert.ok(!bad.has(0), `${ZOO[index]?.name}: the import`);
    return (expressions[index] as readonly string[]).map((_, at) => !bad.has(at + 1));
  });
  program.emit();
  // The values do not compile on purpose, and are no part of the project that is generated.
  project.write({
    "tsconfig.json": JSON.stringify({ compilerOptions: STRICT, include: ["src"], exclude: ["src/values*.ts"] }),
  });
  return verdicts;
}

/** A value as the JSON that carries it. */
function jsonOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Date) return JSON.stringify(value.toISOString());
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString("base64"));
  if (Array.isArray(value)) return `[${value.map((item) => jsonOf(item) ?? "null").join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).flatMap((name) => {
    const text = jsonOf((value as Readonly<Record<string, unknown>>)[name]);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join(",")}}`;
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (value === null || typeof value !== "object" || value instanceof Date || value instanceof Uint8Array) return value;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = withoutUndefined((value as Readonly<Record<string, unknown>>)[name]);
    if (member !== undefined)
      Object.defineProperty(copy, name, { value: member, enumerable: true, configurable: true, writable: true });
  }
  return copy;
}

for (const [index, { name, many, accept, differ = [] }] of ZOO.entries()) {
  test(`zoo: ${name}`, async () => {
    const contract = contracts.find(({ fqn }) => fqn === `xyz.test.tool-tool${index}@1`);
    assert.ok(contract !== undefined);
    assert.deepEqual(
      contract.input.map((port) => port.many),
      [many === true],
    );
    const values = (await import(join(project.root, `values/values${index}.js`))) as Readonly<Record<string, unknown>>;
    const decoder = new InputDecoder(contract);
    const judge = openJudge(contract);
    const encoder = new OutputEncoder(contract);
    for (const [at, text] of (expressions[index] as readonly string[]).entries()) {
      const value = values[`v${at}`];
      const body = Buffer.from(`{"v":${jsonOf(value)}}`);
      let decoded: unknown;
      let complaint: unknown;
      try {
        decoded = decoder.decodeUnsigned(body).v;
      } catch (error) {
        complaint = error;
      }
      assert.equal(judge(body.toString()).accepted, complaint === undefined);
      const verdict = judged[index]?.[at];
      const different = differ.some(([expression]) => expression === text);
      if (!different) assert.equal(verdict, accept.includes(text), `${text}: tsc's verdict`);
      assert.equal(complaint === undefined, different ? !verdict : verdict, `${text}: ${complaint ?? "accepted"}`);
      if (!verdict) continue;
      assert.deepStrictEqual(withoutUndefined(decoded), withoutUndefined(value), text);
      // What a tool returns is what the next one gets.
      const sent = resultJson(encoder.encode({ ok: { v: value } })) ?? "";
      const again = decoder.decodeUnsigned(Buffer.from(sent.slice('{"ok":'.length, -1))).v;
      assert.ok(judge(sent.slice('{"ok":'.length, -1)).accepted);
      assert.deepStrictEqual(withoutUndefined(again), withoutUndefined(value), `${text} after ${sent}`);
    }
  });
}

test("the pattern of a template type takes linear time for every text", () => {
  const patterns = new Set(
    contracts.flatMap(({ inputSchema }) =>
      [...inputSchema.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(
        ([, text]) => JSON.parse(text as string) as string,
      ),
    ),
  );
  assert.ok(patterns.size >= 12);
  for (const pattern of patterns) {
    const expression = new RegExp(pattern, "u");
    for (const start of ["", "v", "x-", "("]) {
      for (const each of ["1", "@", "-", ".", " ", "A", "a:", "1."]) {
        const judge = (size: number) => void expression.test(`${start}${each.repeat(size)}!`);
        assertLinear(`${pattern} on ${start}${each}…`, judge, 48_000);
      }
    }
  }
});

test("the zoo has at least 120 types", () => {
  assert.ok(ZOO.length + REFUSED.length >= 120, `${ZOO.length} + ${REFUSED.length}`);
});

test("all unsupported types are reported in one run, each at its member", () => {
  const refused = new ToolProject(
    Object.fromEntries(
      REFUSED.map((each, index) => [
        `src/tool${index}.ts`,
        sourceOf(each, index).replaceAll("{ ok: { v: ", "{ ok: { w: "),
      ]),
    ),
  );
  const { files, diagnostics } = refused.generate();
  assert.deepEqual(files, []);
  for (const [index, { name, code, subject }] of REFUSED.entries()) {
    const own = diagnostics.filter(
      ({ place, severity }) => severity === "error" && place?.file === `src/tool${index}.ts`,
    );
    assert.ok(own.length > 0, `${name}: nothing was said`);
    const found = own.find(
      (each) => each.code === code && (subject === "" || each.subject === `${toolName(index)}.${subject}`),
    );
    assert.ok(
      found !== undefined,
      `${name}: ${own.map((each) => `${each.code} ${each.subject} ${each.message}`).join("; ")}`,
    );
  }
});
