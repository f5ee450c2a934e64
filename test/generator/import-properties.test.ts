/**
 * Properties of `svc-gen import`: what svc-gen generates comes back from an import, whatever types it was made from; and
 * any schemas whatever become inert classes or are refused. SVC_TYPE_SEED runs another selection,
 * `SVC_TEST_FULL=1` a larger one.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { hasErrors } from "#generator/compile/diagnostics/diagnostics.js";
import { generate } from "#generator/compile/generate.js";
import { Random } from "../types/random.js";
import { sourceOf, ZOO } from "../types/zoo.js";
import { assertInert, DIALECT, documents, type Imported, metadataOf } from "./imported.js";
import { ToolProject } from "./project.js";
import { randomPort, sourceOf as randomSource } from "./random-contracts.js";
import { svcGenIn } from "./run-cli.js";

const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);
/** Whether the run is the full one, in which svc-gen also reads every type a second time. */
const IS_FULL = process.env.SVC_TEST_FULL === "1";
const COUNT = IS_FULL ? 600 : 20;

/** Imports into a new project; undefined where svc-gen refuses the metadata, with nothing written. */
async function importInto(metadata: string) {
  const project = new ToolProject({ "imported.json": metadata });
  const { out, err } = await svcGenIn(project.root, ["import", "imported.json", "--json"]);
  assert.match(out, /^\{\n {2}"tools": /, err);
  const { tools, refused } = JSON.parse(out) as {
    readonly tools: readonly Imported[];
    readonly refused: readonly { readonly message: string }[];
  };
  for (const { file } of tools) assertInert(readFileSync(join(project.root, file), "utf8"));
  return { project, tools, refused: refused.map(({ message }) => message) };
}

/** The metadata that svc-gen generates, by name; its schemas are those that another test has compiled. */
function publishedBy({ root }: ToolProject): ReadonlyMap<string, string> {
  const { files, diagnostics } = generate({ root });
  assert.equal(hasErrors(diagnostics), false);
  return documents(files.find(({ path }) => path === "meta.json")?.text ?? "");
}

/** Zoo types whose metadata has no other type, with the reason. */
const UNEQUAL: Readonly<Record<string, string>> = {
  "prototype name beside others": "names by pattern",
  "numeric index": "names by pattern",
  "numeric index beside any other": "names by pattern",
  "numeric index beside a number": "names by pattern",
  "template index": "names by pattern",
  "template index beside a member of its names": "names by pattern",
  "template indexes of two types": "names by pattern",
  "template index beside any other": "names by pattern",
  "records told apart by names": "names by pattern",
  "names that are symbols": "names by pattern",
  "lists nested far": "a definition comes from the depth of its type",
  "brands on literals": "branches of one literal each, from brands",
  "open literals": "literals beside all texts, from a brand",
  "leading rest": "reads as a list of either",
  "middle rest": "reads as a list of either",
  "members or any object": "several types as a union",
  object: "several types as a union",
};

test("imports of the type zoo have equal metadata", async () => {
  const types = IS_FULL ? ZOO : ZOO.filter(({ name }, index) => name in UNEQUAL || index % 4 === 0);
  const zoo = new ToolProject(
    Object.fromEntries(types.map((each, index) => [`src/tool${index}.ts`, sourceOf(each, index)])),
  );
  const before = publishedBy(zoo);
  const ran = await importInto(`[${[...before.values()].join(",")}]`);
  assert.deepEqual(ran.refused, []);
  const nameOf = (fqn: string) => types[Number(/tool-tool(\d+)@/.exec(fqn)?.[1])]?.name ?? assert.fail(fqn);
  const after = publishedBy(ran.project);
  const unequal = ran.tools.filter(({ fqn }) => after.get(fqn) !== before.get(fqn));
  assert.deepEqual(unequal.map(({ fqn }) => nameOf(fqn)).sort(), Object.keys(UNEQUAL).sort());
});

test(`imports of random types have equal metadata, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  const sources = Array.from({ length: COUNT }, (_, index) => {
    return [`src/tool${index}.ts`, randomSource(randomPort(random), `Random${index}`)] as const;
  });
  const project = new ToolProject(Object.fromEntries(sources));
  const listing = project.build(IS_FULL)["meta.json"] ?? "";
  const ran = await importInto(listing);
  assert.deepEqual(ran.refused, []);
  const [before, after] = [documents(listing), publishedBy(ran.project)];
  for (const { fqn, samePorts, verdict } of ran.tools) {
    assert.equal(samePorts, true, fqn);
    // A large type without a name is a definition that depends on where it is used.
    if (/"(?:Input|Output)_\w+":/.test(before.get(fqn) ?? "")) continue;
    assert.equal(verdict, "same", fqn);
    assert.equal(after.get(fqn), before.get(fqn), fqn);
  }
});

// Schemas of any kind.

const WORDS = ["a", "b", "é", "x y", "*/", "@x", "__proto__", "", "1"];
const PORTS = ["a", "b c", "__proto__", "apiKey", "items", "1"];

/** JSON text of a schema, valid or not. */
function schema(random: Random, depth: number): string {
  const word = () => JSON.stringify(random.pick(WORDS));
  const inner = () => schema(random, depth - 1);
  const any = () => random.pick(["1", "-2.5", "null", "true", word(), "[1]", '{"a":1}', "12345678901234567890"]);
  const simple: (() => string)[] = [
    () => `"type":${random.pick(["string", "integer", "number", "boolean", "null"].map((name) => `"${name}"`))}`,
    () => `"type":${random.pick(['["string","null"]', '["integer","string"]', '["array"]', "[]", '"other"', "7"])}`,
    () => `"type":"string","format":${random.pick(['"date-time"', '"email"', '"int64"', '"A b"', "1"])}`,
    () => `"type":"integer","format":${random.pick(['"int64"', '"uint8"', '"uint64"', '"int32"', '"odd"'])}`,
    () => `"enum":[${[any(), any(), any()].slice(random.below(4)).join(",")}]`,
    () => `"const":${any()}`,
    () => `"$ref":${random.pick(['"#/$defs/A"', '"#/$defs/B"', '"#"', '"#/properties/a"', '"else"', "5"])}`,
  ];
  const nested: (() => string)[] = [
    () => `"type":"object","properties":{${word()}:${inner()},"z":${inner()}},"required":[${word()},"z"]`,
    () => `"type":"object","additionalProperties":${random.pick(["true", "false", inner()])}`,
    () => `"type":"object","properties":{"k":${inner()}},"additionalProperties":${random.pick(["false", inner()])}`,
    () => `"type":"object","patternProperties":{"^a":${inner()}}`,
    () => `"type":"array","items":${random.pick(["false", "true", inner()])}`,
    () => `"type":"array","prefixItems":[${inner()},${inner()}],"items":${inner()},"minItems":${random.below(4)}`,
    () => `"items":[${inner()}],"type":"array"`,
    () => `"anyOf":[${inner()},${inner()}]`,
    () => `"oneOf":[${inner()},{"type":"null"}]`,
    () => `"allOf":[${inner()},${inner()}]`,
    () => `"$ref":"#/$defs/A","properties":{"q":${inner()}}`,
    () => `"not":${inner()}`,
  ];
  const more = [
    `"description":${word()}`,
    `"title":${word()}`,
    `"default":${any()}`,
    `"examples":[${any()}]`,
    `"minimum":${any()}`,
    `"maxLength":${any()}`,
    `"pattern":${word()}`,
    `"minItems":${any()}`,
    `"uniqueItems":true`,
    `"deprecated":true`,
    `"x-own":${any()}`,
  ].filter(() => random.chance(0.08));
  if (random.chance(0.05)) return random.pick(["true", "false", "{}"]);
  const kind = depth > 0 && random.chance(0.6) ? random.pick(nested)() : random.pick(simple)();
  return `{${[kind, ...more].join(",")}}`;
}

function document(random: Random, toolName: string): string {
  const ports = PORTS.filter(() => random.chance(0.5));
  const definitions = `"$defs":{"A":${schema(random, 2)},"B":${schema(random, 2)}}`;
  const object = () =>
    `{"type":"object","properties":{${ports.map((name) => `${JSON.stringify(name)}:${schema(random, 2)}`).join(",")}}${random.chance(0.5) ? `,"required":${JSON.stringify(ports.slice(1))}` : ""}}`;
  const input = `{${random.chance(0.5) ? `"$schema":${JSON.stringify(DIALECT)},` : ""}${object().slice(1, -1)},${definitions}}`;
  const variants = [
    `{"type":"object","properties":{"ok":${object()}},"required":["ok"],"additionalProperties":false}`,
    `{"properties":{"odd":${schema(random, 1)}}}`,
    '{"const":"done"}',
  ].filter((_, index) => index === 0 || random.chance(0.5));
  const output = `{"$schema":${JSON.stringify(DIALECT)},"oneOf":[${variants.join(",")}],${definitions}}`;
  return metadataOf(input, output, "A tool.", toolName);
}

/** Documents that are imported and generated at once: a run costs as much as a dozen of them. */
const BATCH = 20;

test(`imports of random schemas become inert classes that generate, seed ${SEED}`, async () => {
  const random = new Random(SEED);
  let imports = 0;
  for (let count = 0; count < COUNT; count += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, at) => document(random, `imported${at}`));
    const { project, tools, refused } = await importInto(`[${batch.join(",")}]`);
    // The network refuses the ports of some, and no call could pass those of others.
    for (const message of refused) assert.match(message, / in "imported\.json" cannot be imported: |: SVC157: /);
    assert.equal(tools.length, batch.length - refused.length);
    assert.equal(documents(project.build(IS_FULL)["meta.json"] ?? "").size, tools.length);
    imports += tools.length;
    project.remove();
  }
  assert.ok(imports > COUNT / 2, `${imports} of ${COUNT} were imported`);
});
