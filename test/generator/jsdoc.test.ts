/** JSDoc as schema: the allow-list, wrong values, and comments that other tools would execute. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Json, type JsonObject, printJson, readJson } from "#generator/json.js";
import type { Contract } from "#runtime/wire/contract.js";
import { InputDecoder } from "#runtime/wire/input.js";
import { ToolProject, toolSource } from "./project.js";

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
  aliased: Age;
  /** @maximum 9 */
  narrowed: Age;
  /** @format email */
  formatted: string | null;
  documented: Documented;
}`;
const before = `
/**
 * An age.
 * @minimum 1
 */
type Age = number;
/** Of its own. */
interface Documented {
  /** Inside. */
  a: string;
}
`;

test("tags of the allow-list become keywords, descriptions come along", async () => {
  const project = new ToolProject({
    "src/a.ts": toolSource("A", input, "{\n /** Went well. */\n ok: {\n /** A port. */\n p: string } }", before),
  });
  try {
    project.build();
    const { contracts } = (await import(join(project.root, "src/generated/contracts.ts"))) as { contracts: Contract[] };
    const contract = contracts[0] as Contract;
    const properties = (readJson(contract.inputSchema) as JsonObject).get("properties") as JsonObject;
    const schema = (name: string) => printJson(properties.get(name) as Json);
    assert.equal(
      schema("age"),
      '{"type":"integer","minimum":0,"maximum":150,"description":"How old.\\nTwo lines, `code` and {@link Age}.","default":18,"examples":[42]}',
    );
    assert.equal(schema("oneLine"), '{"type":"string","minLength":2,"maxLength":5}');
    assert.equal(
      schema("mail"),
      '{"type":["string","null"],"minLength":2,"maxLength":5,"pattern":"^[^@\\"`{}]+@[a-z\\\\d]+$","title":"A mail","deprecated":true}',
    );
    assert.equal(
      schema("numbers"),
      '{"type":"array","items":{"type":"number","exclusiveMinimum":0.5},"minItems":2,"uniqueItems":true}',
    );
    assert.equal(schema("exact"), '{"type":"integer","format":"int64","minimum":-9007199254740993,"multipleOf":3}');
    assert.equal(schema("aliased"), '{"type":"number","minimum":1,"description":"An age."}');
    assert.equal(schema("narrowed"), '{"type":"number","minimum":1,"maximum":9,"description":"An age."}');
    assert.equal(schema("formatted"), '{"type":["string","null"],"format":"email"}');
    assert.equal(
      schema("documented"),
      '{"type":"object","properties":{"a":{"type":"string","description":"Inside."}},"required":["a"],"description":"Of its own."}',
    );
    assert.match(contract.outputSchema, /"p":\{"type":"string","description":"A port\."\}/);
    assert.match(contract.outputSchema, /"description":"Went well\."/);

    const decoder = new InputDecoder(contract);
    const good = {
      age: "42",
      oneLine: '"abc"',
      mail: '"a@b1"',
      numbers: "[1,2]",
      exact: "-9007199254740993",
      aliased: "1",
      narrowed: "9",
      formatted: '"x"',
      documented: '{"a":""}',
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
    ];
    for (const change of bad)
      assert.throws(() => decode(change), /input_deserialization_error/, JSON.stringify(change));
  } finally {
    project.remove();
  }
});

test("a wrong value and a wrong place are diagnosed at the member", () => {
  const wrong = `{
  /** @minimum low */
  a: number;
  /** @minLength 1 */
  b: number;
  /** @pattern [ */
  c: string;
  /** @format int64 */
  d: number;
  /** @maxItems -1 */
  e: string[];
  /** @asType string */
  f: number;
  /** @minimum 1.5 */
  g: bigint;
  /** @notAKeyword 5 @see nothing */
  h: number;
  /** @notSecret */
  password: string;
  authToken: string;
  tokenCount: number;
}`;
  const project = new ToolProject({ "src/a.ts": toolSource("A", wrong) });
  try {
    const errors = project.generate().diagnostics.filter(({ severity }) => severity === "error");
    assert.deepEqual(
      errors.map(({ code, subject, place }) => `${code} ${subject} ${place?.line}:${place?.column}`),
      [
        "SVC170 A.Input.a 5:3",
        "SVC171 A.Input.b 7:3",
        "SVC170 A.Input.c 9:3",
        "SVC171 A.Input.d 11:3",
        "SVC170 A.Input.e 13:3",
        "SVC170 A.Input.f 15:3",
        "SVC171 A.Input.g 17:3",
        "SVC154 A.Input.authToken 22:3",
      ],
    );
  } finally {
    project.remove();
  }
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
   * @additionalProperties true
   * @enum [1]
   */
  a: number;
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
  try {
    const texts = project.build();
    assert.equal(existsSync(join(project.root, "src/executed")), false);
    assert.equal(existsSync(join(project.root, "node_modules/planted/executed")), false);
    const properties = /"properties": (\{[\s\S]*?\n {6}\})/.exec(texts["meta.json"] ?? "")?.[1] ?? "";
    assert.deepEqual(JSON.parse(properties), {
      a: { type: "number", default: 'require("./evil.cjs")' },
      imported: {
        type: "object",
        properties: { b: { type: "string", default: 'require("./evil.cjs")' } },
        required: ["b"],
      },
    });
  } finally {
    project.remove();
  }
});

test("a comment on the line of what is before it is refused: TypeScript attaches it to nothing", () => {
  const lines = (input: string) => {
    const project = new ToolProject({ "src/a.ts": toolSource("A", input) });
    try {
      return project
        .generate()
        .diagnostics.filter(({ severity }) => severity === "error")
        .map(({ code, subject }) => `${code} ${subject}`);
    } finally {
      project.remove();
    }
  };
  assert.deepEqual(lines("{ a: string; /** @format int64 */ b: bigint }"), ["SVC147 A.Input.b"]);
  assert.deepEqual(lines("{ /** @minLength 2 */ a: string }"), ["SVC147 A.Input.a"]);
  assert.deepEqual(lines("{ a: { b: string; /** @maximum 3 */ c: number } }"), ["SVC147 A.Input.a.c"]);
  assert.deepEqual(
    lines("{\n  a: string; // of its own\n  /** @format int64 */ b: bigint; /* plain */ c: number /** behind */\n}"),
    [],
  );
});
