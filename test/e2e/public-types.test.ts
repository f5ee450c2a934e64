/**
 * Types that public packages export, as the input of a tool: accepted with the schema that a second reading gives too, or
 * refused, by package and reason. A full run installs the packages. And declarations that were refused wrongly once.
 *
 *     SVC_TEST_FULL=1 SVC_WRITE_DOCS=1 npm run test:run -- e2e/public-types    writes VERSIONING.md
 */

import assert from "node:assert/strict";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { generate } from "#generator/compile/generate.js";
import { ts } from "#generator/compile/project/typescript.js";
import { SecondReader } from "#generator/compile/second-reader/second-reader.js";
import { STRICT, ToolProject, toolSource } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";
import { scratchFolder } from "../scratch-folder.js";
import { ONCE_REFUSED } from "../types/once-refused.js";
import { run } from "./packages.js";

const PAGE = join(REPOSITORY, "VERSIONING.md");

/** Modules with types of data, the packages that have them, and the exported namespace in which they are. */
const MODULES: readonly (readonly [packageName: string, module?: string, namespace?: string])[] = [
  ["@anthropic-ai/sdk", "@anthropic-ai/sdk/resources/messages"],
  ["@slack/types"],
  ["@types/aws-lambda", "aws-lambda"],
  ["@types/estree", "estree"],
  ["@types/geojson", "geojson"],
  ["@types/hast", "hast"],
  ["@types/json-schema", "json-schema"],
  ["@types/luxon", "luxon"],
  ["@types/mdast", "mdast"],
  ["cloudevents"],
  ["@grammyjs/types"],
  ["@octokit/webhooks-types"],
  ["discord-api-types", "discord-api-types/v10"],
  ["openai", "openai/resources/chat/completions"],
  ["openapi-types"],
  ["schema-dts"],
  ["stripe", "stripe", "Stripe"],
  ["vscode-languageserver-types"],
];

/** Types of one module, evenly from its exports in alphabetical order. */
const MOST = 20;

/** The names of the types without parameters that a module exports. */
function typesOf(folder: string, module: string, namespace?: string): string[] {
  const path = join(folder, "src/exports.ts");
  const options: ts.CompilerOptions = { module: ts.ModuleKind.NodeNext, noEmit: true, types: [], noLib: true };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists, getSourceFile } = host;
  const text = `export * from "${module}";\n`;
  const program = ts.createProgram([path], options, {
    ...host,
    fileExists: (name) => name === path || fileExists(name),
    readFile: (name) => (name === path ? text : readFile(name)),
    getSourceFile: (name, wanted) =>
      name === path ? ts.createSourceFile(name, text, wanted) : getSourceFile(name, wanted),
  });
  const checker = program.getTypeChecker();
  const source = checker.getSymbolAtLocation(program.getSourceFile(path) as ts.SourceFile);
  const target = (each: ts.Symbol) => (each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each);
  const exportsOf = (each: ts.Symbol | undefined) =>
    each === undefined ? [] : checker.getExportsOfModule(target(each));
  const all = exportsOf(source);
  const own = namespace === undefined ? all : exportsOf(all.find(({ name }) => name === namespace));
  const names = own.flatMap((exported) => {
    const symbol = target(exported);
    const isType = symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class);
    const isGeneric = (symbol.declarations ?? []).some((each) => {
      return "typeParameters" in each && each.typeParameters !== undefined;
    });
    return isType && !isGeneric && /^[A-Za-z]\w*$/.test(exported.name) ? [exported.name] : [];
  });
  const sorted = names.filter((name) => name !== "default").sort();
  const step = Math.max(1, sorted.length / MOST);
  return Array.from({ length: Math.min(MOST, sorted.length) }, (_, at) => sorted[Math.floor(at * step)] as string);
}

test("svc-gen and the second reader derive the same schemas from public types, or svc-gen refuses the type", {
  skip: process.env.SVC_TEST_FULL !== "1",
}, async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  const names = MODULES.map(([name]) => name);
  const installed = await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...names], {
    cwd: folder,
  });
  assert.equal(installed.status, 0, installed.out);
  const rows: string[] = [];
  const doubtful: string[] = [];
  let total = 0;
  let right = 0;
  for (const [packageName, module = packageName, namespace] of MODULES) {
    const types = typesOf(folder, module, namespace);
    assert.notEqual(types.length, 0, module);
    const sources = Object.fromEntries(
      types.map((name, at) => [
        `src/t${at}.ts`,
        toolSource(
          `T${at}`,
          "{ v: X }",
          '"done"',
          namespace === undefined
            ? `import type { ${name} as X } from "${module}";`
            : `import type { ${namespace} } from "${module}";\ntype X = ${namespace}.${name};`,
        ),
      ]),
    );
    const tools = new ToolProject(sources);
    symlinkSync(join(folder, "node_modules"), join(tools.root, "src/node_modules"));
    const reader = new SecondReader();
    const { diagnostics } = generate({ root: tools.root }, (...tool) => reader.review(...tool));
    tools.remove();
    const reasons = new Map<string, number>();
    for (const at of types.keys()) {
      const own = diagnostics.filter(({ place }) => place?.file === `src/t${at}.ts`);
      const errors = own.filter(({ severity, code }) => severity === "error" || code === "SVC180");
      for (const { code, message } of errors)
        if (code === "SVC180") doubtful.push(`${module} ${types[at]}: ${message}`);
      for (const code of new Set(errors.slice(0, 1).map((each) => each.code))) {
        reasons.set(code, (reasons.get(code) ?? 0) + 1);
      }
      total++;
      if (errors.length === 0) right++;
    }
    const refused = [...reasons].map(([code, count]) => `${count} ${code}`).join(", ");
    const count = [...reasons.values()].reduce((sum, each) => sum + each, 0);
    rows.push(`| ${module} | ${types.length} | ${types.length - count} | ${refused} |`);
  }
  const table = ["| module | types | accepted | refused |", "|---|---|---|---|", ...rows];
  const sum = `| all | ${total} | ${right} | ${total - right} |`;
  if (process.env.SVC_WRITE_DOCS === "1") {
    const text = [...table, sum, ""].join("\n");
    writeFileSync(
      PAGE,
      readFileSync(PAGE, "utf8").replace(/(?<=^## Types of packages\n[^|]*)(?:^\|.*\n)+/m, () => text),
    );
  }
  console.log([...table, sum].join("\n"));
  assert.ok(total >= 200, `${total} types`);
  assert.deepEqual(doubtful, []);
});

test("types that were wrongly refused once are accepted, with the same schema from the second reader", () => {
  const options = { ...STRICT, types: ["node"] };
  const files = ONCE_REFUSED.flatMap(([, declarations, side], at) => {
    const [input, output] = side === "output" ? ["{ a: string }", "{ ok: { v: X } }"] : ["{ v: X }", '"done"'];
    return [
      [`node_modules/pkg${at}/package.json`, `{ "name": "pkg${at}", "version": "1.0.0", "types": "index.d.ts" }`],
      [`node_modules/pkg${at}/index.d.ts`, `${declarations}\n`],
      [`src/t${at}.ts`, toolSource(`T${at}`, input, output, `import type { X } from "pkg${at}";`)],
    ];
  });
  const { diagnostics } = new ToolProject(Object.fromEntries(files), options).generate(true);
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === "error"),
    [],
  );
});
