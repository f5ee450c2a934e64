/** The JSON of the page: digits and order stay, faults have a place, paths are the server's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { pathText } from "#client/wire/fault.js";
import { JsonFault, parseValue, printValue, replaceAt } from "#page/form/exact-json.js";

test("numbers keep their digits, names are never special", () => {
  const text = '{"b":18446744073709551616,"a":1.0,"c":-0,"constructor":1e400,"__proto__":{"x":[]}}';
  assert.equal(printValue(parseValue(text)).replaceAll(/\s/g, ""), text);
  assert.equal(printValue(parseValue('{"a":1,"b":2,"a":3}')).replaceAll(/\s/g, ""), '{"a":3,"b":2}');
});

test("reads and prints what JSON.parse reads", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(4), (value, indent) => {
      assert.deepEqual(
        JSON.parse(printValue(parseValue(JSON.stringify(value, null, indent)))),
        JSON.parse(JSON.stringify(value)),
      );
    }),
    { numRuns: 50 },
  );
});

test("refuses invalid JSON with line and column", () => {
  assert.throws(() => parseValue('{\n "a": 01 }'), {
    message: "line 2, column 8: Comma ',' expected after value but got '1'",
  });
  assert.throws(() => parseValue("[".repeat(100_000)), JsonFault);
  assert.throws(() => parseValue("[".repeat(129) + "]".repeat(129)), { message: /: more than 127 levels$/ });
  assert.ok(parseValue("[".repeat(128) + "]".repeat(128)));
});

test("replaces, adds and removes at a path, and changes nothing else", () => {
  const value = parseValue('{"a":[1,{"b":2}],"c":3}');
  const print = (path: (string | number)[], next?: string) =>
    printValue(replaceAt(value, path, next === undefined ? undefined : parseValue(next))).replaceAll(/\s/g, "");
  assert.equal(print(["a", 1, "b"], "9"), '{"a":[1,{"b":9}],"c":3}');
  assert.equal(print(["a", 0]), '{"a":[{"b":2}],"c":3}');
  assert.equal(print(["d", "e"], "true"), '{"a":[1,{"b":2}],"c":3,"d":{"e":true}}');
  assert.equal(print(["c"]), '{"a":[1,{"b":2}]}');
  assert.equal(printValue(value).replaceAll(/\s/g, ""), '{"a":[1,{"b":2}],"c":3}');
});

test("paths are written as in the server's errors", () => {
  assert.equal(pathText(["tags", 1]), "tags[1]");
  assert.equal(pathText(["deep", "at", "odd name", 0]), 'deep.at["odd name"][0]');
  assert.equal(pathText(["odd name"]), '["odd name"]');
});
