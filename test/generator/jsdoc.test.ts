/** JSDoc as schema: the allow-list, wrong values, and comments that other tools would execute. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generateTexts } from "#generator/compile/generate.js";
import { KNOWN_TAGS } from "#generator/compile/types/jsdoc.js";
import { analyseWithin } from "#generator/compile/types/slow-patterns.js";
import { diffDocuments, formatDifferences, isBroken } from "#generator/contract/diff.js";
import { type JsonObject, printJson, readJson } from "#generator/text/json.js";
import { InputDecoder } from "#runtime/server/wire/input.js";
import { proves } from "../proves.js";
import { REPOSITORY } from "../repository.js";
import { STRICT, ToolProject, table, toolSource } from "./project.js";

/** A member with its comment, in two lines. The type begins with a question mark if the member is optional. */
const member = (name: string, tags: string, type: string) =>
  `/** ${tags} */\n${name}${type.startsWith("?") ? `?:${type.slice(1)}` : `: ${type}`};`;

/** Contract and diagnostics of a tool with this input. Diagnostics are texts: code, subject, line, marked text, detail. */
function generated(input: string, before = "", output = '"done"', files: Readonly<Record<string, string>> = {}) {
  const texts = { "src/a.ts": toolSource("A", input, output, before), ...files };
  const { contracts, diagnostics } = generateTexts(new Map(Object.entries(texts)));
  const said = diagnostics.map(({ code, subject, place, message }) => {
    const marked = place?.source.slice(place.column - 1, place.column - 1 + place.length);
    return `${code} ${subject} ${place?.line} ${marked}: ${message.replace(/^.*?(?:: |$)/, "")}`;
  });
  return { contract: contracts?.[0], said };
}

/** The schemas of the ports of an input, as texts by name. */
function schemasOf(input: string, before = "", output?: string) {
  const { contract, said } = generated(input, before, output);
  if (contract === undefined) throw new Error(said.join("\n"));
  const { members } = (readJson(contract.inputSchema) as JsonObject).get("properties") as JsonObject;
  const schemas = Object.fromEntries([...members].map(([name, each]) => [name, printJson(each)]));
  return { schemas, contract, said };
}

/**
 * For each member, what is reported: the code, the marked text unless it is the whole of the tags, and the detail. The
 * members are in a nested object, which has no notes about ports.
 */
function reportedFor(rows: readonly (readonly [tags: string, type: string, ...unknown[]])[], before = ""): string[][] {
  const { said } = generated(
    `{ deep: {\n${rows.map(([tags, type], i) => member(`m${i}`, tags, type)).join("\n")}\n} }`,
    before,
  );
  return rows.map(([tags], i) =>
    said
      .filter((line) => line.split(" ")[1] === `A.Input.deep.m${i}`)
      .map((line) => line.replace(/^(\S+) \S+ \d+ /, "$1 ").replace(`${tags}: `, "")),
  );
}

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
/** @additionalProperties false */
interface Node { next?: Node }
/** @asType integer */
type Id = number;
type Ids = Id[];
type Again = Ids;
type Pair = [Id, string];
/** @maxLength 3 */
type Name = string;
type Counts<T> = Record<string, T>;
type Prefixed = \`x-\${string}\`;
`;

/** Tags, type, schema, a value that fits, values that do not. `↵` begins a new line of the comment. */
const KEYWORDS = table(String.raw`
How old: {@link Age}.↵Two lines.↵@minimum 0↵@maximum 150↵@asType integer↵@example 42↵@default 18 ;; number ;; {"type":"integer","minimum":0,"maximum":150,"description":"How old: {@link Age}.\nTwo lines.","default":18,"examples":[42]} ;; 42 ;; 1.5 -1 151
@minLength 2 @maxLength 5 ;; string ;; {"type":"string","minLength":2,"maxLength":5} ;; "abc" ;; "a" "abcdef"
@pattern ^[^@"'{}]+@[a-z\d]+$↵@title A mail↵@deprecated use another ;; ?string ;; {"type":["string","null"],"pattern":"^[^@\"'{}]+@[a-z\\d]+$","description":"Deprecated: use another","title":"A mail","deprecated":true} ;; "a@b1" ;; "a@B"
@minItems 2↵@uniqueItems↵@exclusiveMinimum 0.5 ;; number[] ;; {"type":"array","items":{"type":"number","exclusiveMinimum":0.5},"minItems":2,"uniqueItems":true} ;; [1,2] ;; [1] [1,1] [0.5,1]
@format int64↵@minimum -9007199254740993↵@multipleOf 3 ;; bigint ;; {"type":"integer","format":"int64","minimum":-9007199254740993,"multipleOf":3} ;; -9007199254740993 ;; -9007199254740996 4 9223372036854775808
@maximum 18446744073709551617 ;; number ;; {"type":"number","maximum":18446744073709551617} ;; 1 ;; "x"
@minimum 9007199254740993 ;; number ;; {"type":"number","minimum":9007199254740993} ;; 1e16 ;; 5
@maximum 1e18 ;; bigint ;; {"type":"integer","maximum":1000000000000000000} ;; 1000000000000000000 ;; 1000000000000000001
@format uint64 ;; number[] ;; {"type":"array","items":{"type":"number"}} ;; [-1] ;; ["x"]
@format uint8 ;; number ;; {"type":"integer","format":"uint8","minimum":0,"maximum":255} ;; 255 ;; 256 1.5
@maximum 5 @format int16 ;; number[] ;; {"type":"array","items":{"type":"integer","format":"int16","minimum":-32768,"maximum":5}} ;; [-32768,5] ;; [6] [-32769]
@format email ;; string | null ;; {"type":["string","null"],"format":"email"} ;; "x@example.org" ;; "x"
@example 12345 @example true @example "quoted" @default 7 ;; string ;; {"type":"string","default":"7","examples":["12345","true","quoted"]} ;; "" ;; 1
@pattern ^.{3}$ ;; Prefixed ;; {"type":"string","pattern":"^.{3}$","allOf":[{"pattern":"^x-[\\s\\S]*$"}]} ;; "x-1" ;; "x-12" "abc"
- ;; Age ;; {"type":"number","minimum":1,"description":"-"} ;; 1 ;; 0
@maximum 9 ;; Age ;; {"type":"number","minimum":1,"maximum":9,"description":"An age."} ;; 9 ;; 10
@title T ;; Documented ;; {"type":"object","properties":{"a":{"type":"string","description":"Inside."}},"required":["a"],"additionalProperties":false,"description":"Of its own.","title":"T"} ;; {"a":""} ;; {"a":"","b":1}
@title T ;; Node ;; {"$ref":"#/$defs/Node","title":"T"} ;; {"next":{}} ;; {"b":1} {"next":{"b":1}}
@title T ;; ?Ids ;; {"type":["array","null"],"items":{"type":"integer"},"title":"T"} ;; [1] ;; [0.5]
@title T ;; ?Again ;; {"type":["array","null"],"items":{"type":"integer"},"title":"T"} ;; [1] ;; [0.5]
@title T ;; ?Pair ;; {"type":["array","null"],"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"minItems":2,"maxItems":2,"title":"T"} ;; [1,""] ;; [0.5,""]
@title T ;; Record<string, Name> ;; {"type":"object","additionalProperties":{"type":"string","maxLength":3},"title":"T"} ;; {"a":"abc"} ;; {"a":"abcd"}
@title T ;; Record<"a" | "b", Id> ;; {"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"],"title":"T"} ;; {"a":1,"b":2} ;; {"a":1,"b":0.5}
@title T ;; Counts<Id[]> ;; {"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}},"title":"T"} ;; {"a":[1]} ;; {"a":[0.5]}
`);

test("supported tags become keywords, which decoding checks, and descriptions are kept", () => {
  const rows = KEYWORDS.map(([tags, type], i) => member(`m${i}`, tags.replaceAll("↵", "\n * "), type));
  const output = "{\n /** Went well. */\n ok: {\n /** A port. */\n p: string } }";
  const { schemas, contract } = schemasOf(`{\n${rows.join("\n")}\n}`, before, output);
  assert.deepEqual(
    Object.values(schemas),
    KEYWORDS.map(([, , schema]) => schema),
  );
  assert.match(contract.outputSchema, /"p":\{"type":"string","description":"A port\."\}.*"description":"Went well\."/);
  const decoder = new InputDecoder(contract);
  const decode = (at: number, value: string) => {
    const members = KEYWORDS.map(([, , , good], i) => `"m${i}":${i === at ? value : good}`);
    return decoder.decodeUnsigned(Buffer.from(`{${members.join(",")}}`));
  };
  assert.equal(decode(0, "42").m4, -9007199254740993n);
  for (const [at, [tags, type, , , bad = ""]] of KEYWORDS.entries()) {
    for (const value of bad.split(" ")) {
      assert.throws(() => decode(at, value), /input_deserialization_error/, `${tags} ${type} ${value}`);
    }
  }
  proves("5.36");
});

/** Types with the comments of enums, and their schemas. */
const description = String.raw`"description":"How large.\nSmall: Fits a letter box.\nBig: Needs a van.","deprecated":true`;
const ENUMS = table(`
Size ;; {"type":"string","enum":["small","middle","big"],${description}}
Size | null ;; {"type":["string","null"],"enum":["small","middle","big",null],${description}}
Size[] | null ;; {"type":["array","null"],"items":{"type":"string","enum":["small","middle","big"],${description}}}
Size.Big ;; {"type":"string","const":"big","description":"Needs a van."}
Size.Big | Size.Small ;; {"type":"string","enum":["big","small"]}
Bare ;; {"type":"number","enum":[0,1],"description":"Bare."}
Silent ;; {"type":"number","enum":[0,1]}
Alias ;; {"type":"string","enum":["small","middle","big"],"description":"Of the alias.","deprecated":true}
`);

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
  const rows = ENUMS.map(([type], i) => `m${i}: ${type};\n`);
  const { schemas } = schemasOf(`{\n${rows.join("")}\n/** Of the member. */\nown: Bare; maybe?: Size }`, declared);
  const { own, maybe, ...others } = schemas;
  assert.deepEqual(
    Object.values(others),
    ENUMS.map(([, schema]) => schema),
  );
  assert.deepEqual([own, maybe], [ENUMS[5]?.[1].replace("Bare.", "Of the member."), others.m1]);
});

/** Tags, type, and what is reported: the code, the marked text if it is not all of the tags, and the detail. */
const REPORTED = table(String.raw`
@minimum low ;; number ;; SVC170 @minimum expects a number
@minLength 1 ;; number ;; SVC171 @minLength applies to text, not to a number
@pattern [ ;; string ;; SVC170 @pattern expects a regular expression (with the flag u): Unterminated character class
@format int64 ;; number ;; SVC199 @format int64; the schema has the type number without a format
@format uint64 ;; number[] ;; SVC199 @format uint64; the schema has the type number without a format
@format double ;; number ;; SVC199 @format double; the schema has the type number without a format
@TJS-type integer ;; number ;; SVC199 @TJS-type; did you mean @asType integer?
Some words.↵@maxItems -1↵and more of them ;; ?string[] ;; SVC170 @maxItems -1: @maxItems expects a whole number from 0
@asType string ;; number ;; SVC170 @asType expects "integer"
@minimum 1.5 @format int32 ;; bigint ;; SVC171 @format int32: @format on a bigint expects "int64" or "uint64" ;; SVC171 @minimum 1.5: @minimum on a bigint expects a whole number
@notAKeyword 5 @see nothing ;; number
@multipleOf 0 @multipleOf x ;; number ;; SVC170 @multipleOf 0: @multipleOf expects a number above 0 ;; SVC170 @multipleOf x: @multipleOf expects a number
@uniqueItems ;; { k: string } ;; SVC171 @uniqueItems applies to lists, not to an object
@format email ;; Date ;; SVC171 @format on a Date expects "date-time"
- ;; Aliased ;; SVC171 @minItems 2: @minItems applies to lists, not to any part of this union
@format ;; string ;; SVC170 @format expects the name of a format
@pattern ;; string ;; SVC170 @pattern expects a regular expression
@format int64x ;; number ;; SVC171 @format on a number expects one of int8, int16, int32, uint8, uint16, uint32
@additionalProperties maybe ;; { c: string } ;; SVC170 @additionalProperties expects "true" or "false"
@additionalProperties false ;; { [name: string]: number } ;; SVC171 @additionalProperties applies to objects without an index signature only
@additionalProperties false ;; number ;; SVC171 @additionalProperties applies to objects, not to a number
@format int8 @minimum 200 ;; number ;; SVC172 @minimum 200: @minimum 200 @maximum 127
@maximum 1e400 ;; number ;; SVC170 @maximum expects a number
@default 1e400 ;; number ;; SVC173 expected a number, got a string
@default 18446744073709551616 ;; bigint ;; SVC173 expected an integer from -2^63 to 2^64-1, got an integer outside its range
@format uint64 @example -1 ;; bigint ;; SVC173 @example -1: expected an uint64 integer, got an integer outside its range
@pattern /^a+$/ ;; string ;; SVC170 @pattern expects a regular expression without slashes: write ^a+$, or \/^a+$\/ if the pattern contains the slashes
@pattern /b/gi ;; string ;; SVC170 @pattern expects a regular expression without slashes and flags: write b, or \/b\/ if the pattern contains the slashes
@pattern ^/a/$ ;; string
@pattern / ;; string
@pattern ^(a+)+$ ;; string ;; SVC177 (a+)+
@pattern ^(?:\w+\s?)*$ ;; string ;; SVC177 (?:\w+\s?)*
@pattern ^(?:\w|\d)*$ ;; string ;; SVC177 (?:\w|\d)*
@pattern ^(?:foo|bar|f.o)+$ ;; string ;; SVC177 (?:foo|bar|f.o)+
@pattern ^(?=(?:b|(a*)*)$)c ;; string ;; SVC177 (a*)*
@pattern \s+$ ;; string ;; SVC178 \s+
@maxLength 5000 @pattern [a-z]+\d ;; string ;; SVC196 @pattern [a-z]+\d: it matches a part of the text: begin it with ^ and end it with $, or write .* around it ;; SVC178 @pattern [a-z]+\d: [a-z]+
@pattern \s+$ @maxLength 1000 ;; string
@pattern ^[a-z]+$ ;; string
@pattern ^(?:[a-z0-9]+-)*[a-z0-9]+$ ;; string
@pattern ^(?:0|[1-9]\d*)(?:\.\d+)?$ ;; string
@pattern ^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$ ;; string
@pattern ^[a-z\d _-]{1,64}$ ;; string
@pattern ^(?:a|a){1,3}$ ;; string
@pattern ^(?:[a-z]|[0-9]|_)*$ ;; string
@pattern ^[\w.+-]+@[\w-]+\.[a-z]{2,}$ ;; string
@pattern ^a{1,1000000}$ ;; string
@pattern ^\d{3}$ the part number ;; string ;; SVC196 it matches no text, because text follows $: write remarks above the tags
@pattern [A-Z]{3} ;; string ;; SVC196 it matches a part of the text: begin it with ^ and end it with $, or write .* around it
@pattern foo|bar ;; string
@pattern (?<!a)b ;; string ;; SVC197 look-around does not compile in Go and in Rust's regex
@pattern ^(?=a)\p{L}(.)\1$ ;; string ;; SVC197 look-around does not compile in Go and in Rust's regex, and back-references do not compile in Go and in Rust's regex, and \p{…} does not compile in Python's re
@example '123' ;; string ;; SVC196 the quotes are part of the value: remove them
@example 123 ;; string
@minLength 2↵@minLength 3 ;; string ;; SVC196 @minLength 3: @minLength is there twice, and both apply
@minimum 5 @maximum 1 ;; number ;; SVC172 @maximum 1: @minimum 5 @maximum 1
@maximum 1 @minimum 5 ;; number | string ;; SVC172 @maximum 1: @minimum 5 @maximum 1
@minimum 1 @exclusiveMaximum 1 ;; number ;; SVC172 @exclusiveMaximum 1: @minimum 1 @exclusiveMaximum 1
@maximum 1 @exclusiveMinimum 1 ;; bigint ;; SVC172 @exclusiveMinimum 1: @maximum 1 @exclusiveMinimum 1
@exclusiveMinimum 2 @exclusiveMaximum 2 ;; number[] ;; SVC172 @exclusiveMaximum 2: @exclusiveMinimum 2 @exclusiveMaximum 2
@format int64 @minimum 9223372036854775808 ;; bigint ;; SVC172 @minimum 9223372036854775808: @minimum 9223372036854775808
@format uint64 @exclusiveMaximum 0 ;; bigint ;; SVC172 @exclusiveMaximum 0: @exclusiveMaximum 0
@minimum 18446744073709551616 ;; bigint ;; SVC172 @minimum 18446744073709551616
@minLength 2 @maxLength 1 ;; string ;; SVC172 @maxLength 1: @minLength 2 @maxLength 1
@minItems 2 @maxItems 1 ;; string[] ;; SVC172 @maxItems 1: @minItems 2 @maxItems 1
@minItems 4 ;; [string, string, string?] ;; SVC172 @minItems 4
@maxItems 1 ;; [string, ...string[], string] ;; SVC172 @maxItems 1
@minimum 1 @maximum 1 ;; number
@exclusiveMinimum 1 @exclusiveMaximum 2 ;; number
@format int64 @minimum -20 @maximum -11 @multipleOf 10 ;; bigint
@format uint64 @maximum 0 ;; bigint
@minLength 2 @maxLength 2 ;; string
@minItems 2 @maxItems 3 ;; [string, string, string?]
@minItems 9 ;; [string, ...string[]]
@default low @example 3 @example [3] ;; number ;; SVC173 @default low: expected a number, got a string ;; SVC173 @example [3]: expected a number, got an array
@default yesterday @example "2020-01-01T00:00:00Z" @example "2020-02-30T00:00:00Z" ;; Date ;; SVC173 @default yesterday: expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string ;; SVC173 @example "2020-02-30T00:00:00Z": expected an RFC 3339 date-time with an offset, such as 2026-01-31T12:00:00Z, got a string
@example {"a": 1, "b": {"a": "x"}} @example {"a": 1} ;; Tree ;; SVC173 @example {}: a: expected a value, got nothing ;; SVC173 @example {"a": 1, "b": {"a": "x"}}: b.a: expected a number, got a string
@default null @example 9007199254740993 @example 1.5 ;; ?bigint ;; SVC173 @example 1.5: expected an integer, got a number with a point or exponent, such as 1.0
@default null @example plain words @example true ;; string ;; SVC173 @default null: expected a string, got null
@example 5 @example 11 ;; Small ;; SVC173 @default 12: expected a number of at most 10, got a larger one ;; SVC173 @example 11: expected a number of at most 10, got a larger one
@example "AQ==" @example "AQ" ;; Uint8Array ;; SVC173 @example "AQ": expected standard base64 with padding, got a string
@example nobody @example a@example.org @format email ;; string ;; SVC173 @example nobody: expected a string of the format email, got another string
@example "a" @example null ;; string | number ;; SVC173 @example null: expected a string or a number, got null
@minimun 3 ;; number ;; SVC174 @minimun; did you mean @minimum?
@maxLenght 3 @titel x ;; string ;; SVC174 @maxLenght 3: @maxLenght; did you mean @maxLength? ;; SVC174 @titel x: @titel; did you mean @title?
@Pattern x @max 3 @integer ;; string ;; SVC174 @Pattern x: @Pattern; did you mean @pattern? ;; SVC174 @max 3: @max; did you mean @maximum? ;; SVC174 @integer: @integer; did you mean @asType integer?
@format iban ;; string ;; SVC175 iban
@format datetime ;; string ;; SVC175 datetime; did you mean date-time?
@maxProperties 50 ;; Record<string, string> ;; SVC174 @maxProperties; the server does not check it: check it in invoke
@secret ;; number ;; SVC171 @secret applies to text, not to a number
@secret ;; string | number ;; SVC171 @secret applies to text only, and a part of this union is not text
@secret ;; Uint8Array ;; SVC171 @secret applies to text, not to a Uint8Array
@secret @format email ;; string ;; SVC171 @secret: @secret and @format exclude each other: a secret has the format password
@format email ;; Key ;; SVC171 @secret and @format exclude each other: a secret has the format password
@format password ;; string ;; SVC175 password; use @secret to mark a secret
@acknowledge SVC112 ;; string ;; SVC170 @acknowledge expects codes of notes or warnings, such as SVC155
@acknowledge ;; string ;; SVC170 @acknowledge expects codes of notes or warnings, such as SVC155
`);

test("tags with a wrong value, in a wrong place, without effect or that allow no value are reported at the tag", () => {
  const declared = `/** @minItems 2 */ type Aliased = number | null;
/** @maximum 10 @default 12 */
type Small = number;
/** @example {} */
interface Tree { a: number; b?: Tree }
/** @secret */
type Key = string;`;
  const rows = REPORTED.map(([tags, type]) => [tags.replaceAll("↵", "\n * "), type] as const);
  const found = reportedFor(rows, declared);
  assert.deepEqual(
    found.map((reports, i) => [...(REPORTED[i] ?? []).slice(0, 2), ...reports]),
    REPORTED,
  );
});

/** What is reported for a tool with this input. */
const reportsOf = (input: string, before = "") => generated(input, before).said;

test("a pattern that would take hours to analyse is accepted", () => {
  const branches = Array.from({ length: 300 }, (_, i) => `[a-z0-9]{${i + 1}}`).join("|");
  const pattern = `^(?:${branches})*$`;
  assert.equal(analyseWithin(100, pattern), undefined);
  // The same with the five seconds of svc-gen.
  if (process.env.SVC_TEST_FULL === "1") {
    assert.deepEqual(reportsOf(`{\n  /** @pattern ${pattern} */\n  a: string;\n}`), []);
  }
});

test("tags of other tools, and tags in dependencies, are not reported", () => {
  const ordinary =
    "abstract access alias async augments author borrows callback class classdesc constant constructs copyright description enum " +
    "event exports external file fires function generator global hideconstructor ignore implements inheritdoc inner " +
    "instance interface kind lends license listens member memberof mixes mixin module name namespace override package param " +
    "private property protected public readonly requires returns see since static summary this throws todo tutorial type " +
    "typedef variation version yields alpha beta decorator defaultValue eventProperty experimental inheritDoc internal label " +
    "link packageDocumentation privateRemarks remarks sealed typeParam virtual satisfies template overload import category " +
    "group hidden items nullable unit time";
  const tags = ordinary.replace(/\w+/g, "\n * @$&");
  const input = `{\n${member("d", tags, "string")}\ng: Foreign }`;
  const project = new ToolProject({
    "src/a.ts": toolSource("A", input, '"done"', 'import type { Foreign } from "foreign";'),
    "node_modules/foreign/package.json": '{ "name": "foreign", "version": "1.0.0", "types": "index.d.ts" }',
    "node_modules/foreign/index.d.ts":
      "export interface Foreign {\n /** @minimun 3 @default x @acknowledge x */\n h: number }",
  });
  assert.deepEqual(project.generate().diagnostics, []);
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
    reportsOf(input).filter((line) => line.startsWith("SVC157")),
    ["SVC157 A.Input.none 4 none: ", "SVC157 A.Input.capped 6 capped: ", "SVC157 A.Input.long 8 long: "],
  );
});

test("acknowledged notes are hidden", () => {
  assert.deepEqual(
    reportsOf(
      `{
  /** @acknowledge SVC155 - never empty */
  a: string[];
  b: string[];
  /** @acknowledge SVC155, SVC156 */
  c: Lists;
  /** @acknowledge SVC156 SVC155 */
  d: string[] | null;
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
  const lists = "{ one: string[]; two: string[]; any: string | string[] }";
  assert.deepEqual(reportsOf("All", `/** @acknowledge SVC155 */\ninterface All ${lists}`), [
    "SVC156 A.Input.any 3 any: ",
  ]);
  const project = new ToolProject({
    "src/a.ts": toolSource("A", lists).replace("export class", "/** @acknowledge SVC155 SVC156 */\nexport class"),
  });
  assert.deepEqual(project.generate().diagnostics, []);
});

test("an acknowledgement applies to its member and the parts of it, but not to other members or errors", () => {
  assert.deepEqual(
    reportsOf(`{
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

test("a type referenced by import(…) has the same tags and order as one referenced by its name", () => {
  const types = `/** @secret */
export type ApiKey = string;
/** @format int64 */
export type Int64 = bigint;
export interface Box<T> { value: T; kind: Kind }
export type Kind = "z" | "a";
export namespace Inner { /** @minLength 2 */ export type Name = string }`;
  const by = (from: string) =>
    generated(
      `{ key: ${from}ApiKey; keys?: ${from}ApiKey[]; box: ${from}Box<${from}Int64>; name: ${from}Inner.Name;
  pick: Pick<${from}Box<string>, "kind">; all: Partial<Record<${from}Kind, ${from}Int64>> }`,
      'import type { ApiKey, Box, Inner, Int64, Kind } from "./types.js";',
      `{ ok: { kinds: ${from}Kind[] } }`,
      { "src/types.ts": types },
    ).contract;
  const byName = by("");
  assert.match(byName?.inputSchema ?? "", /"writeOnly":true/);
  assert.deepEqual(by('import("./types.js").'), byName);
});

test("tags in a declaration file of the project are checked as in other files", () => {
  const codes = (tags: string) => {
    const own = `export interface Own {\n/** ${tags} */\nsize?: number }`;
    const before = 'import type { Own } from "./own.js";';
    return generated("{ own: Own }", before, undefined, { "src/own.d.ts": own }).said.map((line) => line.split(" ")[0]);
  };
  assert.deepEqual(["@default ten", "@minimun 3"].map(codes), [["SVC173"], ["SVC174"]]);
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

test("a comment on the line of what is before it is refused: TypeScript attaches it to nothing", () => {
  const lines = (input: string, before?: string) =>
    reportsOf(input, before).filter((line) => line.startsWith("SVC147"));
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

test("comments of index signatures and of named tuple elements apply; other comments inside a type are reported", () => {
  const { schemas, said } = schemasOf(`{ map: {
  /** A count. @minimum 0 */
  [name: string]: number };
  place: { at: [
    /** @minimum -90 */
    lat: number,
    /** @maxLength 2 */
    unit?: string] } }`);
  assert.equal(
    schemas.map,
    '{"type":"object","additionalProperties":{"type":"number","minimum":0,"description":"A count."}}',
  );
  assert.match(
    schemas.place ?? "",
    /"prefixItems":\[\{"type":"number","minimum":-90\},\{"type":\["string","null"\],"maxLength":2\}\]/,
  );
  assert.deepEqual(
    said.filter((line) => !line.startsWith("SVC155")),
    [],
  );
  const reported = (type: string) => generated(`{ a: {\n x: ${type}\n /** @maxLength 9 */\n y?: string } }`).said;
  for (const type of [
    "\n/** @minLength 3 */\n | string | number",
    "string\n/** @minLength 3 */\n | number",
    "[\n/** @minLength 3 */\n string]",
    "[ /** @minLength 3 */ named: string]",
    "Record<string, /** @minLength 3 */ string>",
    "Array</** @minLength 3 */ string>",
    "{ /** @minLength 3 */ [name: string]: string }",
  ]) {
    const [only, ...more] = reported(type);
    assert.match(only ?? "", /^SVC147 A\.Input\.a\.x.* \/\*\* @minLength 3 \*\/: /, type);
    assert.deepEqual(more, [], type);
  }
});

test("tags of an alias that is the type of keys, and of a constant, are reported", () => {
  const aliases =
    "/** @pattern ^[a-z]+$ */\ntype Slug = string;\n/** @minLength 2 */\ntype Text = string;\n/** @minimum 1 */\ndeclare const one: number;";
  const input = "{ a: { x: Record<Slug, number>; y: { [k: Slug]: Text }; z: Record<string, Text>; one: typeof one } }";
  assert.deepEqual(
    generated(input, aliases).said.map((line) => line.split(" ").slice(0, 2)),
    [
      ["SVC198", "A.Input.a.x{}"],
      ["SVC198", "A.Input.a.y{}"],
      ["SVC198", "A.Input.a.one"],
    ],
  );
});

test("the tag of a constraint in a comment that is not a JSDoc comment is reported", () => {
  assert.deepEqual(
    reportsOf(`{ // @minLength 2
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

test("@additionalProperties applies to types that are derived from its type", () => {
  const types = ["Base", "Heir", "Partial<Base>", "Pick<Base, 'a'>", "Base & { b: string }"];
  const { schemas, said } = schemasOf(
    `{ ${types.map((type, i) => `p${i}: ${type};`).join(" ")} }`,
    `/** @additionalProperties false */\ninterface Base { a: string }
    interface Heir extends Base { c: string }`,
  );
  assert.deepEqual(said, []);
  for (const text of Object.values(schemas)) assert.match(text, /"additionalProperties":false/);
});

test("a description without tags is read on the line of its member, and refused behind another one", () => {
  const input =
    "{ /** The a. */ a: string; /**\n * The {@link b}.\n * Two lines. */ b: bigint; c: { /** Inside. */ d: 1 }; }";
  const output = "{ /** Went well. */ ok: { /** The e. */ e: string } }";
  const project = new ToolProject({
    "src/a.ts": toolSource("A", input, output),
    "src/b.ts": toolSource(
      "B",
      "Narrow",
      '"done"',
      "interface Wide {\n  /** Wide. */\n  a: string | number;\n}\ninterface Narrow extends Wide { /** Narrow. */ a: string }",
    ),
  });
  const meta = project.build()["meta.json"] ?? "";
  for (const text of ["The a.", "The {@link b}.\\nTwo lines.", "Inside.", "Went well.", "The e.", "Narrow."]) {
    assert.ok(meta.includes(`"description": "${text}"`), text);
  }
  assert.ok(!meta.includes("Wide."));
  assert.deepEqual(reportsOf("{\n  a: string; /** About a. */\n  b: string;\n}"), [
    "SVC147 A.Input.b 4 /** About a. */: ",
  ]);
});

test("@default is published and never filled in, in both modes", () => {
  const type = "{\n /** @default 10 */\n limit?: number; deep: {\n /** @default x */\n at?: string } }";
  const { contract } = schemasOf(type);
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

test("@secret is for inputs", () => {
  const { said } = generated("{}", "/** @secret */ type Key = string;", "{ ok: { key: Key } }");
  assert.deepEqual(said, [
    "SVC171 A.Output.ok.key 2 @secret: @secret applies to inputs only: callers see the whole result",
  ]);
});

test("a @default of a required port causes a note: no call can use it", () => {
  const input = "interface Input {\n  /** @default 1 */\n  a: number;\n  /** @default 1 */\n  b?: number;\n}";
  assert.deepEqual(reportsOf("Input", input), ["SVC159 A.Input.a 4 a: "]);
});

test("the guide has a table of all tags", () => {
  const page = readFileSync(join(REPOSITORY, "docs/write-a-tool.md"), "utf8");
  const [table = ""] = /^### JSDoc tags[\s\S]*?(?=^##)/m.exec(page) ?? [];
  assert.deepEqual(new Set(table.match(/(?<=^\| .*@)[a-z]\w+/gim)), new Set(KNOWN_TAGS));
});
