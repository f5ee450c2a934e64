/**
 * Random types with constraints, judged by ajv over their published schema. What a tool gets is what was checked: the walk
 * accepts exactly what the schema accepts (judge.ts lists the differences by design), and what it delivers, written again,
 * is accepted too. `SVC_TEST_FULL=1` runs 1,200 types; SVC_TYPE_SEED runs another selection.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ValueEncoder } from "#client/wire/codec/encoder.js";
import { ToolProject } from "../generator/project.js";
import { randomPort, sourceOf, spoil, typedValue } from "../generator/random-contracts.js";
import { proves } from "../proves.js";
import { openJudge } from "./judge.js";
import { Random } from "./random.js";

const COUNT = process.env.SVC_TEST_FULL === "1" ? 1200 : 30;
const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);

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

const random = new Random(SEED);
const types = Array.from({ length: COUNT }, () => randomPort(random));

test(`the decoder accepts what ajv accepts, and its results are accepted again: ${COUNT} types of seed ${SEED}`, async () => {
  const project = new ToolProject(
    Object.fromEntries(types.map((type, index) => [`src/t${index}.ts`, sourceOf(type, `T${index}`)])),
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
  for (const [index, type] of types.entries()) {
    const contract = contracts.find(({ fqn }) => fqn === `xyz.test.tool-t${index}@1`);
    if (contract === undefined) continue;
    const judge = openJudge(contract);
    const encoders = contract.input.map((port) => {
      const codec = port.many ? (port.list ?? ({ kind: "array", item: port.codec } as const)) : port.codec;
      // Constraints are written under a union only; one of a single branch holds them to it everywhere.
      return { port, encoder: new ValueEncoder({ kind: "union", branches: [codec] }, contract.definitions) };
    });
    for (let i = 0; i < 40; i++) {
      const value = typedValue(random, type);
      const made = `{"p":${(random.chance(0.4) ? spoil(value, random) : value).json}}`;
      // The decoder refuses more of these (judge.ts), and reports another branch of a union.
      const body = made.replace(/\d{16,}/g, "6");
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
  proves("5.32");
});
