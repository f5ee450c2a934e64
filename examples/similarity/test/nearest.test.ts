import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createHarness, type Harness } from "svc-runtime/testing";
import { editDistance, Measure, wordDistance } from "../src/distance.js";
import { contracts } from "../src/generated/contracts.js";
import { type Input, Nearest } from "../src/nearest.js";

async function open(t: TestContext): Promise<(input: Input) => Promise<[name: string, distance: number][]>> {
  const tool: Harness<typeof Nearest> = await createHarness(Nearest, { contracts });
  t.after(() => tool.close());
  return async (input) => {
    const result = await tool.invoke(input);
    assert.ok("ok" in result);
    return result.ok.found.matches.map(({ name, distance }) => [name, distance]);
  };
}

test("edits of characters, not of code units", () => {
  assert.equal(editDistance("kitten", "sitting", [1, 1, 1]), 3);
  assert.equal(editDistance("", "abc", [2, 1, 1]), 6);
  assert.equal(editDistance("abc", "", [2, 3, 1]), 9);
  assert.equal(editDistance("𝄞a", "a", [1, 1, 1]), 1);
  // A replacement that costs more than deleting and inserting is not made.
  assert.equal(editDistance("a", "b", [1, 1, 5]), 2);
});

test("words in common", () => {
  assert.equal(wordDistance("The cat sat.", "the CAT stood"), 0.5);
  assert.equal(wordDistance("", "…"), 0);
});

test("the nearest comes first, equal ones by name", async (t) => {
  const nearest = await open(t);
  const candidates = { c: "kitten", b: "mitten", a: "mitten", d: "dog" };
  assert.deepEqual(await nearest({ text: "kitten", candidates }), [["c", 0]]);
  assert.deepEqual(await nearest({ text: "kitten", candidates, keep: 3 }), [
    ["c", 0],
    ["a", 1 / 12],
    ["b", 1 / 12],
  ]);
});

test("all up to a distance, which may be none", async (t) => {
  const nearest = await open(t);
  const candidates = { one: "the cat sat", two: "a dog ran" };
  const measure = Measure.Words;
  assert.deepEqual(await nearest({ text: "the cat stood", candidates, measure, keep: { upTo: 0.5 } }), [["one", 0.5]]);
  assert.deepEqual(await nearest({ text: "nothing", candidates, measure, keep: { upTo: 0.9 } }), []);
  assert.deepEqual(await nearest({ text: "nothing", candidates: {} }), []);
});
