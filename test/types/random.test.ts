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
import { STRICT, ToolProject } from "../generator/project.js";
import { randomPort, sourceOf, spoil, type TypedValue, typedValue, untagged } from "../generator/random-contracts.js";
import { compile, FASTEST } from "../typescript/compilers.js";
import { linesRefused, programOf } from "../typescript/program.js";
import { openJudge } from "./judge.js";
import { Random } from "./random.js";

const COUNT = process.env.SVC_TEST_FULL === "1" ? 1200 : 30;
const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);

/** A decoded value as an expression. */
function expression(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Date) return `new Date(${value.getTime()})`;
  if (value instanceof Uint8Array) return `new Uint8Array([${[...value].join(", ")}])`;
  if (Array.isArray(value)) return `[${value.map(expression).join(", ")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}: ${expression(member)}`)
    .join(", ")} }`;
}

const random = new Random(SEED);
const types = Array.from({ length: COUNT }, () => {
  const type = untagged(randomPort(random));
  type.port.optional = false;
  const good = Array.from({ length: 3 }, () => typedValue(random, type));
  const spoilt = [...good, good[0] as TypedValue].map((value) => spoil(value, random));
  return { type, values: [...good, ...spoilt] };
});

test(`${COUNT} random types of seed ${SEED}: tsc and the contract give the same verdict`, async () => {
  const sources = types.map(({ type }, index) => [`src/tool${index}.ts`, sourceOf(type, `T${index}`)] as const);
  const project = new ToolProject(Object.fromEntries(sources), STRICT);
  // The second reader agrees with the first.
  project.build(true);
  // tsc finds in the generated server the types that svc-gen has seen.
  assert.equal(compile(FASTEST, project.root, ["-p", ".", "--noEmit"]), "");
  const byFqn = new Map((await project.contracts()).map((contract) => [contract.fqn, contract]));
  const decoded = types.map(({ values }, index) => {
    const contract = byFqn.get(`xyz.test.tool-t${index}@1`) as Contract;
    const decoder = new InputDecoder(contract);
    const encoder = new OutputEncoder(contract);
    const judge = openJudge(contract);
    return values.map(({ json }) => {
      judge(`{"p":${json}}`);
      try {
        const input = decoder.decodeUnsigned(Buffer.from(`{"p":${json}}`));
        // What was read can be written.
        encoder.encode({ ok: input });
        return { text: expression(input.p) };
      } catch (error) {
        return { why: String(error) };
      }
    });
  });
  // Two lines a value: as it was made, and as it was decoded.
  const lines = types.map(({ values }, index) => [
    `import type { T${index} } from "./tool${index}.js"; type T = T${index}["__io"]["input"]["p"];`,
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
  for (const [index, { values }] of types.entries()) {
    for (const [at, { text }] of values.entries()) {
      const result = decoded[index]?.[at];
      compared++;
      if (result?.text !== undefined) accepted++;
      // The protocol's limit of a list port, which no type has.
      const isEmptyList = result?.why?.endsWith("p: expected 1 to 256 values, got 0") === true;
      const source = sources[index]?.[1];
      if (result?.text === undefined && !isEmptyList && verdicts[index]?.[2 * at + 1]) {
        disagreements.push(`${source}\n   ${text} is of the type, the contract says ${result?.why}`);
      }
      if (!verdicts[index]?.[2 * at + 2]) {
        disagreements.push(`${source}\n   ${text} became ${result?.text}, which is not of the type`);
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
    const bad = linesRefused(program, path);
    assert.ok(!bad.has(0), text.split("\n", 1)[0]);
    return text.split("\n").map((_, line) => !bad.has(line));
  });
}
