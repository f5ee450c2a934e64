/** The helpers that generated validators call: equality of trees, lengths in code points. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { equal, ucs2length } from "#runtime/v1.js";

/** A tree as the decoder makes it: `__proto__` is an own member. */
const tree = (json: string): unknown => JSON.parse(json);

describe("equal", () => {
  const same: [one: unknown, other: unknown][] = [
    [1, 1],
    [0, -0],
    [1, 1n],
    [9007199254740993n, 9007199254740993n],
    ["a", "a"],
    [null, null],
    [[], []],
    [{}, {}],
    [tree('{"a":1,"b":[{"c":null}]}'), tree('{"b":[{"c":null}],"a":1}')],
    [tree('{"__proto__":{"a":1}}'), tree('{"__proto__":{"a":1}}')],
    [tree('{"a":[1,2]}'), { a: [1n, 2] }],
  ];
  const different: [one: unknown, other: unknown][] = [
    [1, "1"],
    [1n, "1"],
    [1, true],
    [0, null],
    [0, ""],
    [9007199254740993n, 9007199254740992],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [["1"], "1"],
    [{ a: 1 }, {}],
    [{}, { a: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: undefined }, { b: undefined }],
    [tree('{"__proto__":{}}'), {}],
    [{}, tree('{"__proto__":{}}')],
    [tree('{"__proto__":{"a":1}}'), tree('{"__proto__":{"a":2}}')],
    [tree('{"a":1}'), tree('{"toString":1}')],
    [null, {}],
    ["é", "e\u0301"],
  ];
  for (const [one, other] of same) {
    it(`${print(one)} is ${print(other)}`, () => {
      assert.equal(equal(one, other), true);
      assert.equal(equal(other, one), true);
    });
  }
  for (const [one, other] of different) {
    it(`${print(one)} is not ${print(other)}`, () => {
      assert.equal(equal(one, other), false);
      assert.equal(equal(other, one), false);
    });
  }
});

function print(value: unknown): string {
  return JSON.stringify(value, (_, each) =>
    typeof each === "bigint" ? `${each}n` : Object.is(each, -0) ? "-0" : each,
  );
}

describe("ucs2length counts code points", () => {
  const cases: [text: string, length: number][] = [
    ["", 0],
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 2],
    ["\u{1f600}", 1],
    ["\u{1f600}\u{1f600}", 2],
    ["a\u{10ffff}b", 3],
    ["\ud800", 1],
    ["\udc00", 1],
    ["\udc00\ud800", 2],
    ["\ud800\ud800\udc00", 2],
    ["\ud800\udc00\udc00", 2],
    ["a\ud800", 2],
    ["\ud800a", 2],
    ["\udbff\udfff", 1],
    ["\u{1f468}\u200d\u{1f469}", 3],
  ];
  for (const [text, length] of cases) {
    it(`${JSON.stringify(text)} has ${length}`, () => {
      assert.equal(ucs2length(text), length);
      assert.equal(ucs2length(text), [...text].length);
    });
  }
});
