/** What a caller reads about an input that does not fit: path, expected, got. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { ToolProject, toolSource } from "./project.js";

const input = `{
  text?: string;
  /** @minLength 2 @maxLength 3 */
  short?: string;
  /** @pattern ^a+$ */
  matched?: string;
  /** @format email */
  mail?: string;
  /** @minimum 1 @exclusiveMaximum 5 */
  number?: number;
  /** @multipleOf 3 @asType integer */
  third?: number;
  /** @minimum 10 @maximum 9007199254740993 @multipleOf 2 */
  exact?: bigint;
  /** @minItems 2 @maxItems 3 @uniqueItems */
  list?: string[];
  choice?: "a" | "b" | 3;
  closed?: { a: string; [other: string]: never | string } ;
  sealed?: Sealed;
  deep?: { at: { tags: number[] }[] };
  shape?: Circle | Square;
  either?: { a: number; b: number } | { a: string; c: number };
  bounded?: { kind: "x"; n: Small } | { kind: "y"; m: string };
  scalar?: string | { a: number };
  something?: {};
}`;
const before = `
interface Circle { kind: "circle"; radius: number }
interface Square { kind: "square"; side: number; at: { x: number } }
interface Sealed { a: string; [name: \`x-\${string}\`]: string }
/** @minimum 5 */
type Small = number;
`;

const CANARY = "CANARY_7f3a";

/** Member, JSON text, details. */
const CASES: readonly (readonly [name: string, json: string, details: string])[] = [
  ["text", "5", "text: expected a string, got a number"],
  ["text", '["a"]', "text: expected a string, got an array"],
  ["short", '"é"', "short: expected at least 2 characters, got 1"],
  ["short", '"\u{1f600}\u{1f600}\u{1f600}\u{1f600}"', "short: expected at most 3 characters, got 4"],
  ["matched", `"${CANARY}"`, "matched: expected a string that matches ^a+$, got another string"],
  ["mail", `"${CANARY}"`, "mail: expected a string of the format email, got another string"],
  ["number", "0", "number: expected a number of at least 1, got a smaller one"],
  ["number", "5", "number: expected a number below 5, got a larger one"],
  ["third", "4", "third: expected a multiple of 3, got another number"],
  ["third", "1.5", "third: expected an integer within +/-(2^53-1), got a number with a point or exponent, such as 1.0"],
  ["exact", "8", "exact: expected an integer of at least 10, got a smaller one"],
  ["exact", "9007199254740994", "exact: expected an integer of at most 9007199254740993, got a larger one"],
  ["exact", "11", "exact: expected a multiple of 2, got another number"],
  ["exact", '"11"', "exact: expected an integer, got a string"],
  ["list", '["a"]', "list: expected at least 2 items, got 1"],
  ["list", '["a","b","c","d"]', "list: expected at most 3 items, got 4"],
  ["list", `["${CANARY}","b","${CANARY}"]`, "list: expected unique items, got equal items at 0 and 2"],
  ["list", '["a",1]', "list[1]: expected a string, got a number"],
  ["choice", `"${CANARY}"`, 'choice: expected "a" or "b" or 3, got another string'],
  ["sealed", `{"a":"x","${CANARY}":"y"}`, "sealed: expected only declared members, got another"],
  ["deep", '{"at":[{"tags":[]},{"tags":[1,"x"]}]}', "deep.at[1].tags[1]: expected a number, got a string"],
  ["deep", '{"at":[{}]}', "deep.at[0].tags: expected a value, got nothing"],
  ["shape", '{"kind":"circle"}', "shape.radius: expected a value, got nothing"],
  ["shape", '{"kind":"square","side":"x"}', "shape.side: expected a number, got a string"],
  ["shape", '{"kind":"square","side":1,"at":{}}', "shape.at.x: expected a value, got nothing"],
  ["shape", `{"kind":"${CANARY}"}`, 'shape.kind: expected "circle" or "square", got another string'],
  ["shape", "5", "shape: expected an object, got a number"],
  ["either", '{"a":"x","c":"y"}', "either.c: expected a number, got a string"],
  ["either", '{"a":1,"b":"y"}', "either.b: expected a number, got a string"],
  ["either", '{"a":null}', "either.a: expected a number or a string, got null"],
  ["bounded", '{"kind":"x","n":4}', "bounded.n: expected a number of at least 5, got a smaller one"],
  ["scalar", "5", "scalar: expected a string or an object, got a number"],
  ["scalar", '{"a":"x"}', "scalar.a: expected a number, got a string"],
];

test("messages have path, expected and actual kind in one format, and no text of the caller", async () => {
  const project = new ToolProject({ "src/a.ts": toolSource("A", input, '"done"', before) });
  project.build();
  const contracts = await project.contracts();
  const contract = contracts[0] as Contract;
  const decoder = new InputDecoder(contract);
  const details = (decode: () => unknown): string => {
    try {
      decode();
    } catch (error) {
      return (error as { details?: string }).details ?? String(error);
    }
    return "it was taken";
  };
  const found = CASES.map(([name, json]) => {
    const unsigned = details(() => decoder.decodeUnsigned(Buffer.from(`{"${name}":${json}}`)));
    const texts = contract.input.map((port) => [{ bytes: Buffer.from(port.name === name ? json : "null") }]);
    const signed = details(() => decoder.decodeSigned(texts as unknown as Parameters<typeof decoder.decodeSigned>[0]));
    assert.equal(signed, unsigned, `${name} ${json}`);
    assert.ok(!unsigned.includes(CANARY));
    return [name, json, unsigned];
  });
  assert.deepEqual(found, CASES);
});
