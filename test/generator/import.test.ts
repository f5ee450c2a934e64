/** `svc-gen import`: the metadata that svc-gen generates from imported classes is the metadata that was imported. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadMetadata } from "#generator/import/load-metadata.js";
import { errEval } from "#runtime/index.js";
import { leasePort } from "../e2e/process.js";
import { snippetOf } from "../guide.js";
import { listen } from "../listening.js";
import { REPOSITORY } from "../repository.js";
import { makeCertificate } from "../runtime/certificate.js";
import { readVectors } from "../vectors/read.js";
import { DONE, documents, inputOf, metadataOf, roundTrip } from "./imported.js";
import { ToolProject } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const EXAMPLES = ["sum", "text", "report", "orders"];
const exampleOf = (name: string) => readFileSync(join(REPOSITORY, "examples", name, "meta.json"), "utf8");
const trips = new Map<string, ReturnType<typeof roundTrip>>();

/** The import of an example, made once. */
function exampleTrip(name: string): ReturnType<typeof roundTrip> {
  const trip = trips.get(name) ?? roundTrip(exampleOf(name));
  trips.set(name, trip);
  return trip;
}

describe("imports of the examples have equal contracts", () => {
  for (const name of EXAMPLES) {
    it(name, async () => {
      const { tools, generated } = await exampleTrip(name);
      assert.deepEqual(
        tools.map(({ samePorts, verdict }) => [samePorts, verdict]),
        tools.map(() => [true, "same"]),
      );
      assert.deepEqual([...generated].sort(), [...documents(exampleOf(name))].sort());
    });
  }
});

describe("recorded schemas", () => {
  interface Case {
    readonly name: string;
    readonly input_schema: string;
    readonly output_schema: string;
    readonly expect: { readonly ok: boolean };
  }
  const { cases } = readVectors<{ readonly cases: readonly Case[] }>("schema.json");

  /** Names of cases that come back with other types. */
  const VERDICTS: Readonly<Record<string, string>> = { "ref variant": "compatible" };

  const taken = cases.filter(({ expect }) => expect.ok);
  let trip: ReturnType<typeof roundTrip> | undefined;
  const importTaken = () => {
    const all = taken.map((each, at) => metadataOf(each.input_schema, each.output_schema, "A tool.", `recorded${at}`));
    trip ??= roundTrip(`[${all.join(",")}]`);
    return trip;
  };

  for (const recorded of cases) {
    const { name, input_schema, output_schema, expect } = recorded;
    it(name, async () => {
      if (!expect.ok) {
        const project = new ToolProject({ "imported.json": metadataOf(input_schema, output_schema) });
        const { code, err } = await svcGenIn(project.root, ["import", "imported.json"]);
        assert.equal(code, 1);
        assert.match(err, /^svc-gen: xyz\.test\.imported@1 in "imported\.json" cannot be imported: /);
        assert.equal(existsSync(join(project.root, "src")), false);
        return;
      }
      const { tools, generated } = await importTaken();
      const { fqn, samePorts, verdict } = tools[taken.indexOf(recorded)] ?? assert.fail();
      assert.deepEqual([samePorts, verdict], [true, VERDICTS[name] ?? "same"]);
      assert.deepEqual([generated.size, generated.has(fqn)], [taken.length, true]);
    });
  }
});

describe("schemas of other toolkits", () => {
  const patterns = '"patternProperties":{"^s_":{"type":"string"},"^n_":{"type":"number"}}';
  const secret = (types: string) => `{"type":${types},"format":"password","writeOnly":true}`;
  const closed = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}';
  const line = '{"type":"object","properties":{"n":{"type":"number"}},"required":["n"],"description":"A line."}';
  const tree =
    '{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/Tree"},{"type":"null"}]},"line":{"$ref":"#/$defs/Line"}},"required":["line"]}';
  const kind = (name: string, more = "", required = "") =>
    `{"properties":{"kind":{"type":"string","const":"${name}"}${more}},"required":["kind"${required}]}`;

  /** Members of the input, those that are not required (`?`), and expected texts in the class; "same" if the schema is equal. */
  const CASES: Readonly<Record<string, readonly [properties: string, ...expected: (RegExp | "same")[]]>> = {
    "bounds of integer formats": [
      '"i":{"type":"integer","format":"int32"},"u":{"type":"integer","format":"uint8","minimum":0,"maximum":255},"n":{"type":"integer","format":"uint16","minimum":5}',
      /\/\*\* @format int32 \*\/\n {2}i: number;\n {2}\/\*\* @format uint8 \*\/\n {2}u: number;/,
      /@format uint16\n {3}\* @minimum 5\n {3}\*\/\n {2}n: number;/,
    ],
    "usize and doubles": [
      '"s":{"type":"integer","format":"uint","minimum":0},"f":{"type":"number","format":"double"}',
      /@format uint64\n {3}\* @minimum 0\n {3}\*\/\n {2}s: bigint;\n {2}f: number;/,
    ],
    "integers of 64 bits, large bounds, nullable members, maps, tuples, bytes and dates": [
      [
        `"i":{"type":"integer","format":"int64","minimum":-9223372036854775808}`,
        `"u?":{"type":["integer","null"],"format":"uint64","minimum":0}`,
        `"large?":{"type":["integer","null"],"maximum":18446744073709551616}`,
        `"n":{"type":["string","null"],"minLength":1}`,
        `"map":{"type":"object","additionalProperties":{"type":"integer","format":"int64"}}`,
        `"open":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":{}}`,
        `"pair?":{"type":["array","null"],"prefixItems":[{"type":"string"},{"type":["number","null"]}],"items":false,"minItems":1,"maxItems":2}`,
        `"bytes?":{"type":["string","null"],"contentEncoding":"base64"}`,
        `"at?":{"type":["string","null"],"format":"date-time"}`,
        `"any?":{}`,
        `"lists":{"type":"array","items":{"type":"array","items":{"type":"string","maxLength":3},"minItems":1},"maxItems":9}`,
        `"texts":{"type":"array","items":{"type":"string","pattern":"^a","description":"A text."},"minItems":2}`,
      ].join(","),
      "same",
    ],
    "an integer without a format": ['"n":{"type":"integer"}', /^ {2}\/\*\* @asType integer \*\/\n {2}n: number;$/m],
    "several patterns of names": [
      `"a":{"type":"object",${patterns},"additionalProperties":false},"b":{"type":"object",${patterns},"additionalProperties":{"type":"boolean"}}`,
      /a: (?:Record<string, |\{ \[\w+: string\]: )string \| number\b/,
      /b: (?:Record<string, |\{ \[\w+: string\]: )boolean \| string \| number\b/,
    ],
    "schemas that no type combines, and a date with a constraint": [
      '"p":{"allOf":[{"type":"string"},{"type":"number"}]},"at":{"type":"string","format":"date-time","minLength":3}',
      /^ {2}p: unknown;\n {2}\/\*\*\n {3}\* @format date-time\n {3}\* @minLength 3\n {3}\*\/\n {2}at: string;$/m,
    ],
    "objects that forbid other members": [`"x":${closed},"y":{"type":"object","additionalProperties":false}`, "same"],
    "definitions that are used twice or are recursive keep their names": [
      '"line":{"$ref":"#/$defs/Line","description":"Mine."},"tree":{"$ref":"#/$defs/Tree"},"once":{"$ref":"#/$defs/Line"}',
      /^export interface Line \{\n {2}n: number;\n\}$/m,
      /^export interface Tree \{\n {2}next\?: Tree;\n {2}line: Line;\n\}$/m,
      "same",
    ],
    "a tagged union with common members": [
      `"shape":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"oneOf":[${kind("a")},${kind("b", ',"n":{"type":"number"}', ',"n"')}]}`,
      /^ {2}shape: \{ id: string; kind: "a" \} \| \{ id: string; kind: "b"; n: number \};$/m,
    ],
    "a default that does not fit its type, and bounds that exclude each other": [
      '"n?":{"type":["number","null"],"default":"x","description":"A number.","minimum":3,"maximum":1}',
      /\/\*\*\n {3}\* A number\.\n {3}\* @minimum 3\n {3}\*\/\n {2}n\?: number;/,
    ],
    "invalid patterns and those with exponential run time": [
      '"a":{"type":"string","pattern":"^(a+)+$"},"b":{"type":"string","pattern":"(?i)a"}',
      /^export interface Input \{\n {2}a: string;\n {2}b: string;\n\}$/m,
    ],
    "everything but null": [
      '"every":{"type":["array","boolean","number","object","string"]}',
      /^ {2}every: NonNullable<unknown>;$/m,
    ],
    "a list port": ['"many?":{"type":"array","items":{"type":"string"}}', /^ {2}many: string\[\];$/m],
    "a secret; a member with a name like a secret": [
      `"apiKey?":${secret('["string","null"]')},"keys":{"type":"array","items":${secret('"string"')}},"token":{"type":"string"}`,
      /\n {2}\/\*\* @secret \*\/\n {2}apiKey\?: string;\n {2}\/\*\* @secret \*\/\n {2}keys: string\[\];\n {2}token: string;/,
      "same",
    ],
  };

  const schemaOf = (properties: string) => {
    const given = JSON.parse(`{${properties}}`) as Record<string, unknown>;
    const required = Object.keys(given).filter((name) => !name.endsWith("?"));
    const more = `,"required":${JSON.stringify(required)}${properties.includes("$ref") ? `,"$defs":{"Line":${line},"Tree":${tree}}` : ""}`;
    return inputOf(properties.replace(/\?":/g, '":'), more);
  };
  let trip: ReturnType<typeof roundTrip> | undefined;
  const importAll = () => {
    const all = Object.values(CASES).map(([properties], at) =>
      metadataOf(schemaOf(properties), DONE, "A tool.", `case${at}`),
    );
    trip ??= roundTrip(`[${all.join(",")}]`);
    return trip;
  };
  for (const [at, [name, [properties, ...expected]]] of Object.entries(CASES).entries()) {
    it(name, async () => {
      const { tools, sources, generated } = await importAll();
      assert.equal(tools[at]?.samePorts, true);
      const document = JSON.parse(generated.get(`xyz.test.case${at}@1`) ?? "");
      for (const each of expected) {
        if (each === "same") assert.deepEqual(document.input_schema, JSON.parse(schemaOf(properties)));
        else assert.match(sources[at] ?? "", each);
      }
    });
  }
});

it("docs/from-rust.md shows what the command prints and writes", async () => {
  const page = readFileSync(join(REPOSITORY, "docs/from-rust.md"), "utf8");
  const block = (info: string) => snippetOf(page, info);
  const project = new ToolProject({ "convert.json": block("json file=convert.json") });
  const [program, ...args] = block("sh import").trim().split(" ");
  assert.equal(program, "svc-gen");
  const { code, out, err } = await svcGenIn(project.root, args);
  assert.deepEqual([code, out, err], [0, block("text output"), ""]);
  assert.equal(readFileSync(join(project.root, "src/convert.ts"), "utf8"), block("ts file=src/convert.ts"));
  assert.match(project.build()["meta.json"] ?? "", /"org\.example\.convert@1"/);
});

describe("the command", () => {
  const sum = exampleOf("sum");

  async function imported(
    args: readonly string[],
    files: Readonly<Record<string, string>> = { "meta.json": sum },
    { hasManifest = true } = {},
  ) {
    const project = new ToolProject(files);
    if (!hasManifest) for (const path of ["package.json", "tsconfig.json"]) rmSync(join(project.root, path));
    const ran = await svcGenIn(project.root, ["import", ...args]);
    return { ...ran, root: project.root };
  }

  it("prints what it wrote, warnings, and the next step", async () => {
    const text = sum.replace('"type": "string"', '"type": "string", "not": { "const": "\\u0007\\u202e" }');
    const { code, out, err } = await imported(["meta.json"], { "meta.json": text });
    const next = `wrote test/  a test to complete for each tool

Next: implement invoke and health in src, then svc-gen
`;
    assert.equal(out, `wrote src/sum.ts  xyz.demo.sum@1: the ports are the same; 1 change\n${next}`);
    assert.deepEqual([code, err], [0, ""]);
    const verbose = await imported(["meta.json", "--verbose"], { "meta.json": text });
    assert.equal(
      verbose.err,
      `warning: xyz.demo.sum@1: input label: /input_schema/properties/label: {"type":"string","not":{"const":"\\u0007\\u202e"}} -> {"type":"string"}: accepts more values\n`,
    );
  });

  it("reports different ports first", async () => {
    const when = '{"type":"string","format":"date-time"}';
    const pair = `{"type":"array","prefixItems":[${when},{"type":"string"}],"items":false,"minItems":2,"maxItems":2}`;
    const text = metadataOf(inputOf(`"pair":${pair}`, ',"required":["pair"]'), DONE);
    const { code, out, err } = await imported(["meta.json", "--verbose"], { "meta.json": text });
    assert.match(out, /^wrote src\/imported\.ts {2}xyz\.test\.imported@1: the ports differ\n/);
    const lines = err.trimEnd().split("\n");
    assert.equal(code, 0);
    assert.equal(
      lines[0],
      "warning: xyz.test.imported@1: the ports differ from the imported ones: register the tool as a new version",
    );
    assert.match(lines[1] ?? "", /: input pair: changed from a list \(many\) to one value$/);
  });

  it("imports the valid tools of a list and names each refused one", async () => {
    const [, head = ""] = /^\[([\s\S]*)\]\s*$/.exec(sum) ?? [];
    const broken = head.replace("xyz.demo.sum@1", "xyz.demo.broken@1").replace('"oneOf"', '"allOf"');
    const { code, out, err, root } = await imported(["m.json"], {
      "m.json": `[${[broken, head, head, "{}"].join(",")}]`,
    });
    assert.equal(code, 1);
    assert.match(out, /^wrote src\/sum\.ts /);
    assert.deepEqual(readdirSync(join(root, "src")), ["sum.ts"]);
    const [first, second, third, last, ...more] = err.trimEnd().split("\n");
    assert.deepEqual(more, []);
    assert.match(
      [first, second, third].sort().join("\n"),
      /contains xyz\.demo\.sum@1 twice .*\n.*is not metadata: at \/3\/fqn: .*\n.*xyz\.demo\.broken@1 .*cannot be imported: output schema: /,
    );
    assert.equal(last, "3 tools of 4 cannot be imported");
  });

  it("rewrites tagged results as externally tagged ones", async () => {
    const object = (members: string, names: string) =>
      `{"type":"object","properties":{${members}},"required":[${names}]}`;
    const tag = (value: string) => `"kind":{"type":"string","const":"${value}"}`;
    const content = object('"a":{"type":"string"}', '"a"');
    const cases: readonly (readonly [oneOf: string, type: string | undefined])[] = [
      [
        `${object(`${tag("ok")},"a":{"type":"string"}`, '"kind","a"')},${object(tag("none"), '"kind"')}`,
        'export type Output = { ok: { a: string } } | "none";',
      ],
      [
        `${object(`${tag("ok")},"value":${content}`, '"kind","value"')},${object(tag("none"), '"kind"')}`,
        'export type Output = { ok: { a: string } } | "none";',
      ],
      [
        `{"type":"object","properties":{${tag("ok")}},"required":["kind"],"$ref":"#/$defs/A"},${object(tag("none"), '"kind"')}`,
        'export type Output = { ok: { a: string } } | "none";',
      ],
      // Two variants of one tag, a tag that may be absent, no tag.
      [`${object(tag("ok"), '"kind"')},${object(`${tag("ok")},"a":{}`, '"kind"')}`, undefined],
      [`${object(`${tag("ok")},"a":{}`, '"a"')},${object(`${tag("none")},"a":{}`, '"a"')}`, undefined],
      [`${object('"a":{},"b":{}', "")}`, undefined],
    ];
    for (const [oneOf, type] of cases) {
      const output = `{"oneOf":[${oneOf}],"$defs":{"A":${content}}}`;
      const { code, err, root } = await imported(["m.json"], { "m.json": metadataOf(inputOf(""), output) });
      if (type === undefined) {
        assert.match(err, /cannot be imported: output variant: /);
        continue;
      }
      assert.equal(code, 0, err);
      assert.match(err, /the old output distinguishes variants by the member kind.*register the tool as a new version/);
      assert.ok(readFileSync(join(root, "src/imported.ts"), "utf8").includes(type), oneOf);
    }
  });

  it("refuses to replace a file without --force, and writes nothing", async () => {
    const files = {
      "meta.json": readFileSync(join(REPOSITORY, "examples/orders/meta.json"), "utf8"),
      "src/settle.ts": "//",
    };
    const { code, out, err, root } = await imported(["meta.json"], files);
    assert.deepEqual([code, out], [1, ""]);
    assert.equal(
      err,
      'svc-gen: "src/settle.ts" already exists (choose another folder with --out, or add --force to replace the files)\n',
    );
    assert.deepEqual([readdirSync(join(root, "src")), existsSync(join(root, "test"))], [["settle.ts"], false]);
    assert.equal((await svcGenIn(root, ["import", "meta.json", "--force"])).code, 0);
    assert.deepEqual(readdirSync(join(root, "src")).sort(), ["quote.ts", "settle.ts"]);
    assert.match(readFileSync(join(root, "src/settle.ts"), "utf8"), /export class Settle extends SvcTool/);
    assert.equal((await svcGenIn(root, ["import", "meta.json", "--out", "src/more"])).code, 0);
    assert.deepEqual(readdirSync(join(root, "src/more")).sort(), ["quote.ts", "settle.ts"]);
    assert.deepEqual(readdirSync(join(root, "test")).sort(), ["more", "quote.test.ts", "settle.test.ts"]);
    assert.match(
      readFileSync(join(root, "test/more/settle.test.ts"), "utf8"),
      / from "\.\.\/\.\.\/src\/more\/settle\.js";/,
    );
  });

  it("creates a project if there is none, and says so", async () => {
    const { code, out, root } = await imported(["meta.json"], { "meta.json": sum }, { hasManifest: false });
    assert.match(out, /^wrote package\.json and the other files of a new project\n/m);
    assert.match(out, /\nNext: npm install; then implement invoke and health in src, then svc-gen\n$/);
    const config = JSON.parse(readFileSync(join(root, "config.example.json"), "utf8"));
    assert.deepEqual([code, Object.keys(config.signed_http.tools)], [0, ["xyz.demo.sum@1"]]);
    assert.ok(
      ["package.json", "tsconfig.json", "test/tsconfig.json", "Dockerfile"].every((path) =>
        existsSync(join(root, path)),
      ),
    );
  });

  it("a class compiles, is out of service and answers that it is not implemented", async () => {
    const { project } = await exampleTrip("sum");
    const { Sum } = (await project.load("src/sum.ts")) as { Sum: new () => { invoke(): unknown; health(): unknown } };
    const tool = new Sum();
    assert.deepEqual(await tool.invoke(), errEval("not implemented"));
    assert.equal(await tool.health(), 501);
  });

  it("tools with the same name or path get different files and paths", async () => {
    const tool = (fqn: string, url: string) =>
      `{"fqn":"${fqn}","url":"${url}","description":"A tool.","input_schema":${inputOf("")},"output_schema":${DONE}}`;
    const all = [
      tool("org.one.sum@1", "http://localhost/sum"),
      tool("org.two.sum@1", "http://localhost/sum"),
      tool("org.one.sum@2", "http://localhost/"),
      tool("org.two.promise@1", "not a url"),
      tool("org.two.status-code@1", "http://localhost/a//b"),
      tool("org.two.server-options@1", "http://localhost/options"),
    ];
    const { tools } = await roundTrip(`[${all.join(",")}]`);
    assert.deepEqual(
      tools.map(({ fqn, file, class: name, path }) => `${fqn} ${file} ${name} /${path}`),
      [
        "org.one.sum@1 src/sum.ts Sum /sum",
        "org.two.sum@1 src/org-two-sum.ts OrgTwoSum /org-two-sum",
        "org.one.sum@2 src/org-one-sum.ts OrgOneSum /",
        "org.two.promise@1 src/promise.ts PromiseTool /promise",
        "org.two.status-code@1 src/status-code.ts StatusCodeTool /a/b",
        "org.two.server-options@1 src/org-two-server-options.ts OrgTwoServerOptions /options",
      ],
    );
  });

  const REFUSED: readonly (readonly [name: string, content: string | Buffer, message: RegExp])[] = [
    ["nothing", "", /"m\.json" is not metadata: expected JSON: /],
    ["no JSON", "{", /"m\.json" is not metadata: expected JSON: /],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]), /"m\.json" is not metadata: expected JSON: it is not UTF-8 /],
    [
      "a text",
      '"x"',
      /"m\.json" is not metadata: expected an object with fqn, input_schema and output_schema, got a text /,
    ],
    ["an empty list", "[]", /"m\.json" is not metadata: the list is empty /],
    ["a list of paths", '["sum"]', /"m\.json" is not metadata: at \/0: expected an object with fqn, .*, got a text /],
    ["no name", "{}", /"m\.json" is not metadata: at \/fqn: expected the name of a tool, got nothing /],
    [
      "a bad name",
      sum.replace("xyz.demo.sum@1", "\\u001b[2J"),
      /"m\.json" is not metadata: at \/0\/fqn: "\\u001b\[2J" is not the name of a tool: /,
    ],
    [
      "no description",
      '{"fqn":"org.one.sum@1"}',
      /"m\.json" is not metadata: at \/description: expected a text, got nothing /,
    ],
    ["deep nesting", "[".repeat(5000), /"m\.json" is not metadata: expected JSON: more than 127 levels of nesting/],
    ["too much", " ".repeat(4 * 1024 * 1024 + 1), /m\.json" is larger than 4194304 bytes/],
    ["too many tools", `[${Array(1_001).fill(inputOf("")).join()}]`, /"m\.json" has 1001 tools; the limit is 1000 /],
    [
      "a bad timeout",
      sum.replace('"timeout": 10000', '"timeout": 0.5'),
      /at \/0\/timeout: expected a timeout from 1 to \d+ milliseconds, got a number /,
    ],
  ];
  for (const [name, content, message] of REFUSED) {
    it(`refuses ${name}`, async () => {
      const project = new ToolProject({});
      writeFileSync(join(project.root, "m.json"), content);
      const { code, out, err } = await svcGenIn(project.root, ["import", "m.json"]);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, message);
      assert.match(err, /^svc-gen: [\x20-\x7e]+ \([\x20-\x7e]+\)\n$/);
      assert.equal(existsSync(join(project.root, "src")), false);
    });
  }

  it("reports a file that cannot be read, and an address that is none", async () => {
    for (const [given, message] of [
      ["gone.json", 'cannot read "gone.json": the file does not exist (correct the path)'],
      [".", 'cannot read ".": it is a folder: name its files (correct the path)'],
      ["http://", '"http://" is not a URL (such as https://tools.example.org/sum/meta)'],
      ["http://me:secret@127.0.0.1/meta", "the URL has a user or a password (metadata is public: remove them)"],
    ] as const) {
      const { code, err } = await imported([given]);
      assert.deepEqual([code, err], [1, `svc-gen: ${message}\n`]);
    }
  });
});

describe("over HTTP", () => {
  const sum = exampleOf("sum");

  /** A server whose answers do not end by themselves unless the listener ends them. */
  const serve = async (listener: RequestListener) => `http://${await listen(createServer(listener))}/sum/meta`;

  async function refusal(url: string): Promise<string> {
    const project = new ToolProject({});
    const { code, out, err } = await svcGenIn(project.root, ["import", url]);
    assert.deepEqual([code, out, existsSync(join(project.root, "src"))], [1, "", false]);
    return err.replace(/127\.0\.0\.1:\d+/g, "HOST");
  }

  it("imports what a server answers to GET /meta", async () => {
    const [document] = [...documents(sum).values()];
    const url = await serve((request, response) => response.end(request.url === "/sum/meta" ? document : "no"));
    const project = new ToolProject({});
    const { code, out, err } = await svcGenIn(project.root, ["import", url]);
    assert.deepEqual([code, err], [0, ""], out);
    assert.deepEqual(documents(project.build()["meta.json"] ?? ""), documents(sum));
  });

  it("follows no redirect", async () => {
    const url = await serve((_, response) => response.writeHead(301, { Location: "/other" }).end());
    assert.equal(
      await refusal(url),
      'svc-gen: "http://HOST/sum/meta" answered with status 301 (use the URL that it redirects to)\n',
    );
  });

  it("refuses other answers without printing their content", async () => {
    const missing = await serve((_, response) => response.writeHead(404).end("\u001b[2J"));
    assert.match(
      await refusal(missing),
      /^svc-gen: "http:\/\/HOST\/sum\/meta" answered with status 404 \(use the URL /,
    );
    const page = await serve((_, response) => response.end("<html>"));
    assert.match(await refusal(page), /^svc-gen: "http:\/\/HOST\/sum\/meta" is not metadata: expected JSON: /);
    const cut = await serve((_, response) => {
      response.writeHead(200, { "Content-Length": "100" });
      response.write("[", () => response.destroy());
    });
    assert.match(await refusal(cut), /^svc-gen: cannot read "http:\/\/HOST\/sum\/meta": /);
  });

  it("limits the time until the answer is complete", async () => {
    const silent = await serve(() => {});
    const slow = await serve((_, response) => response.write("["));
    for (const url of [silent, slow]) {
      await assert.rejects(loadMetadata(url, ".", 50), { message: /cannot read .* not complete within 50 ms$/ });
    }
  });

  it("suggests the other scheme, and how to trust a certificate", async () => {
    const host = await listen(createTlsServer(makeCertificate(), () => {}));
    const plain = await serve((_, response) => response.end());
    for (const [url, hint] of [
      [`http://${host}/meta`, /^the server may use TLS: try https:\/\//],
      [
        `https://${host}/meta`,
        /^its certificate is not trusted: set NODE_EXTRA_CA_CERTS to the file of the authority's certificate$/,
      ],
      [plain.replace("http:", "https:"), /^the server may use plain HTTP /],
    ] as const) {
      await assert.rejects(loadMetadata(url, ".", 10_000), { hint });
    }
  });

  it("reports a refused connection", async () => {
    const url = `http://127.0.0.1:${await leasePort()}/meta`;
    assert.match(
      await refusal(url),
      /cannot read .*: connect ECONNREFUSED HOST \(start the server, or correct the port; .*\)\n$/,
    );
  });
});
