// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hostile source texts
/** The generated files as an author's compiler and runtime see them, hostile names included. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Contract } from "#client/wire/codec/contract.js";
import { literal } from "#generator/compile/emit/print-literal.js";
import { specifier } from "#generator/compile/project/layout.js";
import { proves } from "../proves.js";
import { compile, FASTEST } from "../typescript/compilers.js";
import { STRICTEST as EVERYTHING } from "../typescript/strictest-tests.js";
import { STRICT, ToolProject, toolSource } from "./project.js";

const STRICTEST = { ...STRICT, ...EVERYTHING, skipLibCheck: true, types: ["node"] };

const HOSTILE = [
  'a"b',
  "a'b",
  "a`b",
  "a\\b",
  "a\nb",
  "*/",
  "//",
  "${x}",
  "{{x}}",
  "{{{x}}}",
  "</script>",
  "<!--",
  "\\u0022",
  "\u0000",
  "\u007f",
  "__proto__",
  "constructor",
  "toString",
  "prototype",
  "require",
  "0",
  "-1",
  `'"\``,
];

/** What no port may be called, but a member further in may be, and a literal. */
const EXOTIC = ["\u2028", "\u2029", "\u202e\u2066", "\\u{1f600}", "\u{1f600}", "*/\n//", "\r"];

const name = (text: string) => (text === "__proto__" ? '["__proto__"]' : JSON.stringify(text));

test("hostile names stay texts; the generated project compiles with the strictest options and starts", async () => {
  const exotic = EXOTIC.map((text) => `${JSON.stringify(text)}: ${JSON.stringify(text)}`).join("; ");
  const members = [...HOSTILE.map((text) => `${name(text)}: string`), `exotic: { ${exotic} }`].join("; ");
  const description = JSON.stringify(`${HOSTILE.join(" ")}\u2028\u202e\u{1f600}`);
  const source = (tool: string) =>
    toolSource(
      tool,
      `{ ${members} }`,
      `{ ${name('a"*/b')}: { ${HOSTILE.slice(0, 16)
        .map((text) => `${name(text)}: number`)
        .join("; ")} } } | ${JSON.stringify("`${x}")}`,
    )
      .replace('"A tool."', () => description)
      .replace(`return "${tool}"`, () => `return "${tool}/$&'/(a)"`);
  const project = new ToolProject(
    { 'src/it\'s a `${file}` "é"\u2028\u202e/*.ts': source("One"), "src/deep/er/two.mts": source("Two") },
    STRICTEST,
    "svc-gen é it's ",
  );
  const texts = project.build();
  assert.match(texts["src/generated/server.ts"] ?? "", /from "\.\.\/deep\/er\/two\.mjs";/);
  assert.equal(compile(FASTEST, project.root), "");
  const served = spawnSync(process.execPath, ["dist/generated/server.js", "--meta"], {
    cwd: project.root,
    encoding: "utf8",
  });
  assert.equal(served.stderr, "");
  assert.equal(served.stdout, readFileSync(join(project.root, "meta.json"), "utf8"));
  const [first] = JSON.parse(served.stdout) as [{ description: string; input_schema: { required: string[] } }];
  assert.equal(first.description, JSON.parse(description));
  assert.deepEqual(first.input_schema.required, [...HOSTILE, "exotic"]);
  const contracts = await project.contracts();
  for (const [index, tool] of ["Two", "One"].entries()) {
    const { description: text, path, input } = contracts[index] as Contract;
    assert.deepEqual([text, path], [JSON.parse(description), `${tool}/$&'/(a)`]);
    assert.deepEqual(
      input.map((port) => port.name),
      [...HOSTILE, "exotic"],
    );
    assert.deepEqual(input.at(-1)?.codec, {
      kind: "object",
      members: EXOTIC.map((each) => ({ name: each, codec: { kind: "literal", values: [each] } })),
    });
  }
  // Nothing but printable characters stands in the files as it is.
  for (const path of ["contracts", "server"].map((file) => `src/generated/${file}.ts`))
    assert.doesNotMatch(texts[path] ?? "\0", /[^\n\x20-\x7e\p{L}\p{N}\p{P}\p{S}]/u);
  proves("9.9");
});

test("the other ways to compile: bundler resolution, and a project whose files already import what is generated", () => {
  const options = {
    ...STRICTEST,
    verbatimModuleSyntax: false,
    isolatedModules: false,
    module: "ESNext",
    moduleResolution: "bundler",
    paths: { "@/*": ["./src/*"] },
  };
  const project = new ToolProject(
    {
      "src/sum.ts": toolSource("Sum", "{ text: string; list: string[] }"),
      "src/demo.ts":
        'import { contracts } from "./generated/contracts.js";\nimport { one } from "./lib";\nimport { Sum } from "@/sum.js";\nexport const sum = Sum;\nexport const count: number = contracts.length + one;\n',
      "src/lib/index.ts": "export const one = 1;\n",
    },
    options,
  );
  project.build();
  assert.equal(compile(FASTEST, project.root), "");
  assert.ok(existsSync(join(project.root, "dist/generated/contracts.js")));
});

test("literals print everything that could end them as escapes", () => {
  assert.equal(literal("a'\"\\\n\u2028\u202e\ud800é</script>"), `"a'\\"\\\\\\n\\u2028\\u202e\\ud800é\\u003c/script>"`);
  assert.equal(literal('say "it\'s" \\'), `'say "it\\'s" \\\\'`);
  assert.equal(literal([1, -0, null, true, 5n, { a: [], b: {} }]), "[1, -0, null, true, 5n, { a: [], b: {} }]");
  assert.throws(() => literal(undefined), TypeError);
});

test("specifiers point at the emitted files", () => {
  assert.equal(specifier("src/generated/server.ts", "src/sum.ts"), "../sum.js");
  assert.equal(specifier("src/generated/server.ts", "src/a/b.mts"), "../a/b.mjs");
  assert.equal(specifier("src/generated/server.ts", "src/generated/x.cts"), "./x.cjs");
  assert.equal(specifier("out/server.ts", "src/v.tsx"), "../src/v.js");
});

test("server-options.ts next to the generated folder is passed to bootstrap, and its errors are reported", () => {
  // Without the types of Node, which a dozen runs would read each.
  const project = new ToolProject({ "src/a.ts": toolSource("A", "{ a: string }") }, { ...STRICTEST, types: [] });
  const optionsFile = (text: string) => project.write({ "src/server-options.ts": text });
  const typed = 'import type { BootstrapOptions } from "svc-runtime";\n';
  const errors = () =>
    project.generate().diagnostics.map(({ code, place, message }) => {
      return `${code} ${place?.file}:${place?.line}:${place?.column} ${message.replace(/^.*?: /, "")}`;
    });
  const without = project.build()["src/generated/server.ts"];
  assert.doesNotMatch(without ?? "", /options/);
  optionsFile(`${typed}export const options: BootstrapOptions = { headerPrefix: "X-Own-", maxConnections: 5 };\n`);
  const server = project.build()["src/generated/server.ts"] ?? "";
  assert.match(server, /^import \{ options \} from "\.\.\/server-options\.js";$/m);
  assert.match(server, /^bootstrap\(A, options\);$/m);
  assert.equal(compile(FASTEST, project.root), "");
  // A fault of the options ends the start: they have reached bootstrap.
  optionsFile(`${typed}export const options: BootstrapOptions = { headerPrefix: "not a header" };\n`);
  assert.equal(compile(FASTEST, project.root), "");
  const started = spawnSync(process.execPath, [join(project.root, "dist/generated/server.js")], { encoding: "utf8" });
  assert.equal(started.status, 1);
  assert.match(started.stderr, /^cannot start: headerPrefix: /);

  optionsFile(`${typed}const own: BootstrapOptions = { shutdown: { drainMs: 1 } };\nexport { own as options };\n`);
  project.write({ "src/b.ts": toolSource("options", "{ a: string }") });
  const several = project.build()["src/generated/server.ts"] ?? "";
  assert.match(several, /^bootstrap\(\[\n {2}A,\n {2}options2,\n\] as const, options\);$/m);
  for (const [text, error] of [
    ["export default {};", "1:1 it does not export a constant options"],
    ["", "1:1 it does not export a constant options"],
    ["export type options = {};", "1:1 it does not export a constant options"],
    ["export const options = { maxConections: 5 };", "1:14 options has the type { maxConections: number; }"],
  ]) {
    optionsFile(text ?? "");
    assert.deepEqual(errors(), [`SVC124 src/server-options.ts:${error}`], text);
  }
  rmSync(join(project.root, "src/server-options.ts"));
  rmSync(join(project.root, "src/b.ts"));
  assert.equal(project.build()["src/generated/server.ts"], without);
});
