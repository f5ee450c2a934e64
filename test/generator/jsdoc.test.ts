/** JSDoc as schema: the allow-list, wrong values, and comments that other tools would execute. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { KNOWN_TAGS } from "#generator/compile/types/jsdoc.js";
import { analyseWithin } from "#generator/compile/types/slow-patterns.js";
import { diffDocuments, formatDifferences, isBroken } from "#generator/contract/diff.js";
import { type Json, type JsonObject, printJson, readJson } from "#generator/text/json.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { proves } from "../proves.js";
import { REPOSITORY } from "../repository.js";
import { STRICT, ToolProject, toolSource } from "./project.js";

const input = `{
  /**
   * How old.
   * Two lines, \`code\` and {@link Age}.
   * @minimum 0
   * @maximum 150
   * @asType integer
   * @example 42
   * @default 18
   */
  age: number;
  /** @minLength 2 @maxLength 5 */
  oneLine: string;
  /**
   * @minLength 2
   * @maxLength 5
   * @pattern ^[^@"\`{}]+@[a-z\\d]+$
   * @title A mail
   * @deprecated use another
   */
  mail?: string;
  /**
   * @minItems 2
   * @uniqueItems
   * @exclusiveMinimum 0.5
   */
  numbers: number[];
  /**
   * @format int64
   * @minimum -9007199254740993
   * @multipleOf 3
   */
  exact: bigint;
  /** @maximum 18446744073709551617 */
  far: number;
  aliased: Age;
  /** @maximum 9 */
  narrowed: Age;
  /** @format email */
  formatted: string | null;
  documented: Documented;
  /** @format uint8 */
  small: number;
  /** @maximum 5 @format int16 */
  list: number[];
}`;
const before = `
/**
 * An age.
 * @minimum 1
 */
type Age = number;
/**
 * Of its own.
 * @additionalProperties false
 */
interface Documented {
  /** Inside. */
  a: string;
}
`;

/** The schemas of the ports of an input, as texts by name, and what is diagnosed. */
function schemasOf(input: string, before = "") {
  const project = new ToolProject({ "src/a.ts": toolSource("A", input, '"done"', before) });
  const { contracts = [], diagnostics } = project.generate();
  const schema = readJson(contracts[0]?.inputSchema ?? "{}") as JsonObject;
  const { members } = schema.get("properties") as JsonObject;
  return { schemas: Object.fromEntries([...members].map(([name, each]) => [name, printJson(each)])), diagnostics };
}

test("supported tags become keywords, and descriptions are kept", async () => {
  const project = new ToolProject({
    "src/a.ts": toolSource("A", input, "{\n /** Went well. */\n ok: {\n /** A port. */\n p: string } }", before),
  });
  project.build();
  const contracts = await project.contracts();
  const contract = contracts[0] as Contract;
  const properties = (readJson(contract.inputSchema) as JsonObject).get("properties") as JsonObject;
  const wanted: Readonly<Record<string, string>> = {
    age: '{"type":"integer","minimum":0,"maximum":150,"description":"How old.\\nTwo lines, `code` and {@link Age}.","default":18,"examples":[42]}',
    oneLine: '{"type":"string","minLength":2,"maxLength":5}',
    mail: '{"type":["string","null"],"minLength":2,"maxLength":5,"pattern":"^[^@\\"`{}]+@[a-z\\\\d]+$","description":"Deprecated: use another","title":"A mail","deprecated":true}',
    numbers: '{"type":"array","items":{"type":"number","exclusiveMinimum":0.5},"minItems":2,"uniqueItems":true}',
    exact: '{"type":"integer","format":"int64","minimum":-9007199254740993,"multipleOf":3}',
    far: '{"type":"number","maximum":18446744073709551617}',
    aliased: '{"type":"number","minimum":1,"description":"An age."}',
    narrowed: '{"type":"number","minimum":1,"maximum":9,"description":"An age."}',
    formatted: '{"type":["string","null"],"format":"email"}',
    documented:
      '{"type":"object","properties":{"a":{"type":"string","description":"Inside."}},"required":["a"],"additionalProperties":false,"description":"Of its own."}',
    small: '{"type":"integer","format":"uint8","minimum":0,"maximum":255}',
    list: '{"type":"array","items":{"type":"integer","format":"int16","minimum":-32768,"maximum":5}}',
  };
  for (const [name, text] of Object.entries(wanted)) assert.equal(printJson(properties.get(name) as Json), text, name);
  assert.match(contract.outputSchema, /"p":\{"type":"string","description":"A port\."\}/);
  assert.match(contract.outputSchema, /"description":"Went well\."/);

  const decoder = new InputDecoder(contract);
  const good = {
    age: "42",
    oneLine: '"abc"',
    mail: '"a@b1"',
    numbers: "[1,2]",
    exact: "-9007199254740993",
    far: "1",
    aliased: "1",
    narrowed: "9",
    formatted: '"x@example.org"',
    documented: '{"a":""}',
    small: "255",
    list: "[-32768,5]",
  };
  const decode = (changes: Partial<typeof good>) => {
    const members = Object.entries({ ...good, ...changes }).map(([name, text]) => `"${name}":${text}`);
    return decoder.decodeUnsigned(Buffer.from(`{${members.join(",")}}`));
  };
  assert.equal(decode({}).exact, -9007199254740993n);
  const bad: Partial<typeof good>[] = [
    { age: "1.5" },
    { age: "-1" },
    { age: "151" },
    { oneLine: '"a"' },
    { oneLine: '"abcdef"' },
    { mail: '"a@B"' },
    { numbers: "[1]" },
    { numbers: "[1,1]" },
    { numbers: "[0.5,1]" },
    { exact: "-9007199254740996" },
    { exact: "4" },
    { exact: "9223372036854775808" },
    { aliased: "0" },
    { narrowed: "10" },
    { formatted: '"x"' },
    { documented: '{"a":"","b":1}' },
    { small: "256" },
    { small: "1.5" },
    { list: "[6]" },
    { list: "[-32769]" },
  ];
  for (const change of bad) assert.throws(() => decode(change), /input_deserialization_error/, JSON.stringify(change));
  proves("5.36");
});

test("the comment of an element type is used if its list or tuple has a name", () => {
  const before = `/** @asType integer */
type Id = number;
type Ids = Id[];
type Again = Ids;
type Pair = [Id, string];`;
  const id = '{"type":"integer"}';
  const ids = `{"type":["array","null"],"items":${id}}`;
  const rest = '"items":false,"minItems":2,"maxItems":2';
  const pair = `{"type":["array","null"],"prefixItems":[${id},{"type":"string"}],${rest}}`;
  assert.deepEqual(schemasOf("{ ids?: Ids; again?: Again; pair?: Pair }", before).schemas, { ids, again: ids, pair });
});

test("the comment of an alias is used if it is the type of a record's values", () => {
  const before = `/** @maxLength 20 */
type Name = string;
/** @asType integer */
type Count = number;
type Counts<T> = Record<string, T>;`;
  const input = '{ names: Record<string, Name>; two: Record<"a" | "b", Count>; lists: Counts<Count[]> }';
  const count = '{"type":"integer"}';
  assert.deepEqual(schemasOf(input, before).schemas, {
    names: '{"type":"object","additionalProperties":{"type":"string","maxLength":20}}',
    two: `{"type":"object","properties":{"a":${count},"b":${count}},"required":["a","b"]}`,
    lists: `{"type":"object","additionalProperties":{"type":"array","items":${count}}}`,
  });
});

/** What a project with this input complains about, a line each: code, subject, place of what is marked, detail. */
function complaints(input: string, before = "", files: Readonly<Record<string, string>> = {}): string[] {
  const project = new ToolProject({ "src/a.ts": toolSource("A", input, '"done"', before), ...files });
  return project.generate().diagnostics.map(({ code, subject, place, message }) => {
    const at = place?.source.slice(place.column - 1, place.column - 1 + place.length);
    return `${code} ${subject} ${place?.line} ${at}: ${message.replace(/^.*?(?:: |$)/, "")}`;
  });
}

test("the comments of an enum and of its members are its description", () => {
  const declared = `/**
 * How large.
 * @deprecated
 */
enum Size {
  /** Fits a letter box. */
  Small = "small",
  Middle = "middle",
  /** Needs a van. */
  Big = "big",
}
/** Bare. */ enum Bare { A, B }
enum Silent { A, B }
/** Of the alias. */ type Alias = Size;`;
  const input = `{
  size: Size;
  maybe?: Size;
  orNull: Size | null;
  sizes?: Size[];
  one: Size.Big;
  two: Size.Big | Size.Small;
  /** Of the member. */
  own: Bare;
  bare: Bare;
  silent: Silent;
  alias: Alias;
}`;
  const description = String.raw`"description":"How large.\nSmall: Fits a letter box.\nBig: Needs a van.","deprecated":true`;
  const size = `{"type":"string","enum":["small","middle","big"],${description}}`;
  const bare = '{"type":"number","enum":[0,1],"description":';
  const orNull = size.replace('"string"', '["string","null"]').replace('"big"]', '"big",null]');
  assert.deepEqual(schemasOf(input, declared).schemas, {
    size,
    maybe: orNull,
    orNull,
    sizes: `{"type":["array","null"],"items":${size}}`,
    one: '{"type":"string","const":"big","description":"Needs a van."}',
    two: '{"type":"string","enum":["big","small"]}',
    own: `${bare}"Of the member."}`,
    bare: `${bare}"Bare."}`,
    silent: '{"type":"number","enum":[0,1]}',
    alias: size.replace('"How large.\\nSmall: Fits a letter box.\\nBig: Needs a van."', '"Of the alias."'),
  });
});

test("a wrong value and a wrong place are diagnosed at the tag", () => {
  const found = complaints(
    `{
  /** @minimum low */
  a: number;
  /** @minLength 1 */
  b: number;
  /** @pattern [ */
  c: string;
  /** @format int64 */
  d: number;
  /**
   * Some words.
   * @maxItems -1
   * and more of them
   */
  e?: string[];
  /** @asType string */
  f: number;
  /** @minimum 1.5 @format int32 */
  g: bigint;
  /** @notAKeyword 5 @see nothing */
  h: number;
  /** @notSecret */
  password: string;
  authToken: string;
  tokenCount: number;
  /** @multipleOf 0 @multipleOf x */
  i: number;
  /** @uniqueItems */
  j: { k: string };
  /** @format email */
  l: Date;
  m: Aliased;
  /** @format */
  n: string;
  /** @pattern */
  o: string;
}`,
    "/** @minItems 2 */ type Aliased = number | null;",
  );
  assert.deepEqual(found, [
    "SVC170 A.Input.a 4 @minimum low: @minimum expects a number",
    "SVC171 A.Input.b 6 @minLength 1: @minLength applies to text, not to a number",
    "SVC170 A.Input.c 8 @pattern [: @pattern expects a regular expression (with the flag u): Unterminated character class",
    "SVC199 A.Input.d 10 @format int64: @format int64; the schema has the type number without a format",
    "SVC170 A.Input.e 14 @maxItems -1: @maxItems expects a whole number from 0",
    'SVC170 A.Input.f 18 @asType string: @asType expects "integer"',
    'SVC171 A.Input.g 20 @format int32: @format on a bigint expects "int64" or "uint64"',
    "SVC171 A.Input.g 20 @minimum 1.5: @minimum on a bigint expects a whole number",
    "SVC170 A.Input.i 28 @multipleOf 0: @multipleOf expects a number above 0",
    "SVC170 A.Input.i 28 @multipleOf x: @multipleOf expects a number",
    "SVC171 A.Input.j 30 @uniqueItems: @uniqueItems applies to lists, not to an object",
    'SVC171 A.Input.l 32 @format email: @format on a Date expects "date-time"',
    "SVC171 A.Input.m 2 @minItems 2: @minItems applies to lists, not to any part of this union",
    "SVC170 A.Input.n 35 @format: @format expects the name of a format",
    "SVC170 A.Input.o 37 @pattern: @pattern expects a regular expression",
    "SVC154 A.Input.authToken 26 authToken: authToken",
  ]);
});

test("formats of other generators on a number cause a warning, and the schema has none", () => {
  const tags = ["@format uint64", "@format double", "@TJS-type integer"];
  const members = tags.map((tag, i) => `/** ${tag} */\n a${i}: number[];`).join("\n");
  const { diagnostics, schemas } = schemasOf(`{\n${members}\n}`);
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity !== "note").map(({ code, subject }) => [code, subject]),
    tags.map((_, i) => ["SVC199", `A.Input.a${i}`]),
  );
  assert.equal(schemas.a0, '{"type":"array","items":{"type":"number"}}');
});

test("a pattern in slashes, and one that takes exponential time, is refused; one of quadratic time is noted", () => {
  const taggedWith = (tags: readonly string[]) =>
    complaints(`{\n${tags.map((each, i) => `  /** ${each} */\n  a${i}: string;`).join("\n")}\n}`).map((line) =>
      line.replace(/ A\.Input\.a/, " "),
    );
  assert.deepEqual(taggedWith(["@pattern /^a+$/", "@pattern /b/gi", "@pattern ^/a/$", "@pattern /"]), [
    String.raw`SVC170 0 4 @pattern /^a+$/: @pattern expects a regular expression without slashes: write ^a+$, or \/^a+$\/ if the pattern contains the slashes`,
    String.raw`SVC170 1 6 @pattern /b/gi: @pattern expects a regular expression without slashes and flags: write b, or \/b\/ if the pattern contains the slashes`,
  ]);
  const exponential = [
    ["^(a+)+$", "(a+)+"],
    ["^(?:\\w+\\s?)*$", "(?:\\w+\\s?)*"],
    ["^(?:\\w|\\d)*$", "(?:\\w|\\d)*"],
    ["^(?:foo|bar|f.o)+$", "(?:foo|bar|f.o)+"],
    ["^(?=(?:b|(a*)*)$)c", "(a*)*"],
  ];
  assert.deepEqual(
    taggedWith(exponential.map(([pattern]) => `@pattern ${pattern}`)),
    exponential.map(([pattern, part], i) => `SVC177 ${i} ${4 + 2 * i} @pattern ${pattern}: ${part}`),
  );
  assert.deepEqual(
    taggedWith(["@pattern \\s+$", "@maxLength 5000 @pattern [a-z]+\\d", "@pattern \\s+$ @maxLength 1000"]),
    [
      "SVC178 0 4 @pattern \\s+$: \\s+",
      "SVC196 1 6 @pattern [a-z]+\\d: it matches a part of the text: begin it with ^ and end it with $, or write .* around it",
      "SVC178 1 6 @pattern [a-z]+\\d: [a-z]+",
    ],
  );
  const good = [
    "^[a-z]+$",
    "^(?:[a-z0-9]+-)*[a-z0-9]+$",
    "^(?:0|[1-9]\\d*)(?:\\.\\d+)?$",
    "^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
    "^[a-z\\d _-]{1,64}$",
    "^(?:a|a){1,3}$",
    "^(?:[a-z]|[0-9]|_)*$",
    "^[\\w.+-]+@[\\w-]+\\.[a-z]{2,}$",
    "^a{1,1000000}$",
  ];
  assert.deepEqual(taggedWith(good.map((pattern) => `@pattern ${pattern}`)), []);
});

test("tags that may not have the intended effect, and patterns that other engines refuse, cause notes", () => {
  const part = "it matches a part of the text: begin it with ^ and end it with $, or write .* around it";
  const [around, back, unicode] = [
    "look-around does not compile in Go and in Rust's regex",
    "back-references do not compile in Go and in Rust's regex",
    "\\p{…} does not compile in Python's re",
  ];
  const noted: readonly (readonly [tag: string, ...notes: string[]])[] = [
    [
      "@pattern ^\\d{3}$ the part number",
      "SVC196: it matches no text, because text follows $: write remarks above the tags",
    ],
    ["@pattern [A-Z]{3}", `SVC196: ${part}`],
    ["@pattern foo|bar"],
    ["@pattern (?<!a)b", `SVC197: ${around}`],
    ["@pattern ^(?=a)\\p{L}(.)\\1$", `SVC197: ${around}, and ${back}, and ${unicode}`],
    ["@example '123'", "SVC196: the quotes are part of the value: remove them"],
    ["@example 123"],
    ["@minLength 2\n* @minLength 3", "SVC196: @minLength is there twice, and both apply"],
  ];
  for (const [tag, ...notes] of noted) {
    const found = complaints(`{\n/** ${tag} */\na: string;\n}`);
    assert.deepEqual(
      found.map((line) => line.replace(/ A\.Input\.a \d+ .*?(?:: |(?<=Length \d): )/, ": ")),
      notes,
      tag,
    );
  }
});

test("a pattern that would take hours to analyse is accepted", () => {
  const branches = Array.from({ length: 300 }, (_, i) => `[a-z0-9]{${i + 1}}`).join("|");
  const pattern = `^(?:${branches})*$`;
  assert.equal(analyseWithin(100, pattern), undefined);
  // The same with the five seconds of svc-gen.
  if (process.env.SVC_TEST_FULL === "1") {
    assert.deepEqual(complaints(`{\n  /** @pattern ${pattern} */\n  a: string;\n}`), []);
  }
});

test("numbers of tags may be larger than JavaScript's, and are then diagnosed or kept", async () => {
  const found = complaints(`{
  /** @maximum 1e400 */
  a: number;
  /** @default 1e400 */
  b: number;
  /** @default 18446744073709551616 */
  c: bigint;
  /** @format uint64 @example -1 */
  d: bigint;
}`);
  assert.deepEqual(found, [
    "SVC170 A.Input.a 4 @maximum 1e400: @maximum expects a number",
    "SVC173 A.Input.b 6 @default 1e400: expected a number, got a string",
    "SVC173 A.Input.c 8 @default 18446744073709551616: expected an integer from -2^63 to 2^64-1, got an integer outside its range",
    "SVC173 A.Input.d 10 @example -1: expected an uint64 integer, got an integer outside its range",
  ]);
  const kept = `{
  /** @minimum 9007199254740993 */
  large: number;
  /** @maximum 1e18 */
  exact: bigint;
  /** @pattern ^.{3}$ */
  both: \`x-\${string}\`;
}`;
  const project = new ToolProject({ "src/a.ts": toolSource("A", kept) });
  project.build();
  const contracts = await project.contracts();
  const contract = contracts[0] as Contract;
  assert.match(contract.inputSchema, /"large":\{"type":"number","minimum":9007199254740993\}/);
  assert.match(contract.inputSchema, /"pattern":"\^\.\{3\}\$","allOf":\[\{"pattern":"\^x-\[\\\\s\\\\S\]\*\$"\}\]/);
  const decoder = new InputDecoder(contract);
  const decode = (large: string, exact: string, both: string) =>
    decoder.decodeUnsigned(Buffer.from(`{"large":${large},"exact":${exact},"both":"${both}"}`));
  assert.equal(decode("1e16", "1000000000000000000", "x-1").exact, 10n ** 18n);
  assert.throws(() => decode("5", "1", "x-1"), /input_deserialization_error/);
  assert.throws(() => decode("1e16", "1000000000000000001", "x-1"), /input_deserialization_error/);
  assert.throws(() => decode("1e16", "1", "x-12"), /input_deserialization_error/);
  assert.throws(() => decode("1e16", "1", "abc"), /input_deserialization_error/);
});

test("a list port whose tags allow no possible number of values is an error", () => {
  const input = `{
  none: [];
  /** @maxItems 0 */
  capped: string[];
  /** @minItems 257 */
  long: string[];
  one?: [];
  maybe: [string?];
}`;
  assert.deepEqual(
    complaints(input).filter((line) => line.startsWith("SVC157")),
    ["SVC157 A.Input.none 4 none: ", "SVC157 A.Input.capped 6 capped: ", "SVC157 A.Input.long 8 long: "],
  );
});

test("tags that together allow no value are reported at the tag that causes this", () => {
  /** What is said of each of some members, generated together. */
  const tagged = (members: readonly (readonly [tags: string, type: string, ...unknown[]])[]) => {
    const source = members.map(([tags, type], i) => `/** ${tags} */\nx${i}?: ${type};`);
    const found = complaints(`{\n${source.join("\n")}\n}`).filter((line) => !/^SVC15[68]/.test(line));
    const own = members.map((_, i) => `A.Input.x${i} ${4 + 2 * i} `);
    assert.deepEqual(
      found.filter((line) => !own.some((place) => line.includes(` ${place}`))),
      [],
    );
    return own.map((place) =>
      found.filter((line) => line.includes(` ${place}`)).map((line) => line.replace(place, "")),
    );
  };
  const contradictions: [tags: string, type: string, at: string][] = [
    ["@minimum 5 @maximum 1", "number", "@maximum 1"],
    ["@maximum 1 @minimum 5", "number | string", "@maximum 1"],
    ["@minimum 1 @exclusiveMaximum 1", "number", "@exclusiveMaximum 1"],
    ["@format int64 @minimum 9223372036854775808", "bigint", "@minimum 9223372036854775808"],
    ["@format uint64 @exclusiveMaximum 0", "bigint", "@exclusiveMaximum 0"],
    ["@minimum 18446744073709551616", "bigint", "@minimum 18446744073709551616"],
    ["@maximum 1 @exclusiveMinimum 1", "bigint", "@exclusiveMinimum 1"],
    ["@exclusiveMinimum 2 @exclusiveMaximum 2", "number[]", "@exclusiveMaximum 2"],
    ["@minLength 2 @maxLength 1", "string", "@maxLength 1"],
    ["@minItems 2 @maxItems 1", "string[]", "@maxItems 1"],
    ["@minItems 4", "[string, string, string?]", "@minItems 4"],
    ["@maxItems 1", "[string, ...string[], string]", "@maxItems 1"],
  ];
  for (const [i, found] of tagged(contradictions).entries()) {
    const [tags, type, at] = contradictions[i] ?? assert.fail();
    const [first, ...more] = found;
    assert.match(first ?? "nothing", new RegExp(`^SVC172 ${at}: @`), `${tags} ${type}`);
    assert.deepEqual(more, [], tags);
  }
  const possible: [tags: string, type: string][] = [
    ["@minimum 1 @maximum 1", "number"],
    ["@exclusiveMinimum 1 @exclusiveMaximum 2", "number"],
    ["@minimum 1.5 @maximum 2.5 @asType integer", "number"],
    ["@minimum -20 @maximum -11 @multipleOf 10", "bigint"],
    ["@format uint64 @maximum 0", "bigint"],
    ["@minLength 2 @maxLength 2", "string"],
    ["@minItems 2 @maxItems 3", "[string, string, string?]"],
    ["@minItems 9", "[string, ...string[]]"],
  ];
  for (const [i, found] of tagged(possible).entries()) assert.deepEqual(found, [], possible[i]?.join(" "));
});

test("a default or example that does not fit the type is reported at the tag", () => {
  const found = complaints(
    `{
  /** @default low @example 3 @example [3] */
  a: number;
  /** @default yesterday @example "2020-01-01T00:00:00Z" @example "2020-02-30T00:00:00Z" */
  b: Date;
  /** @example {"a": 1, "b": {"a": "x"}} @example {"a": 1} */
  c: Tree;
  /** @default null @example 9007199254740993 @example 1.5 */
  d?: bigint;
  /** @default null @example plain words @example true */
  e: string;
  /** @example 5 @example 11 */
  f: Small;
  /** @example "AQ==" @example "AQ" */
  g: Uint8Array;
  /** @example nobody @example a@example.org @format email */
  h: string;
  /** @example "a" @example null */
  i: string | number;
}`,
    "/** @maximum 10 @default 12 */\ntype Small = number;\n/** @example {} */\ninterface Tree { a: number; b?: Tree }",
  );
  assert.deepEqual(
    found.map((line) => line.replace(/^SVC173 A\.Input\./, "")),
    [
      "a 7 @default low: expected a number, got a string",
      "a 7 @example [3]: expected a number, got an array",
      "b 9 @default yesterday: expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string",
      'b 9 @example "2020-02-30T00:00:00Z": expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string',
      "c 4 @example {}: a: expected a value, got nothing",
      'c 11 @example {"a": 1, "b": {"a": "x"}}: b.a: expected a number, got a string',
      "d 13 @example 1.5: expected an integer, got a number with a point or exponent, such as 1.0",
      "e 15 @default null: expected a string, got null",
      "f 2 @default 12: expected a number of at most 10, got a larger one",
      "f 17 @example 11: expected a number of at most 10, got a larger one",
      'g 19 @example "AQ": expected standard base64 with padding, got a string',
      "h 21 @example nobody: expected a string of the format email, got another string",
      "i 23 @example null: expected a string or a number, got null",
    ],
  );
});

test("for a text, the value of a tag may be a text without quotes", () => {
  const input = '{\n/** @example 12345 @example true @example "quoted" @default 7 */\nzip: string }';
  const { schemas, diagnostics } = schemasOf(input);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["SVC159"],
  );
  assert.equal(schemas.zip, '{"type":"string","default":"7","examples":["12345","true","quoted"]}');
});

test("a misspelt tag or an unchecked format causes a note; tags of other tools or in dependencies do not", () => {
  const ordinary =
    "abstract access alias async augments author borrows callback class classdesc constant constructs copyright description enum " +
    "event exports external file fires function generator global hideconstructor ignore implements inheritdoc inner " +
    "instance interface kind lends license listens member memberof mixes mixin module name namespace override package param " +
    "private property protected public readonly requires returns see since static summary this throws todo tutorial type " +
    "typedef variation version yields alpha beta decorator defaultValue eventProperty experimental inheritDoc internal label " +
    "link packageDocumentation privateRemarks remarks sealed typeParam virtual satisfies template overload import category " +
    "group hidden items nullable unit time";
  const input = `{
  /** @minimun 3 */
  a: number;
  /** @maxLenght 3 @titel x */
  b: string;
  /** @Pattern x @max 3 @integer */
  c: string;
  /** ${ordinary
    .split(" ")
    .map((tag) => `@${tag}`)
    .join("\n * ")} */
  d: string;
  /** @format iban */
  e: string;
  /** @format datetime */
  f: string;
  g: Foreign;
  /** @maxProperties 50 */
  h: Record<string, string>;
}`;
  const found = complaints(input, 'import type { Foreign } from "foreign";', {
    "node_modules/foreign/package.json": '{ "name": "foreign", "version": "1.0.0", "types": "index.d.ts" }',
    "node_modules/foreign/index.d.ts":
      "export interface Foreign {\n /** @minimun 3 @default x @acknowledge x */\n h: number }",
  });
  assert.deepEqual(found, [
    "SVC174 A.Input.a 4 @minimun 3: @minimun; did you mean @minimum?",
    "SVC174 A.Input.b 6 @maxLenght 3: @maxLenght; did you mean @maxLength?",
    "SVC174 A.Input.b 6 @titel x: @titel; did you mean @title?",
    "SVC174 A.Input.c 8 @Pattern x: @Pattern; did you mean @pattern?",
    "SVC174 A.Input.c 8 @max 3: @max; did you mean @maximum?",
    "SVC174 A.Input.c 8 @integer: @integer; did you mean @asType integer?",
    `SVC175 A.Input.e ${11 + ordinary.split(" ").length} @format iban: iban`,
    `SVC175 A.Input.f ${13 + ordinary.split(" ").length} @format datetime: datetime; did you mean date-time?`,
    `SVC174 A.Input.h ${16 + ordinary.split(" ").length} @maxProperties 50: @maxProperties; the server does not check it: check it in invoke`,
  ]);
});

test("acknowledged notes are hidden", () => {
  assert.deepEqual(
    complaints(
      `{
  /** @acknowledge SVC155 - never empty */
  a: string[];
  b: string[];
  /** @acknowledge SVC155, SVC156 */
  c: Lists;
  /** @acknowledge SVC156 SVC155 */
  d: unknown;
  /** @acknowledge SVC112 */
  e: string;
  /** @acknowledge */
  f: string;
  g: string | Known;
}`,
      "interface Lists { many: string[] }\n/** @acknowledge SVC145 */\ntype Known = Date;",
    ),
    [
      "SVC170 A.Input.e 13 @acknowledge SVC112: @acknowledge expects codes of notes or warnings, such as SVC155",
      "SVC170 A.Input.f 15 @acknowledge: @acknowledge expects codes of notes or warnings, such as SVC155",
      "SVC155 A.Input.b 8 b: ",
    ],
  );
  const lists = "{ one: string[]; two: string[]; any: unknown }";
  assert.deepEqual(complaints("All", `/** @acknowledge SVC155 */\ninterface All ${lists}`), [
    "SVC156 A.Input.any 3 any: ",
  ]);
  const project = new ToolProject({
    "src/a.ts": toolSource("A", lists).replace("export class", "/** @acknowledge SVC155 SVC156 */\nexport class"),
  });
  assert.deepEqual(project.generate().diagnostics, []);
});

test("an acknowledgement applies to its member and the parts of it, but not to other members or errors", () => {
  assert.deepEqual(
    complaints(`{
  /** @acknowledge SVC155 */
  a: string[];
  ab: string[];
  a$: string[];
  a1: string[];
  /** @acknowledge SVC145 */
  at: { when: Date | string; whens: (Date | string)[] };
  at2: Date | string;
  /** @acknowledge SVC155 */
  b: (() => void)[];
  /** @acknowledge SVC155 */
  token: string[];
}`),
    [
      "SVC145 A.Input.at2 11 at2: ",
      "SVC130 A.Input.b[] 13 b: ",
      "SVC154 A.Input.token 15 token: token",
      "SVC155 A.Input.ab 6 ab: ",
      "SVC155 A.Input.a$ 7 a$: ",
      "SVC155 A.Input.a1 8 a1: ",
    ],
  );
});

test("comments of declaration files are used: of the language, of a package, inherited ones", () => {
  const before = `import type { Foreign } from "foreign";
type Place = Pick<Location, "hash">;
interface Heir extends Foreign { inherited: "narrower" }`;
  const input = "{ place: Place; foreign: Foreign; heir: Heir; constrained: Foreign['constrained'] }";
  const files = {
    "src/tool.ts": toolSource("Declared", input, undefined, before),
    "node_modules/foreign/package.json": '{ "name": "foreign", "version": "1.0.0", "types": "index.d.ts" }',
    "node_modules/foreign/index.d.ts": `/** From afar. */
export interface Foreign {
  /** Handed down. */
  inherited: string;
  /** @maxLength 3 */
  constrained: string;
}`,
  };
  const project = new ToolProject(files, { ...STRICT, lib: ["ES2023", "DOM"] });
  const [document] = JSON.parse(project.build()["meta.json"] as string);
  const { place, foreign, heir } = document.input_schema.properties;
  const { Foreign } = document.input_schema.$defs ?? { Foreign: foreign };
  assert.match(place.properties.hash.description, /MDN/);
  assert.equal(Foreign.description, "From afar.");
  assert.equal(Foreign.properties.inherited.description, "Handed down.");
  assert.equal(Foreign.properties.constrained.maxLength, 3);
  assert.equal(heir.properties.inherited.description, "Handed down.");
});

test("formats of integers and closed objects", () => {
  const wrong = complaints(`{
  /** @format int64x */
  a: number;
  /** @additionalProperties maybe */
  b: { c: string };
  /** @additionalProperties false */
  d: { [name: string]: number };
  /** @additionalProperties false */
  e: number;
  /** @format int8 @minimum 200 */
  f: number;
}`);
  assert.deepEqual(wrong, [
    "SVC171 A.Input.a 4 @format int64x: @format on a number expects one of int8, int16, int32, uint8, uint16, uint32",
    'SVC170 A.Input.b 6 @additionalProperties maybe: @additionalProperties expects "true" or "false"',
    "SVC171 A.Input.d 8 @additionalProperties false: @additionalProperties applies to objects without an index signature only",
    "SVC171 A.Input.e 10 @additionalProperties false: @additionalProperties applies to objects, not to a number",
    "SVC172 A.Input.f 12 @minimum 200: @minimum 200 @maximum 127",
  ]);
});

test("nothing in a comment is executed, followed or obeyed", () => {
  const planted = `{
  /**
   * @default require("./evil.cjs")
   * @TJS-default require("./evil.cjs")
   * @examples require("./evil.cjs").list
   * @ignore
   * @$ref https://example.org/evil.json
   * @type {string}
   * @TJS-type string
   * @items.minimum 5
   * @nullable
   * @additionalItems true
   * @enum [1]
   */
  a: string;
  imported: Planted;
}`;
  const project = new ToolProject({
    "src/a.ts": toolSource("A", planted, '"done"', 'import type { Planted } from "planted";'),
    "src/evil.cjs":
      'require("node:fs").writeFileSync(__dirname + "/executed", "");\nmodule.exports = { default: 1, list: [1] };',
    "node_modules/planted/package.json": '{ "name": "planted", "version": "1.0.0", "types": "index.d.ts" }',
    "node_modules/planted/index.d.ts":
      'export interface Planted {\n  /** @default require("./evil.cjs")\n * @ignore\n * @$ref x */\n  b: string;\n}',
    "node_modules/planted/evil.cjs": 'require("node:fs").writeFileSync(__dirname + "/executed", "");',
  });
  const texts = project.build();
  assert.equal(existsSync(join(project.root, "src/executed")), false);
  assert.equal(existsSync(join(project.root, "node_modules/planted/executed")), false);
  const properties = /"properties": (\{[\s\S]*?\n {6}\})/.exec(texts["meta.json"] ?? "")?.[1] ?? "";
  assert.deepEqual(JSON.parse(properties), {
    a: { type: "string", default: 'require("./evil.cjs")' },
    imported: {
      type: "object",
      properties: { b: { type: "string", default: 'require("./evil.cjs")' } },
      required: ["b"],
    },
  });
});

test("text of a type that looks like code stays text", () => {
  const texts = ["require(", 'require("node:fs")', 'require("ajv/dist/runtime/equal").default', "`x`);process.exit();"];
  const literals = texts.map((text) => JSON.stringify(text));
  const input = `{
  one: ${literals.join(" | ")};
  named: Named;
  single: ${literals[1]};
  /** @default "require('./evil.cjs')" @pattern require\\( */
  text: string;
  ${literals[0]}: string;
}`;
  const before = `enum Named { ${literals.map((text, index) => `N${index} = ${text}`).join(", ")} }`;
  const project = new ToolProject({ "src/a.ts": toolSource("A", input, '"done"', before) });
  const [document] = JSON.parse(project.build()["meta.json"] as string);
  const { one, named, single, text, ...rest } = document.input_schema.properties;
  assert.deepEqual([...one.enum].sort(), [...texts].sort());
  assert.deepEqual([...(named.enum ?? document.input_schema.$defs.Named.enum)].sort(), [...texts].sort());
  assert.equal(single.const, texts[1]);
  assert.deepEqual([text.default, text.pattern], ["require('./evil.cjs')", "require\\("]);
  assert.deepEqual(Object.keys(rest), [texts[0]]);
});

test("a comment on the line of what is before it is refused: TypeScript attaches it to nothing", () => {
  const lines = (input: string, before?: string) =>
    complaints(input, before).filter((line) => line.startsWith("SVC147"));
  assert.deepEqual(lines("{ a: string; /** @format int64 */ b: bigint }"), [
    "SVC147 A.Input.a 3 /** @format int64 */: ",
  ]);
  assert.deepEqual(lines("{ /** @minLength 2 */ a: string }"), ["SVC147 A.Input.a 3 /** @minLength 2 */: "]);
  assert.deepEqual(lines("{ a: string; /***/ b: string; /**/ c: string }"), []);
  assert.deepEqual(lines("{ a: { b: string; /** @maximum 3 */ c: number } }"), [
    "SVC147 A.Input.a.b 3 /** @maximum 3 */: ",
  ]);
  assert.deepEqual(lines("{\n  a: bigint; b: bigint /** @maximum 3 */;\n  c: bigint; /** About c. @minimum 0 */\n}"), [
    "SVC147 A.Input.b 4 /** @maximum 3 */: ",
    "SVC147 A.Input.c 5 /** About c. @minimum 0 */: ",
  ]);
  assert.deepEqual(lines("{ a: Int64 }", "type Int64 = bigint; /** @minimum 0 */\n"), [
    "SVC147 A.Input.a 2 /** @minimum 0 */: ",
  ]);
  assert.deepEqual(
    lines("{\n  a: string; // of its own\n  /** @format int64 */ b: bigint; /* plain */ c: number /** behind */\n}"),
    [],
  );
});

test("the tag of a constraint in a comment that is not a JSDoc comment is reported", () => {
  assert.deepEqual(
    complaints(`{ // @minLength 2
  a: string;
  /* @minLength 1 */
  b: string; // @maxLength 9
  // The length. @minLength 3
  c: string; /* @see b */
  //@maxLength 4
  d: string; /* @pattern a */
}`),
    [
      "SVC194 A.Input.a 3 // @minLength 2: ",
      "SVC194 A.Input.b 5 /* @minLength 1 */: ",
      "SVC194 A.Input.b 6 // @maxLength 9: ",
      "SVC194 A.Input.d 9 //@maxLength 4: ",
      "SVC194 A.Input.d 10 /* @pattern a */: ",
    ],
  );
});

test("@default is published and never filled in, in both modes", async () => {
  const type = "{\n /** @default 10 */\n limit?: number; deep: {\n /** @default x */\n at?: string } }";
  const project = new ToolProject({ "src/a.ts": toolSource("A", type) });
  project.build();
  const contracts = await project.contracts();
  const contract = contracts[0] as Contract;
  assert.match(contract.inputSchema, /"default":10.*"default":"x"/);
  const decoder = new InputDecoder(contract);
  assert.deepEqual(decoder.decodeUnsigned(Buffer.from('{"deep":{}}')), { deep: {} });
  const text = (json: string) => [{ document: undefined, bytes: Buffer.from(json) }];
  assert.deepEqual(decoder.decodeSigned([text("null"), text("{}")]), { deep: {} });
  proves("2.11b");
});

test("comments without a declaration of their own are handled: of parameters, of constants, around a class", () => {
  const project = new ToolProject({
    "src/a.ts": `import { SvcTool, StatusCode } from "svc-runtime";
const DEFAULTS = {
  /** @minimum 1 */
  limit: 5,
};
class Point {
  constructor(
    /** @minimum 2 */
    readonly x: number,
  ) {}
}
/**
 * A tool.
 * @acknowledge nothing
 */
export const A = class extends SvcTool<{ defaults: typeof DEFAULTS; point: Point }, "done"> {
  static override fqn() { return "xyz.test.tool@1"; }
  override async invoke() { return "done" as const; }
  override async health() { return StatusCode.OK; }
};
`,
  });
  const refused = project.generate().diagnostics.map(({ code, place }) => `${code} ${place?.line}:${place?.column}`);
  assert.deepEqual(refused, ["SVC170 14:4"]);
  project.write({ "src/a.ts": readFileSync(join(project.root, "src/a.ts"), "utf8").replace(/ \* @ack.*\n/, "") });
  const { contracts = [], diagnostics } = project.generate();
  assert.deepEqual(diagnostics, []);
  assert.equal(contracts[0]?.description, "A tool.");
  const schema = JSON.parse(contracts[0]?.inputSchema ?? "{}") as {
    properties: Record<string, { properties: object }>;
  };
  assert.deepEqual(schema.properties.defaults?.properties, { limit: { type: "number", minimum: 1 } });
  assert.deepEqual(schema.properties.point?.properties, { x: { type: "number", minimum: 2 } });
});

test("@secret publishes a text as write-only with format password, and does not change ports and codecs", () => {
  const input = (tag: string) => `{
  /** ${tag} Of the exchange. */
  apiKey: string;
  /** ${tag} */
  token?: string;
  /** ${tag} @minLength 8 */
  password: string | null;
  /** ${tag} */
  secrets: string[];
  named: { key: Key; other: string };
}`;
  const source = (tag: string) => toolSource("A", input(tag), '"done"', `/** ${tag} */ type Key = \`sk-\${string}\`;`);
  const project = new ToolProject({ "src/a.ts": source("@secret") });
  const { diagnostics, contracts, files } = project.generate(true);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["SVC155"],
    "no name is noted as one of a secret",
  );
  const secret = (type: unknown, more: object = {}) => ({ type, ...more, format: "password", writeOnly: true });
  const maybe = ["string", "null"];
  const key = secret("string", { pattern: "^sk-[\\s\\S]*$" });
  const named = { type: "object", properties: { key, other: { type: "string" } }, required: ["key", "other"] };
  assert.deepEqual(JSON.parse(contracts?.[0]?.inputSchema ?? "").properties, {
    apiKey: secret("string"),
    token: secret(maybe),
    password: secret(maybe, { minLength: 8 }),
    secrets: { type: "array", items: secret("string") },
    named,
  });
  const meta = (all: typeof files) => all.find(({ path }) => path === "meta.json")?.text ?? "";
  project.write({ "src/a.ts": source("@notSecret") });
  const unmarked = project.generate();
  assert.deepEqual(contracts?.[0]?.input, unmarked.contracts?.[0]?.input);
  const [marked, plain] = [meta(files), meta(unmarked.files)];
  for (const [before, after] of [
    [plain, marked],
    [marked, plain],
  ]) {
    const differences = diffDocuments({ name: "a", text: before ?? "" }, { name: "b", text: after ?? "" });
    assert.equal(isBroken(differences), false, formatDifferences(differences));
  }
});

test("@secret is for texts of inputs without a format", () => {
  const input = `{
  /** @secret */
  a: number;
  /** @secret */
  b: string | number;
  /** @secret */
  c: Uint8Array;
  /** @secret @format email */
  d: string;
  /** @format email */
  e: Key;
  /** @format password */
  f: string;
}`;
  const project = new ToolProject({
    "src/a.ts": toolSource("A", input, "{ ok: { key: Key } }", "/** @secret */ type Key = string;"),
  });
  const found = project.generate().diagnostics.map(({ code, subject, message }) => `${code} ${subject}: ${message}`);
  const both = "@secret and @format exclude each other: a secret has the format password";
  const misplaced = "the JSDoc tag does not apply to this type";
  assert.deepEqual(found, [
    `SVC171 A.Input.a: ${misplaced}: @secret applies to text, not to a number`,
    `SVC171 A.Input.b: ${misplaced}: @secret applies to text only, and a part of this union is not text`,
    `SVC171 A.Input.c: ${misplaced}: @secret applies to text, not to a Uint8Array`,
    `SVC171 A.Input.d: ${misplaced}: ${both}`,
    `SVC171 A.Input.e: ${misplaced}: ${both}`,
    "SVC175 A.Input.f: this format is published, but the server does not check it: password; use @secret to mark a secret",
    `SVC171 A.Output.ok.key: ${misplaced}: @secret applies to inputs only: callers see the whole result`,
  ]);
});

test("a @default of a required port causes a note: no call can use it", () => {
  const input = "interface Input {\n  /** @default 1 */\n  a: number;\n  /** @default 1 */\n  b?: number;\n}";
  const found = schemasOf("Input", input).diagnostics.filter(({ code }) => code === "SVC159");
  assert.deepEqual(
    found.map(({ severity, subject }) => `${severity} ${subject}`),
    ["note A.Input.a"],
  );
});

test("the guide has a table of all tags", () => {
  const page = readFileSync(join(REPOSITORY, "docs/write-a-tool.md"), "utf8");
  const [table = ""] = /^### JSDoc tags[\s\S]*?(?=^##)/m.exec(page) ?? [];
  assert.deepEqual(new Set(table.match(/(?<=^\| .*@)[a-z]\w+/gim)), new Set(KNOWN_TAGS));
});
