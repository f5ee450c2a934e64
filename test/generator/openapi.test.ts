/** `svc-gen openapi` and `svc-gen schema`: valid documents that say what the server does. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { EXIT } from "#generator/cli/cli.js";
import { REPOSITORY } from "../repository.js";
import { compileIn } from "./openapi-schemas.js";
import { ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description?: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Record<string, Media> }>>;
}
interface Media {
  readonly schema: object;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Record<string, unknown>>>;
    readonly responses: Readonly<Record<string, { readonly content: Record<string, Media> }>>;
    readonly parameters: Readonly<Record<string, { readonly name: string }>>;
  };
}

interface Bounds {
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly anyOf?: readonly Bounds[];
}
interface Ports {
  readonly properties: Readonly<Record<string, Bounds | undefined>>;
}

const portsOf = (schema: unknown) => schema as Ports;

/** Every kind of type, names that collide, texts that Markdown and references could misread. */
const HARD = {
  "src/tree.ts": toolSource(
    "Grow",
    "Input",
    '{ found: { trees: Tree[]; at: Date } } | "no`ne" | { some: Other }',
    `interface Tree { name: string; children: Tree[]; "$ref": "#/$defs/Tree"; weight?: bigint }
interface Input {
  /** A tree. <img src=x onerror=alert(1)> \`code */
  root: Tree;
  again?: Tree;
  /** @secret */
  apiKey?: string;
  /** @format int64
   * @example 9223372036854775807 */
  big: bigint;
  pair: [string, number?];
  more: Record<string, { x: 1 | 2 | null }>;
  raw: Uint8Array;
  "a/b~c%": boolean | string[];
  any: unknown;
  self?: Input;
}
interface Other { result: Result; other: Result }
interface Result { input: { a: string } }`,
  ),
  "src/other.ts": toolSource("Other", "{ tree: { leaf: string; up?: { leaf: string } } }").replace(
    'return "Other"',
    'return "//deep/Other/"',
  ),
  "src/root.ts": toolSource("Root", "{ text: string }").replace('return "Root"', 'return ""'),
};

const hard = new ToolProject(HARD);

async function documentOf(root: string, ...args: string[]): Promise<{ text: string; document: Document }> {
  const { code, out, err } = await svcGenIn(root, ["openapi", ...args]);
  assert.equal(code, EXIT.done, err);
  return { text: out, document: JSON.parse(out) as Document };
}

const ORDERS = join(REPOSITORY, "examples/orders");

const kept = new Map<string, ReturnType<typeof documentOf>>();

/** The document of a project, made once. */
function keptDocument(root: string): ReturnType<typeof documentOf> {
  const document = kept.get(root) ?? documentOf(root);
  kept.set(root, document);
  return document;
}

const hardDocument = () => keptDocument(hard.root);

/** Faults by Redocly's strictest rules, among them references, examples and types of every member. */
async function lint(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended-strict"], rules: { "info-license": "off" } });
  const problems = await lintFromString({ source: text, absoluteRef: "openapi.json", config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`);
}

test("a secret is write-only in the document", async () => {
  const { text } = await hardDocument();
  assert.match(text, /"format": "password",\s+"writeOnly": true/);
});

const operationsOf = ({ paths }: Document) => Object.values(paths).flatMap((item) => Object.values(item));

for (const [name, root] of [
  ["orders", ORDERS],
  ["every kind of type", hard.root],
] as const) {
  test(`valid OpenAPI 3.1: ${name}`, async () => {
    const { text, document } = await keptDocument(root);
    assert.deepEqual(await lint(text), []);
    for (const schema of Object.values(document.components.schemas))
      assert.doesNotThrow(() => compileIn(document, schema));
    const bodies = operationsOf(document).flatMap(({ requestBody, responses }) => [
      ...Object.values(requestBody?.content ?? {}),
      ...Object.values(responses[200]?.content ?? {}),
    ]);
    const samples = bodies.flatMap(({ schema, examples = {} }) =>
      Object.values(examples).map(({ value }) => ({ fits: compileIn(document, schema), value })),
    );
    for (const { fits, value } of samples) assert.ok(fits(value), JSON.stringify([value, fits.errors]));
  });
}

test("the output is deterministic", async () => {
  assert.equal((await documentOf(hard.root)).text, (await hardDocument()).text);
});

test("the validator of the tests finds faults", async () => {
  const { text } = await hardDocument();
  const broken = text.replace('"#/components/schemas/xyz.test.tool-grow.v1.Tree"', '"#/components/schemas/None"');
  assert.notEqual(broken, text);
  assert.match((await lint(broken)).join("\n"), /no-unresolved-refs/);
});

test("tools of a project: paths, stable names, tags", async () => {
  const { document } = await hardDocument();
  assert.deepEqual(
    Object.keys(document.paths).sort(),
    [
      ...["/deep/Other/health", "/deep/Other/invoke", "/deep/Other/meta"],
      ...["/health", "/invoke", "/meta", "/Grow/health", "/Grow/invoke", "/Grow/meta", "/tools"].sort(),
    ].sort(),
  );
  assert.deepEqual(
    operationsOf(document)
      .map(({ operationId, tags }) => `${tags.join()} ${operationId}`)
      .sort(),
    [
      "server server.tools",
      ...["grow", "other", "root"].flatMap((tool) =>
        ["health", "invoke", "meta"].map((each) => `xyz.test.tool-${tool}@1 xyz.test.tool-${tool}.v1.${each}`),
      ),
    ],
  );
  const { "/health": ofServer } = (await keptDocument(ORDERS)).document.paths;
  assert.equal(ofServer?.get?.operationId, "server.health");
  const names = Object.keys(document.components.schemas).filter((each) => each.startsWith("xyz.test.tool-grow"));
  assert.deepEqual(
    names,
    ["Input", "Tree", "Record", "Input_2", "Result", "Result_2", "Result.found", "Result.some"].map(
      (each) => `xyz.test.tool-grow.v1.${each}`,
    ),
  );
});

test("the result in JSON: string literals are themselves, and the reserved failure is one of the variants", async () => {
  const { document } = await hardDocument();
  const fits = compileIn(document, document.components.schemas["xyz.test.tool-grow.v1.Result"] ?? {});
  for (const [value, expected] of [
    [{ "no`ne": {} }, false],
    ["no`ne", true],
    [{ _err_eval: { reason: "x" } }, true],
    [{ some: { result: { input: { a: "" } }, other: { input: { a: "" } } } }, true],
    [{ some: { result: { input: { a: 1 } }, other: { input: { a: "" } } } }, false],
    [{ found: { trees: [{ name: "x", children: [{ name: 1 }] }], at: "2026-01-01T00:00:00Z" } }, false],
    [{}, false],
  ] as const) {
    assert.equal(fits(value), expected, JSON.stringify(value));
  }
});

test("list ports have 1 to 256 values; other lists have their declared bounds", async () => {
  const { components } = (await hardDocument()).document;
  const { properties: input } = portsOf(components.schemas["xyz.test.tool-grow.v1.Input"]);
  const found = portsOf(portsOf(components.schemas["xyz.test.tool-grow.v1.Result.found"]).properties.found);
  const bounds = ({ minItems, maxItems }: Bounds = {}) => [minItems, maxItems];
  assert.deepEqual(bounds(input.pair), [1, 2]);
  assert.deepEqual(bounds(found.properties.trees), [1, 256]);
  assert.deepEqual(bounds(input["a/b~c%"]?.anyOf?.at(-1)), [undefined, undefined]);
  const tree = portsOf(components.schemas["xyz.test.tool-grow.v1.Tree"]);
  assert.deepEqual(bounds(tree.properties.children), [undefined, undefined]);
  const { document } = await keptDocument(ORDERS);
  const { properties } = portsOf(document.components.schemas["shop.orders.quote.v1.Input"]);
  assert.deepEqual(bounds(properties.lines), [1, 256]);
});

test("every status and code of protocol.md section 7, each in its schema and with an example", async () => {
  const protocol = readFileSync(join(REPOSITORY, "docs/protocol.md"), "utf8");
  const rows = [...protocol.matchAll(/^\| (\d{3}(?:, \d{3})*) \| (.*?) \|/gm)];
  const table = rows.flatMap(([, statuses = "", codes = ""]) => {
    const names = [...codes.matchAll(/`([a-z_]{4,})`/g)].map(([, code]) => code as string);
    const each = statuses.split(", ");
    return names.map((code, at) => `${each.length === 1 ? each[0] : each[at]} ${code}`);
  });
  assert.ok(table.length > 20);
  const { document } = await hardDocument();
  const { schemas, responses } = document.components;
  const documented = Object.entries(responses).flatMap(([name, { content }]) => {
    const schema = schemas[name] as { properties: { error: { enum: string[] } } };
    const codes = schema.properties.error.enum;
    assert.deepEqual(Object.keys(content["application/json"]?.examples ?? {}), codes);
    return codes.map((code) => `${name.replace("Error", "")} ${code}`);
  });
  assert.deepEqual(documented.sort(), [...new Set(table)].sort());
  const invoke = document.paths["/invoke"]?.post?.responses ?? {};
  assert.deepEqual(
    Object.keys(invoke).filter((status) => status !== "200"),
    [...new Set(table.map((each) => each.slice(0, 3)))].sort(),
  );
});

test("title, version, URL, prefix and exact integers", async () => {
  const { text, document } = await documentOf(hard.root, "--url", "https://tools.example.org/base/");
  assert.deepEqual([document.info.title, document.info.version], ["tools", "1.0.0"]);
  assert.deepEqual(document.servers, [{ url: "https://tools.example.org/base" }]);
  assert.ok(text.includes("9223372036854775807"), "no digit is lost");
  assert.ok(text.includes('"format": "int64"'));
  const names = ({ components }: Document) => Object.values(components.parameters).map(({ name }) => name);
  const headers = ["Sig-V", "Leader-Id", "Leader-Key-Id", "Input-Hash", "Leader-Signature", "Nonce"];
  assert.deepEqual(
    names(document),
    headers.map((name) => `X-Svc-${name}`),
  );
  const older = await documentOf(hard.root, "--header-prefix", "X-Nexus-");
  assert.deepEqual(
    names(older.document),
    headers.map((name) => `X-Nexus-${name}`),
  );
  assert.equal(/X-Svc-[A-Z]/.exec(older.text)?.[0], undefined);
});

test("schema: the input or the output of a tool, exactly as in meta.json", async () => {
  const [meta] = JSON.parse(readFileSync(join(REPOSITORY, "examples/orders/meta.json"), "utf8"));
  const schema = (...args: string[]) => svcGenIn(ORDERS, ["schema", ...args]);
  for (const name of ["shop.orders.quote@1", "/orders/quote"]) {
    const { code, out } = await schema(name);
    assert.deepEqual([code, JSON.parse(out)], [EXIT.done, meta.input_schema], name);
  }
  assert.deepEqual(JSON.parse((await schema("quote", "--output")).out), meta.output_schema);
  const only = await svcGenIn(join(REPOSITORY, "examples/text"), ["schema"]);
  assert.equal(JSON.parse(only.out).properties.text.maxLength, 100_000);
});

test("usage errors of schema differ from project errors in their exit code", async () => {
  for (const [args, message] of [
    [["schema", "qoute"], 'unknown tool "qoute"; did you mean quote?'],
    [["schema"], "schema expects a tool: shop.orders.quote@1, shop.orders.settle@1"],
  ] as const) {
    const { code, out, err } = await svcGenIn(ORDERS, args);
    assert.deepEqual([code, out, err.split(" (see ")[0]], [EXIT.usage, "", `svc-gen: ${message}`]);
  }
  const project = new ToolProject({ "src/bad.ts": toolSource("Bad", "{ when: Map<string, string> }") });
  for (const command of ["openapi", "schema"]) {
    const { code, out, err } = await svcGenIn(project.root, [command]);
    assert.deepEqual([code, out], [EXIT.failure, ""]);
    assert.match(err, /error SVC134: Bad\.Input\.when/);
  }
});
