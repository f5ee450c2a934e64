// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts that would be code in a template are hostile here
/** `svc-gen import` of hostile metadata: nothing of it becomes code, and what it says comes back or is reported. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DONE, inputOf, metadataOf, roundTrip } from "./imported.js";
import { ToolProject } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const TEXTS = [
  "ends */ process.exit(1); /* here",
  "`${process.exit(1)}`",
  '"); process.exit(1); ("',
  "'); process.exit(1); ('",
  "two\nlines\r\nand\rthree",
  "separated\u2028by\u2029lines\u0085",
  "\u202eturned\u202c\u200b\ufeff\u0000\u0007",
  "@default 1\n@notSecret\n * @asType integer\n@acknowledge SVC154 no",
  "{@link Sum} {@inheritDoc} <script> <!-- --> //# sourceMappingURL=x",
  "/** @pattern x */",
  "```\n@example\n```\n`unclosed @title code",
  "\\u002a\\u002f *\\/ \\",
  "  indented\n    more\n* starred\n *\n",
  "\ud83d\ude00 é",
];

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "new",
  "readonly",
  "get",
  "[name: string]",
  "a b",
  "1",
  "-0",
  "01",
  "",
  "*/ process.exit(1) /*",
  '"; process.exit(1); "',
  "`${process.exit(1)}`",
  "a\\",
  "\u2028",
  "\u202e",
  "é",
  "\ud83d\ude00",
  "a?",
  "~/~1",
  "$ref",
  "//",
];

function quotedAll(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(",");
}

test("text in descriptions, titles, defaults, examples, enums and patterns cannot become code", async () => {
  const listing = TEXTS.map((text, index) => {
    const json = JSON.stringify(text);
    const members = [
      `"described":{"type":["string","null"],"description":${json},"title":${json},"default":${json},"examples":[${json}]}`,
      `"chosen":{"type":["string","null"],"enum":[${json},"b",null]}`,
      `"one":{"type":["string","null"],"enum":[${json},null]}`,
      `"matched":{"type":["string","null"],"pattern":${json}}`,
      `"formatted":{"type":["string","null"],"format":${json},"contentEncoding":${json}}`,
      `"nested":{"type":["object","null"],"description":${json},"properties":{"a":{"type":"string","description":${json}}},"required":["a"],"additionalProperties":{"type":"string","description":${json}}}`,
      `"listed":{"type":["array","null"],"items":{"type":"string","description":${json}},"default":[${json}]}`,
    ];
    const output = `{"oneOf":[{"description":${json},"type":"object","properties":{"ok":{"type":"object","properties":{"text":{"description":${json}}}}}}]}`;
    return metadataOf(inputOf(members.join(",")), output, text, `imported${index}`);
  });
  const { tools, generated } = await roundTrip(`[${listing.join(",")}]`);
  assert.equal(tools.length, TEXTS.length);
  for (const [index, text] of TEXTS.entries()) {
    assert.equal(tools[index]?.samePorts, true);
    const document = JSON.parse(generated.get(`xyz.test.imported${index}@1`) ?? "");
    const { chosen, one } = document.input_schema.properties;
    assert.deepEqual([document.description, chosen.enum, one.enum], [text, [text, "b", null], [text, null]]);
    assert.equal(document.input_schema.properties.described.default, text);
  }
});

test("names of members cannot become code", async () => {
  const ascii = NAMES.filter((name) => /^[\x20-\x7e]+$/.test(name));
  const properties = (names: readonly string[]) =>
    names.map((name, index) => `${JSON.stringify(name)}:{"type":["string","null"],"maxLength":${index}}`).join(",");
  const all = properties(NAMES);
  const input = inputOf(
    `${properties(ascii)},"nested":{"type":"object","properties":{${all}},"additionalProperties":{}}`,
    ',"required":["nested"]',
  );
  const { tools, generated } = await roundTrip(metadataOf(input, DONE));
  assert.deepEqual([tools[0]?.verdict, tools[0]?.samePorts], ["same", true]);
  assert.ok(generated.get("xyz.test.imported@1")?.includes(all));
});

test("names of variants cannot become code", async () => {
  const names = NAMES.filter((name) => /^[\x20-\x7e]+$/.test(name));
  const outputs = Array.from({ length: Math.ceil(names.length / 8) }, (_, at) => {
    const part = names.slice(8 * at, 8 * at + 8);
    const variants = part.map((name, index) =>
      index % 2 === 1
        ? `{"const":${JSON.stringify(name)}}`
        : `{"type":"object","properties":{${JSON.stringify(name)}:{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]}},"required":[${JSON.stringify(name)}],"additionalProperties":false}`,
    );
    return `{"$schema":"https://json-schema.org/draft/2020-12/schema","oneOf":[${variants.join(",")}]}`;
  });
  const listing = outputs.map((output, at) => metadataOf(inputOf(""), output, "A tool.", `imported${at}`));
  const { tools } = await roundTrip(`[${listing.join(",")}]`);
  assert.deepEqual(
    tools.map(({ verdict, samePorts }) => [verdict, samePorts]),
    outputs.map(() => ["same", true]),
  );
});

test("names of definitions become unique identifiers", async () => {
  const names = [
    ...NAMES,
    ..."Input Output Imported SvcTool Date Promise string unknown class let type await errEval A A_ _A A-".split(" "),
  ];
  const reference = (name: string) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
  const definition = (name: string, index: number) =>
    `${JSON.stringify(name)}:{"type":"object","properties":{"n${index}":{"type":"string"}},"required":["n${index}"]}`;
  const member = (name: string, index: number) =>
    `"m${index}":{"type":"object","properties":{"a":{"$ref":"#/$defs/${reference(name)}"},"b":{"$ref":"#/$defs/${reference(name)}"}},"required":["a","b"]}`;
  const required = names.map((_, index) => `m${index}`);
  const inner = `"all":{"type":"object","properties":{${names.map(member).join(",")}},"required":[${quotedAll(required)}]}`;
  const input = inputOf(inner, `,"required":["all"],"$defs":{${names.map(definition).join(",")}}`);
  const { tools, generated } = await roundTrip(metadataOf(input, DONE));
  // Only the names of definitions differ: each reference leads to the same content.
  assert.equal(tools[0]?.verdict, "same");
  const { input_schema } = JSON.parse(generated.get("xyz.test.imported@1") ?? "");
  names.forEach((_, index) => {
    const { a, b } = input_schema.properties.all.properties[`m${index}`].properties;
    const name = a.$ref.slice("#/$defs/".length);
    assert.match(name, /^[A-Za-z]\w*$/);
    assert.deepEqual([b.$ref, Object.keys(input_schema.$defs[name].properties)], [a.$ref, [`n${index}`]]);
  });
});

test("definitions named like built-in types do not replace these types", async () => {
  const names = ["Date", "Uint8Array", "NonNullable", "Promise", "StatusCode", "DataRef"];
  const values = {
    at: '{"type":"string","format":"date-time"}',
    bytes: '{"type":"string","contentEncoding":"base64"}',
    any: '{"not":{"type":"null"}}',
  };
  const members = [
    ...Object.entries(values).map(([name, schema]) => `"${name}":${schema}`),
    ...names.map((name, index) => `"m${index}":{"$ref":"#/$defs/${name}"}`),
  ];
  const required = ["at", "bytes", ...names.map((_, index) => `m${index}`)];
  const definitions = names.map((name) => `"${name}":{"type":"object","properties":{"a":{"type":"number"}}}`);
  const inner = `"all":{"type":"object","properties":{${members.join(",")}},"required":[${quotedAll(required)}]}`;
  const input = inputOf(inner, `,"required":["all"],"$defs":{${definitions.join(",")}}`);
  const { generated } = await roundTrip(metadataOf(input, DONE));
  const { all } = JSON.parse(generated.get("xyz.test.imported@1") ?? "").input_schema.properties;
  assert.equal(all.properties.at.format, "date-time");
  assert.equal(all.properties.bytes.contentEncoding, "base64");
});

test("circular and endless references terminate", async () => {
  const reference = (name: string) => `{"$ref":"#/$defs/${name}"}`;
  const definitions = [
    `"Self":${reference("Self")}`,
    `"One":${reference("Two")}`,
    `"Two":{"allOf":[${reference("One")}]}`,
    `"Union":{"anyOf":[${reference("Union")},{"type":"string"}]}`,
    `"Merged":{"type":"object","properties":{"m":{"allOf":[${reference("Merged")},{"minProperties":1}]}}}`,
    `"Pair":{"type":"object","properties":{"l":{"allOf":[${reference("Pair")},{"title":"l"}]},"r":{"allOf":[${reference("Pair")},{"title":"r"}]}}}`,
    `"List":{"type":"array","items":${reference("List")}}`,
    `"Nested":{"anyOf":[{"anyOf":[{"oneOf":[${reference("Nested")}]}]},{"type":"null"}]}`,
    `"Whole":{"$ref":"#"}`,
    `"Gone":${reference("Missing")}`,
    `"Away":{"$ref":"https://example.org/schema.json#/a"}`,
    `"Bad":{"$ref":"#/%zz"}`,
    `"Inner":{"$ref":"#/properties/Tree/properties/left"}`,
  ];
  const names = definitions.map((text) => /^"(\w+)"/.exec(text)?.[1] ?? "");
  const tree = `"Tree":{"type":["object","null"],"properties":{"left":{"type":"string"}},"required":["left"]}`;
  const properties = names.map(
    (name) => `"${name}":{"type":"object","properties":{"v":${reference(name)}},"required":["v"]}`,
  );
  const input = inputOf([...properties, tree].join(","), `,"$defs":{${definitions.join(",")}}`);
  // The output has the same definitions.
  const payload = `{"type":"object","properties":{"x":{"$ref":"#/$defs/Self"},"y":{"$ref":"#/$defs/Union"}}}`;
  const output = `{"oneOf":[{"type":"object","properties":{"ok":${payload}}}],"$defs":{${definitions.join(",")}}}`;
  const { tools, sources } = await roundTrip(metadataOf(input, output));
  assert.equal(tools[0]?.samePorts, true);
  assert.match(sources[0] ?? "", /export type List = List\[\];/);
});

test("a long chain of definitions is followed without recursion", async () => {
  const length = 3000;
  const definitions = Array.from(
    { length },
    (_, at) => `"D${at}":{"type":"object","properties":{"next":{"$ref":"#/$defs/D${at + 1}"}},"required":["next"]}`,
  );
  definitions.push(`"D${length}":{"type":"string"}`);
  const input = inputOf('"x":{"$ref":"#/$defs/D0"}', `,"$defs":{${definitions.join(",")}}`);
  const project = new ToolProject({ "imported.json": metadataOf(input, DONE) });
  const { code, err } = await svcGenIn(project.root, ["import", "imported.json"]);
  assert.equal(code, 1);
  assert.match(err, /cannot be imported: svc-gen refuses its class: SVC140: the type is too large, or endless/);
  assert.equal(existsSync(join(project.root, "src")), false);
});

test("long lists in any keyword are truncated", async () => {
  const many = (text: string) => Array(50_000).fill(text).join(",");
  const properties = [
    `"all":{"allOf":[${many("{}")}]}`,
    `"types":{"type":[${many('"string"')}]}`,
    `"tuple":{"type":["array","null"],"prefixItems":[${many("{}")}]}`,
    `"examples":{"examples":[${many("1")}]}`,
    `"required":{"type":["object","null"],"required":[${many('"a"')}]}`,
  ];
  const { sources } = await roundTrip(metadataOf(inputOf(properties.join(",")), DONE));
  assert.ok((sources[0] ?? "").length < 3_000, sources[0]);
});

test("variants and payloads that the network reads in part", async () => {
  const variants = [
    '{"const":5,"enum":["first"]}',
    '{"$ref":"#/$defs/Second","properties":{"other":{}}}',
    '{"properties":{"third":{"allOf":[{"type":"string"},{"type":"object"}],"properties":{"x":{"type":"string"}}}}}',
    '{"properties":{"fourth":{"$ref":"#/$defs/Payload"}},"allOf":[{"const":1},{"const":2}]}',
  ];
  const definitions = '"Second":{"const":"second","allOf":[{"const":3}]},"Payload":{"$ref":"#/$defs/Second"}';
  const output = `{"oneOf":[${variants.join(",")}],"$defs":{${definitions}}}`;
  const { tools, sources } = await roundTrip(metadataOf(inputOf(""), output));
  assert.equal(tools[0]?.samePorts, true);
  assert.match(
    sources[0] ?? "",
    /^export type Output =\s+"first" \| "second" \| \{ third: \{ x\?: string \} \} \| \{ fourth: \{\} \};$/m,
  );
});
