import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { fqnProblem, parseFqn } from "#client/fqn.js";
import { proves } from "../proves.js";

describe("parseFqn", () => {
  it("returns name, version and the text with the shortest version", () => {
    assert.deepEqual(parseFqn("xyz.demo.sum@1"), { name: "xyz.demo.sum", version: 1, text: "xyz.demo.sum@1" });
    assert.deepEqual(parseFqn("aa.bb.cc.dd@00070"), { name: "aa.bb.cc.dd", version: 70, text: "aa.bb.cc.dd@70" });
  });

  it("accepts versions from 1 to 4,294,967,295", () => {
    assert.equal(parseFqn("aa.bb.cc@4294967295")?.version, 4294967295);
    assert.equal(parseFqn(`aa.bb.cc@${"0".repeat(50)}4294967295`)?.text, "aa.bb.cc@4294967295");
    for (const version of ["4294967296", "9999999999", "18446744073709551617", "0", "000", "", "1.0", "1e1", "0x1"]) {
      assert.equal(parseFqn(`aa.bb.cc@${version}`), undefined, version);
    }
    proves("1.22");
  });

  it("returns undefined for values that are not texts", () => {
    for (const wrong of [undefined, null, 1, 1n, {}, ["aa.bb.cc@1"]]) {
      assert.equal(parseFqn(wrong as unknown as string), undefined);
    }
  });

  it("agrees with a regular expression on generated names", () => {
    const character = fc.constantFrom(..."ab1_-.@0A ");
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 14 }), (text) => {
        const [name = "", version = "", ...rest] = text.split("@");
        const parts = name.split(".");
        const wellFormed = parts.filter((part) => part.length > 1 && /^[a-z]/.test(part) && !/[^a-z0-9_-]/.test(part));
        const ok =
          rest.length === 0 &&
          parts.length >= 3 &&
          wellFormed.length === parts.length &&
          version !== "" &&
          !/[^0-9]/.test(version) &&
          BigInt(version) >= 1n &&
          BigInt(version) <= 4294967295n;
        assert.equal(parseFqn(text) !== undefined, ok, text);
      }),
      { numRuns: 2000, examples: [["ab.a1.b_@010"], ["aa.bb.aa.b-@1"]] },
    );
  });

  it("tells which part of a text is invalid", () => {
    const cases: readonly (readonly [text: string, problem: string])[] = [
      ["", "the name is empty"],
      ["@1", "the name is empty"],
      ["sum", '"sum" has one part, expected three or more'],
      ["aa.bb@1", '"aa.bb" has two parts, expected three or more'],
      ["aa.bb.cc", "the version is missing: add @1"],
      ["aa.bb.cc@", "the version after @ is missing: write @1"],
      ["aa.bb.cc@v1", 'the version "v1" is not a decimal number'],
      ["aa.bb.cc@1.0", 'the version "1.0" is not a decimal number'],
      ["aa.bb.cc@1@2", 'the version "1@2" is not a decimal number'],
      ["aa.bb.cc@0", 'the version "0" is not from 1 to 4294967295'],
      ["aa.bb.cc@4294967296", 'the version "4294967296" is not from 1 to 4294967295'],
      ["aa.b.cc@1", 'part 2 ("b") is too short: expected two characters or more'],
      ["aa..cc@1", "part 2 is empty"],
      ["aa.bb.cc.@1", "part 4 is empty"],
      ["aa.bB.cc@1", 'part 2 ("bB") has the upper-case letter "B"'],
      ["aa.bb.c c@1", 'part 3 ("c c") has the character " "'],
      ["aa.bb.c\u212a@1", 'part 3 ("c\\u212a") has the character "\\u212a"'],
      ["aa.bb.1c@1", 'part 3 ("1c") does not begin with a letter'],
      [`aa.bb.${"c".repeat(70)}!@1`, `part 3 ("${"c".repeat(60)}…") has the character "!"`],
    ];
    assert.deepEqual(
      cases.map(([text]) => [text, fqnProblem(text)]),
      cases,
    );
    const character = fc.constantFrom(..."ab1_-.@0A ");
    fc.assert(
      fc.property(fc.string({ unit: character, maxLength: 14 }), (text) => {
        assert.equal(fqnProblem(text) === undefined, parseFqn(text) !== undefined, text);
      }),
    );
  });

  it("is linear on hostile texts", () => {
    const long = 2_000_000;
    const started = process.cpuUsage().user;
    for (const text of [
      `${"a".repeat(long)}!`,
      `${"aa.".repeat(long / 3)}@1`,
      `${"aa.".repeat(long / 3)}aa!@1`,
      `aa.bb.cc@${"0".repeat(long)}`,
      `aa.bb.cc@${"9".repeat(long)}`,
      "@".repeat(long),
      ".".repeat(long),
    ]) {
      assert.equal(parseFqn(text), undefined);
    }
    assert.ok(process.cpuUsage().user - started < 3_000_000);
  });
});
