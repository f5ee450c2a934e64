/** Input and Output as contracts: variants, limits one inside and one over, and what their author should know. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Diagnostic } from "#generator/compile/diagnostics/diagnostics.js";
import { proves } from "../proves.js";
import { ToolProject, toolSource } from "./project.js";

const range = (count: number, each: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => each(index));
const object = (count: number) => `{ ${range(count, (index) => `p${index}: string`).join("; ")} }`;
const variants = (count: number) => range(count, (index) => `{ v${index}: {} }`).join(" | ");
const long = (length: number) => "x".repeat(length);

/** Names that only a secret has, as authors write them, and names like them that are none. */
const SECRETS = [
  ..."apiKey API_KEY apikey accessKey access_key privateKey privatekey secretKey signingKey token GITHUB_TOKEN".split(
    " ",
  ),
  ..."password userPassword passwd passphrase secret clientSecret mnemonic seedPhrase credential credentials".split(
    " ",
  ),
];
const NO_SECRETS = ["tokenId", "maxTokens", "key", "publicKey", "seed", "phrase", "secretary", "passwordless", "api"];
const texts = (names: readonly string[]) => `{ ${names.map((name) => `${name}: string`).join("; ")} }`;

/** Input, Output, and the complaints wanted (`CODE subject`). */
const CASES: readonly (readonly [input: string, output: string, wanted: readonly string[]])[] = [
  [object(32), '"done"', []],
  [object(33), '"done"', ["SVC151 Input.p32"]],
  ["{}", variants(8), []],
  ["{}", variants(9), ["SVC166 Output.v8"]],
  ["{}", `{ ok: ${object(16)} }`, []],
  ["{}", `{ ok: ${object(17)} }`, ["SVC167 Output.ok.p16"]],
  [`{ ${long(128)}: 1 }`, "{ ok: {} }", []],
  [`{ ${long(129)}: 1 }`, "{ ok: {} }", [`SVC152 Input.${long(129)}`]],
  ["{}", `{ ${long(129)}: {} }`, [`SVC152 Output.${long(129)}`]],
  ['{ é: 1; "": 2 }', "{ ok: { ü: 1 } }", ["SVC152 Input.é", 'SVC152 Input[""]', "SVC152 Output.ok.ü"]],
  ['{ "a\\n": 1 }', '"done" | { ok: {} }', []],
  ["{}", "{ _err_eval: { reason: string } }", ["SVC165 Output._err_eval"]],
  ["{}", '"_err_eval"', ["SVC165 Output._err_eval"]],
  ["{}", "{ ok: {} } | { ok: { a: 1 } }", ["SVC163 Output.ok"]],
  ["{}", '{ ok: {} } | "ok"', ["SVC163 Output.ok"]],
  ["{}", "{ a: {}; b: {} }", ["SVC164 Output"]],
  ["{}", "{}", ["SVC164 Output"]],
  ["{}", "Record<string, {}>", ["SVC164 Output"]],
  ["{}", "{ ok?: {} }", ["SVC162 Output.ok"]],
  ["{}", "{ ok: {} | undefined }", ["SVC162 Output.ok"]],
  ["{}", "{ ok: string }", ["SVC161 Output.ok"]],
  ["{}", "{ ok: string[] }", ["SVC161 Output.ok"]],
  ["{}", "{ total: number }", ["SVC161 Output.total"]],
  ["{}", '{ total: string } | "none"', ["SVC161 Output.total"]],
  ["{}", "{ ok: { a: 1 } | { b: 1 } }", ["SVC161 Output.ok"]],
  ["{}", "{ ok: null }", ["SVC161 Output.ok"]],
  ["{}", "{ ok: Record<string, number> }", ["SVC161 Output.ok"]],
  ["{}", "{ ok: Date }", ["SVC161 Output.ok"]],
  ["{}", "{ err: Error }", ["SVC161 Output.err"]],
  ["{}", "string", ["SVC160 Output"]],
  ["{}", "{ ok: {} } | null", ["SVC160 Output"]],
  ["{}", "unknown", ["SVC160 Output"]],
  ["{}", "void", ["SVC160 Output"]],
  ["{}", "{ ok: { a: () => void; b: Set<1> } }", ["SVC130 Output.ok.a", "SVC134 Output.ok.b"]],
  ["string", '"done"', ["SVC150 Input"]],
  ["string[]", '"done"', ["SVC150 Input"]],
  ["{ a: 1 } | { b: 2 }", '"done"', ["SVC150 Input"]],
  ["Record<string, string>", '"done"', ["SVC150 Input"]],
  ["Date", '"done"', ["SVC150 Input"]],
  ["unknown", '"done"', ["SVC150 Input"]],
  ["{ a: string } & { b: number }", '"done"', []],
  ["Record<string, never>", '"done"', []],
  ["{ password: string }", "{ ok: { password: string } }", ["SVC154 Input.password"]],
  [texts(SECRETS), '"done"', SECRETS.map((name) => `SVC154 Input.${name}`)],
  [texts(NO_SECRETS), '"done"', []],
];

const project = new ToolProject(
  Object.fromEntries(
    CASES.map(([input, output], index) => [`src/t${index}.ts`, toolSource(`T${index}`, input, output)]),
  ),
);
const { diagnostics } = project.generate();

for (const [index, [input, output, wanted]] of CASES.entries()) {
  test(`${input.slice(0, 40)} -> ${output.slice(0, 40)}`, () => {
    const own = diagnostics.filter(
      ({ place, severity, code }) => place?.file === `src/t${index}.ts` && (severity === "error" || code === "SVC154"),
    );
    const said = ({ code, subject }: Diagnostic) => `${code} ${subject?.replace(/^T\d+\./, "")}`;
    assert.deepEqual(own.map(said), wanted);
  });
}

test("hints are about the type at hand", () => {
  const hintOf = (wanted: string) => {
    const index = CASES.findIndex(([input, output]) => wanted === input || wanted === output);
    return diagnostics.find(({ place, severity }) => severity === "error" && place?.file === `src/t${index}.ts`)?.hint;
  };
  assert.equal(hintOf("{ err: Error }"), "declare the data that callers need, such as { err: { reason: string } }");
  const wrap = "wrap the value in an object, such as";
  assert.equal(hintOf("{ ok: string[] }"), `${wrap} { ok: { value: string[] } }`);
  assert.equal(hintOf("{ ok: string }"), `${wrap} { ok: { value: string } }`);
  assert.equal(hintOf("{ total: number }"), `${wrap} { ok: { total: number } }`);
  assert.equal(hintOf('{ total: string } | "none"'), `${wrap} { total: { value: string } }`);
});

test("a bigint without a format is noted at its member, once for a shared type, and can be acknowledged", () => {
  const shared = "interface Line { id: bigint;\n/** @format int64 */ at: bigint; count: number }";
  const notes = new ToolProject({
    "src/a.ts": toolSource(
      "Aa",
      `{ a: bigint; list: (bigint | null)[]; map: Record<string, bigint>; deep: { n?: bigint }; lines: Line[]; last: Line;
/** @acknowledge SVC158 */
known: bigint;
/** @format uint64 */
sized: bigint }`,
      '"done"',
      shared,
    ),
  });
  const subjects = notes.generate().diagnostics.flatMap(({ code, subject }) => (code === "SVC158" ? [subject] : []));
  assert.deepEqual(subjects, ["Aa.Input.a", "Aa.Input.list", "Aa.Input.map", "Aa.Input.deep.n", "Aa.Input.lines[].id"]);
});

test("notes tell which lists are `many` ports", () => {
  const notes = new ToolProject({
    "src/a.ts": toolSource(
      "Aa",
      "{ list: string[]; maybe?: string[]; nullable: string[] | null; either: string | string[]; any: unknown; text: string; at: Date | string; pair: [string, string]; most: [string, number?]; first: [string, ...string[]]; may: [string?]; lost: { a: string; b: string } | { a: string; c?: string }; kept: { k: 1; b: string } | { k: 2; c: string }; all: { a: string; b?: string } | { a: string; c?: string } | { a: string; b: string; c: string };\n/** @minItems 2 */\ntwo: string[] }",
      "{ ok: { all: number[] } }",
    ),
  });
  const { diagnostics: said, files } = notes.generate();
  assert.equal(files.length, 3);
  assert.deepEqual(
    said.map(({ code, severity, subject }) => `${severity} ${code} ${subject}`),
    [
      "note SVC145 Aa.Input.at",
      "note SVC145 Aa.Input.lost",
      "note SVC155 Aa.Input.list",
      "note SVC156 Aa.Input.maybe",
      "note SVC156 Aa.Input.nullable",
      "note SVC156 Aa.Input.either",
      // The other tuples, and the list with @minItems, are never empty.
      "note SVC155 Aa.Input.may",
      "note SVC155 Aa.Output.ok.all",
    ],
  );
  proves("2.13");
});

test("nested generic types do not double with every level", () => {
  const nested = (name: string) => `${`${name}<`.repeat(18)}string${">".repeat(18)}`;
  const before = "type Pair<T> = [T, T];\ntype Both<T> = { left: T; right: T };\ntype Either<T> = { a: T } | { b: T };";
  const large = new ToolProject({
    "src/a.ts": toolSource(
      "Aa",
      `{ p: ${nested("Pair")}; b: ${nested("Both")}; e: ${nested("Either")} }`,
      '"done"',
      before,
    ),
  });
  const size = Object.values(large.build()).reduce((sum, text) => sum + text.length, 0);
  assert.ok(size < 500_000, `${size} characters`);
});
