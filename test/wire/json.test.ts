import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { ValueDecoder } from "#client/wire/codec/decoder.js";
import { DOUBLE, type JsonFacts, kindAt } from "#client/wire/json/document.js";
import { JsonError, lineColumn } from "#client/wire/json/error.js";
import { formatDouble } from "#client/wire/json/numbers.js";
import { type JsonObject, readOrdered } from "#client/wire/json/ordered-json.js";
import { prettyJson } from "#client/wire/json/pretty-json.js";
import { textOf } from "#client/wire/json/print.js";
import { parseJson } from "#client/wire/json/scan.js";
import { readJson as readExact, writeJson } from "#runtime/index.js";
import { proves, provesRow } from "../proves.js";
import { codePoint, documentText, numberText, stringText } from "./arbitraries.js";
import { serdeText } from "./serde-model.js";

const FULL = process.env.SVC_TEST_FULL === "1";
const RUNS = FULL ? 20_000 : 1000;

/** JSON.parse takes some escaped names for others: what is read here is compared without it (`JsonFacts.escapedNames`). */
const MISREADS_NAMES = Number.parseInt(process.versions.v8, 10) >= 13;

const bytes = (text: string) => Buffer.from(text);
const textIn = (form: "sent" | "canonical" | "legacy") => (text: string) =>
  textOf(parseJson(bytes(text)), 0, form).toString();
const canonical = textIn("canonical");
const sent = textIn("sent");

function outcomeOf(read: () => JsonFacts): JsonFacts | JsonError {
  try {
    const { large, doubles, escapedNames, escapes } = read();
    return { large, doubles, escapedNames, escapes };
  } catch (error) {
    assert.ok(error instanceof JsonError, String(error));
    return error;
  }
}

/** The fault of a text; undefined when it is read. */
function faultOf(text: string | Uint8Array): JsonError | undefined {
  const outcome = outcomeOf(() => parseJson(typeof text === "string" ? bytes(text) : text));
  return outcome instanceof JsonError ? outcome : undefined;
}

describe("JSON for authors", () => {
  it("reads back what it wrote, and integers of any length exactly", () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.oneof(
          number,
          fc.bigInt().filter((n) => BigInt(Number.MAX_SAFE_INTEGER) < (n < 0n ? -n : n)),
          fc.boolean(),
        ),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.string({ unit: "binary" }), tie("value"), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const text = writeJson(given);
        assert.deepStrictEqual(readExact(text), given);
        assert.equal(writeJson(readExact(Buffer.from(text))), text);
      }),
      { numRuns: 300 },
    );
    const text = '[9007199254740991,9007199254740993,-18446744073709551616,1.0,-0,1e3,{"id":1,"id":2}]';
    assert.deepStrictEqual(readExact(text), [2 ** 53 - 1, 2n ** 53n + 1n, -(2n ** 64n), 1, -0, 1000, { id: 2 }]);
  });

  it("calls toJSON of a value once, like JSON.stringify", () => {
    class Itself {
      a = [1n];
      toJSON() {
        return this;
      }
    }
    assert.equal(
      writeJson({ x: new Itself(), y: { toJSON: () => new Date(0) } }),
      '{"x":{"a":[1]},"y":"1970-01-01T00:00:00.000Z"}',
    );
  });

  it("says where it stopped", () => {
    const faults: readonly [text: string, message: string][] = [
      ["[1,]", "expected a value at byte 3"],
      ["[".repeat(128), "more than 127 levels of nesting at byte 127"],
      ["[1e999]", "number out of range at byte 1"],
      ['["a\ud800"]', "lone surrogate at byte 3"],
    ];
    for (const [text, message] of faults) assert.throws(() => readExact(text), { name: "JsonError", message });
    assert.throws(() => writeJson({ a: [1, () => {}] }), {
      name: "PlainValueError",
      message: /^a\[1\]: .*got a function/,
    });
  });
});

describe("canonical text", () => {
  it("equals that of an independent slow model of serde_json, in both spellings of exponents", () => {
    fc.assert(
      fc.property(documentText, (text) => {
        const wanted = serdeText(text);
        if (wanted === undefined) {
          assert.notEqual(faultOf(text), undefined, "serde_json refuses it");
          return;
        }
        assert.equal(canonical(text), wanted);
        assert.equal(textIn("legacy")(text), serdeText(text, true));
      }),
      { numRuns: RUNS },
    );
    proves("5.16", "5.18");
  });

  it("equals the model's for numbers of any length and magnitude", () => {
    fc.assert(
      fc.property(numberText, (text) => {
        const wanted = serdeText(text);
        assert.equal(faultOf(text) === undefined ? canonical(text) : undefined, wanted);
      }),
      { numRuns: RUNS * 2 },
    );
    proves("5.19", "5.20", "5.21", "5.22");
  });

  it("prints every double so that JavaScript reads it back, with a point or an exponent", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const text = formatDouble(value);
        assert.ok(Object.is(Number(text), value), text);
        assert.match(text, /[.e]/);
        assert.equal(formatDouble(value, true), text.replace("+", ""));
      }),
      { numRuns: RUNS },
    );
  });

  it("is its own canonical text, except for doubles that serde_json does not read as it printed them", () => {
    fc.assert(
      fc.property(documentText, (text) => {
        if (faultOf(text) !== undefined) return;
        const once = canonical(text);
        if (!parseJson(bytes(once)).doubles) assert.equal(canonical(once), once);
        assert.equal(sent(once), once, "no white space is left");
        assert.equal(canonical(sent(text)), once, "white space does not matter");
      }),
      { numRuns: RUNS },
    );
    // Shortest digits, read back by one multiplication too many.
    const drifting = "1.7976931348623157e308";
    assert.equal(canonical(drifting), serdeText(drifting));
    const found = Array.from({ length: 2000 }, (_, i) => `${i}.${i}e-300`).filter(
      (text) => canonical(canonical(text)) !== canonical(text),
    );
    assert.ok(found.length > 0, "serde_json's reading is not correctly rounded, so some texts move");
  });

  for (const [text, wanted] of [
    ["18446744073709551616.5e-20", "0.1844674407370955"],
    ["18446744073709551615", "18446744073709551615"],
    ["18446744073709551616", "1.8446744073709552e+19"],
    ["-9223372036854775808", "-9223372036854775808"],
    ["-9223372036854775809", "-9.223372036854776e+18"],
    ["-0", "-0.0"],
    ["1e15", "1000000000000000.0"],
    ["1e16", "1e+16"],
    ["0.00001", "0.00001"],
    ["0.000001", "1e-6"],
    ["0e999999999999", "0.0"],
    ["-0e-999999999999", "-0.0"],
    ["1e-999999999999", "0.0"],
    ['{"b":1,"a":2,"b":3}', '{"b":3,"a":2}'],
    ['{"2":1,"1":2,"\\u0032":3}', '{"2":3,"1":2}'],
    [' [ 1 , { "x" : [ ] } ] ', '[1,{"x":[]}]'],
    ['"\\u0041\\/\\u007f\\u2028\\u0000\\u001F"', '"A/\u007f\u2028\\u0000\\u001f"'],
  ] as const) {
    it(`${text} → ${wanted}`, () => {
      assert.equal(canonical(text), wanted);
      provesRow(text, {
        "5.17": ["1e15", "1e16", "0.00001", "0.000001"],
        "5.21": ["0e999999999999"],
        "5.23": ["18446744073709551616.5e-20", "-0", "-9223372036854775809"],
      });
    });
  }
});

describe("the text as sent", () => {
  it("is the text without white space outside strings, repeated members and spellings kept", () => {
    fc.assert(
      fc.property(documentText, (text) => {
        if (faultOf(text) !== undefined) return;
        // Strings aside, white space is all that goes.
        const wanted = text.replace(/"(?:[^"\\]|\\.)*"|[ \t\r\n]+/g, (part) => (part.startsWith('"') ? part : ""));
        assert.equal(sent(text), wanted);
      }),
      { numRuns: RUNS },
    );
  });

  it("is a view of the document when that has no white space, and the canonical text too when they are equal", () => {
    const body = bytes('{"a":[1,"x",{"b":null}]}');
    const document = parseJson(body);
    for (const form of ["sent", "canonical", "legacy"] as const) {
      const text = textOf(document, 0, form);
      assert.equal(text.buffer, body.buffer);
      assert.equal(text.byteOffset, body.byteOffset);
    }
    proves("5.30");
  });

  it("is available for any entry, not only for the root", () => {
    const document = parseJson(bytes('[ 1.50 , { "a" : 1e2 , "a" : "\\u0062" } ]'));
    const texts = (form: "sent" | "canonical") => [4, 8].map((entry) => textOf(document, entry, form).toString());
    assert.deepEqual(texts("sent"), ["1.50", '{"a":1e2,"a":"\\u0062"}']);
    assert.deepEqual(texts("canonical"), ["1.5", '{"a":"b"}']);
  });
});

describe("accepted texts", () => {
  /** Texts that are often JSON and often just not. */
  const almostJson = fc.oneof(
    documentText,
    fc
      .array(
        fc.oneof(
          fc.constantFrom(...'[]{},:"\\-+.eE0123456789 \n\ttrue false null'.split("")),
          fc.constantFrom(
            "true",
            "false",
            "null",
            '"a"',
            '"a":',
            "1",
            "-0",
            "1e1",
            "\\u",
            "\ufeff",
            "NaN",
            "Infinity",
            "'a'",
          ),
          stringText,
          numberText,
        ),
        { maxLength: 8 },
      )
      .map((parts) => parts.join("")),
    fc
      .tuple(documentText, fc.nat(), fc.string({ unit: codePoint, maxLength: 2 }), fc.nat({ max: 3 }))
      .map(([text, at, insert, remove]) => {
        const place = at % (text.length + 1);
        return `${text.slice(0, place)}${insert}${text.slice(place + remove)}`;
      })
      .map((text) => text.toWellFormed()),
  );

  it("are those of JSON.parse, except for deep nesting, lone surrogates and numbers out of range", () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        const fault = faultOf(text);
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch {
          assert.notEqual(fault, undefined, "JSON.parse refuses it");
          return;
        }
        if (fault === undefined) return;
        if (fault.reason === "lone surrogate escape") assert.match(text, /\\u[dD][89a-fA-F]/);
        else if (fault.reason === "number out of range")
          assert.match(bytes(text).subarray(fault.offset).toString(), /^-?\d[\d.]*[eE\d]/);
        else assert.fail(`JSON.parse reads ${JSON.stringify(parsed)}, here: ${fault.reason}`);
      }),
      { numRuns: RUNS * 2 },
    );
  });

  it("are those that the model accepts", () => {
    fc.assert(
      fc.property(almostJson, (text) => assert.equal(faultOf(text) === undefined, serdeText(text) !== undefined)),
      { numRuns: RUNS * 2 },
    );
  });

  it("are valid UTF-8; the error is at the first invalid byte", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 3 }), (before, bad) => {
        const text = Buffer.concat([
          bytes(
            `"${Buffer.from(before)
              .toString("latin1")
              .replace(/[^ !#-[\]-\u{10ffff}]/gu, "")}`,
          ),
          bad,
          bytes('"'),
        ]);
        const valid = Buffer.from(text.toString("utf8")).equals(text);
        const fault = faultOf(text);
        if (valid) return;
        assert.equal(fault?.reason, "invalid UTF-8");
        assert.ok((fault?.offset ?? -1) <= text.length);
      }),
      { numRuns: RUNS },
    );
  });

  const deep = (levels: number, open = "[", close = "]", leaf = "") =>
    `${open.repeat(levels)}${leaf}${close.repeat(levels)}`;
  it("have no string with a control character, at any position", () => {
    const memory = Buffer.alloc(400);
    for (const length of [1, 63, 64, 65, 66, 67, 68, 130, 200]) {
      for (let offset = 0; offset < 4; offset++) {
        const text = memory.subarray(offset, offset + length + 2).fill("~ é");
        text[0] = text[length + 1] = 0x22;
        // An é that is cut in half.
        if (text[length] === 0xc3) text[length] = 0x7f;
        for (let place = 1; place <= length; place++) {
          const kept = text[place] as number;
          if (kept >= 0x80) continue;
          for (const [byte, reason] of [
            [0x00, "control character in a string"],
            [0x1f, "control character in a string"],
            [0x20, undefined],
            [0x22, "text after the document"],
            [0x5c, place === length ? "unexpected end of the text" : "invalid escape"],
            [0x80, "invalid UTF-8"],
          ] as const) {
            text[place] = byte;
            assert.equal(faultOf(text)?.reason, reason, `${byte} at ${place} of ${length}`);
          }
          text[place] = kept;
        }
      }
    }
  });

  it("have up to 127 levels of arrays and objects", () => {
    assert.equal(canonical(deep(127)), deep(127));
    assert.equal(canonical(deep(127, '{"":', "}", "1")), deep(127, '{"":', "}", "1"));
    for (const text of [deep(128), deep(128, '{"":', "}", "1"), `${deep(127)}`.replace("[]", "[[{}]]")]) {
      const fault = faultOf(text);
      assert.equal(fault?.reason, "more than 127 levels of nesting");
      assert.match(text[fault?.offset ?? 0] ?? "", /[[{]/);
    }
    // Side by side is no nesting.
    assert.equal(faultOf(`[${"[[]],".repeat(1000)}[]]`), undefined);
    proves("1.19");
  });
});

describe("errors", () => {
  it("have a position within the text and a fixed wording", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), documentText, (noise, text) => {
        for (const broken of [noise, text.slice(0, -1), `${text}${noise}`, noise + text]) {
          const fault = faultOf(broken);
          if (fault === undefined) continue;
          assert.ok(fault.offset >= 0 && fault.offset <= bytes(broken).length);
          assert.match(fault.message, / at byte \d+$/);
          assert.ok(REASONS.has(fault.reason), fault.reason);
        }
      }),
      { numRuns: RUNS },
    );
  });

  const REASONS = new Set([
    ...["unexpected end of the text", "expected a value", "expected a digit", "leading zero in a number"],
    "expected a value, got a byte order mark",
    ...["number out of range", "invalid escape", "lone surrogate escape", "control character in a string"],
    ...["expected `,` or `}`", "expected `,` or `]`", "expected a member name in double quotes", "expected `:`"],
    ...["text after the document", "more than 127 levels of nesting", "invalid UTF-8"],
  ]);

  for (const [text, reason, offset] of [
    ["", "unexpected end of the text", 0],
    ["  ", "unexpected end of the text", 2],
    ["[1", "unexpected end of the text", 2],
    ['"abc', "unexpected end of the text", 4],
    ['"ab\\', "unexpected end of the text", 4],
    ['"\\u12', "unexpected end of the text", 5],
    ["-", "unexpected end of the text", 1],
    ["1.", "unexpected end of the text", 2],
    ["tru", "unexpected end of the text", 3],
    ["trux", "expected a value", 3],
    ["[1 2]", "expected `,` or `]`", 3],
    ['{"a":1 "b":2}', "expected `,` or `}`", 7],
    ['{"a" 1}', "expected `:`", 5],
    ["{a:1}", "expected a member name in double quotes", 1],
    ['{"a":1,}', "expected a member name in double quotes", 7],
    ["[1,]", "expected a value", 3],
    ["[,1]", "expected a value", 1],
    ["01", "leading zero in a number", 1],
    ["-01", "leading zero in a number", 2],
    ["+1", "expected a value", 0],
    [".5", "expected a value", 0],
    ["1.e1", "expected a digit", 2],
    ["1e", "unexpected end of the text", 2],
    ["1e+x", "expected a digit", 3],
    ["-x", "expected a digit", 1],
    ["[1e400]", "number out of range", 1],
    ["[1e309]", "number out of range", 1],
    ["[1E+0309]", "number out of range", 1],
    [`[${"1".repeat(211)}e99]`, "number out of range", 1],
    [`[-1${"0".repeat(210)}.0e+99]`, "number out of range", 1],
    [`[${"9".repeat(310)}]`, "number out of range", 1],
    ['"a\u0001"', "control character in a string", 2],
    ['"a\n"', "control character in a string", 2],
    ['"\\x"', "invalid escape", 2],
    ['"\\u12g4"', "invalid escape", 5],
    ['"a\\ud800"', "lone surrogate escape", 2],
    ['"\\ud800\\u0041"', "lone surrogate escape", 1],
    ['"\\udc00\\ud800"', "lone surrogate escape", 1],
    ["1 2", "text after the document", 2],
    ["{} x", "text after the document", 3],
    ["\ufeff1", "expected a value, got a byte order mark", 0],
    ["nul\u0000", "expected a value", 3],
  ] as const) {
    it(`${JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)}: ${reason} at byte ${offset}`, () => {
      const fault = faultOf(text);
      assert.equal(fault?.reason, reason);
      assert.equal(fault?.offset, offset);
      provesRow(text, { "5.21": ["[1e400]"] });
    });
  }

  for (const [hex, offset] of [
    ["22ff22", 1],
    ["22c328", 1],
    ["22eda08022", 1],
    ["22c0af22", 1],
    ["22f490808022", 1],
    ["22efbfbd8022", 4],
    ["80", 0],
  ] as const) {
    it(`bytes ${hex}: invalid UTF-8 at byte ${offset}`, () => {
      const fault = faultOf(Buffer.from(hex, "hex"));
      assert.equal(fault?.reason, "invalid UTF-8");
      assert.equal(fault?.offset, offset);
    });
  }

  it("have a line and a column, counted from 1 in characters", () => {
    const text = '{\n  "é🦭": x\n}';
    const fault = faultOf(text);
    assert.deepEqual(lineColumn(bytes(text), fault?.offset ?? -1), { line: 2, column: 9 });
    assert.deepEqual(lineColumn(bytes(text), 0), { line: 1, column: 1 });
    assert.deepEqual(lineColumn(bytes(""), 0), { line: 1, column: 1 });
    assert.deepEqual(lineColumn(bytes("\n"), 1), { line: 2, column: 1 });
  });
});

describe("values", () => {
  it("are those of JSON.parse where nothing is lost", () => {
    const any = new ValueDecoder({ kind: "json" });
    fc.assert(
      fc.property(documentText, (text) => {
        if (faultOf(text) !== undefined) return;
        const { large, escapedNames } = parseJson(bytes(text));
        if (large) return;
        const value = any.read(bytes(text));
        if (!(escapedNames && MISREADS_NAMES)) assert.deepEqual(value, JSON.parse(text));
      }),
      { numRuns: RUNS },
    );
  });

  it("keep integers exact and distinguish doubles from them", () => {
    const any = new ValueDecoder({ kind: "json" });
    assert.deepEqual(any.read(bytes("[9007199254740991,9007199254740992,-9007199254740993,18446744073709551615]")), [
      9007199254740991,
      9007199254740992n,
      -9007199254740993n,
      18446744073709551615n,
    ]);
    for (const text of ["1.0", "1e3", "-0", "18446744073709551616", "-9223372036854775809", "1.5"]) {
      assert.equal(kindAt(parseJson(bytes(text)), 0), DOUBLE, text);
      assert.ok(Object.is(any.read(bytes(text)), Number(text)), text);
    }
    proves("5.35");
  });

  it("keep the order of members if it matters", () => {
    const value = readOrdered(bytes('{"10":1,"2":2,"__proto__":3,"2":4,"b":5,"2":6}')) as JsonObject;
    assert.deepEqual(
      [...value.members],
      [
        ["10", 1],
        ["2", 6],
        ["__proto__", 3],
        ["b", 5],
      ],
    );
  });

  it("are printed with one member per line", () => {
    assert.equal(
      prettyJson('{"b":[],"a":[1.50,{"c":{}}]}'),
      '{\n  "b": [],\n  "a": [\n    1.50,\n    {\n      "c": {}\n    }\n  ]\n}',
    );
    const odd = { 'a"{,': ["\\", '\\"', "x:[ ]"], deep: [[{}], -1e30, null, true] };
    for (const space of [undefined, 2, "\t"]) {
      assert.equal(prettyJson(JSON.stringify(odd, undefined, space)), JSON.stringify(odd, undefined, 2));
    }
  });
});
