/** Imports of metadata in a project of their own, and what their sources may hold. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { hasErrors } from "#generator/compile/diagnostics/diagnostics.js";
import { generateTexts } from "#generator/compile/generate.js";
import { ts } from "#generator/compile/project/typescript.js";
import { type JsonObject, printJson, readJson } from "#generator/text/json.js";
import { compileSchemas, ToolProject } from "./project.js";
import { svcGenIn } from "./run-cli.js";

/** What `svc-gen import --json` says of a tool. */
export interface Imported {
  readonly fqn: string;
  readonly file: string;
  readonly class: string;
  readonly path: string;
  readonly samePorts: boolean;
  readonly verdict: string;
  readonly retagged?: { readonly tag: string; readonly content?: string };
  readonly changes: readonly { readonly kind: string; readonly port?: string; readonly change: string }[];
}

/** The metadata documents of a listing, by name. Their texts keep the order of members. */
export function documents(listing: string): ReadonlyMap<string, string> {
  const all = readJson(listing) as readonly JsonObject[];
  return new Map(all.map((each) => [String(each.get("fqn")), printJson(each)]));
}

/** Imports into a new project, whose sources are inert, and generates from them. Every schema that comes back compiles. */
export async function roundTrip(metadata: string) {
  const project = new ToolProject({ "imported.json": metadata });
  const { code, out, err } = await svcGenIn(project.root, ["import", "imported.json", "--json"]);
  assert.equal(code, 0, `${out}${err}`);
  const { tools } = JSON.parse(out) as { readonly tools: readonly Imported[] };
  const sources = tools.map(({ file }) => readFileSync(join(project.root, file), "utf8"));
  for (const source of sources) assertInert(source);
  const { files, diagnostics } = generateTexts(new Map(tools.map(({ file }, index) => [file, sources[index] ?? ""])));
  assert.equal(hasErrors(diagnostics), false);
  const listing = files.find(({ path }) => path === "meta.json")?.text ?? "[]";
  compileSchemas(listing);
  return { tools, sources, generated: documents(listing), project };
}

/** One metadata document as text; `name` is that of the tool. */
export function metadataOf(inputSchema: string, outputSchema: string, description = "A tool.", name = "imported") {
  const head = `{"fqn":"xyz.test.${name}@1","url":"http://localhost/${name}","timeout":10000`;
  return `${head},"description":${JSON.stringify(description)},"input_schema":${inputSchema},"output_schema":${outputSchema}}`;
}

export const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The schema of an output with one variant, as svc-gen writes it. */
export const DONE = `{"$schema":"${DIALECT}","oneOf":[{"const":"done"}]}`;

/** The schema of an input with these members, none required, as svc-gen writes it. */
export function inputOf(properties: string, more = ""): string {
  return `{"$schema":"${DIALECT}","type":"object","properties":{${properties}}${more}}`;
}

const RETURNS =
  /^(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\d_]+|errEval\("not implemented"\)|StatusCode\.NOT_IMPLEMENTED)$/;
const METHODS = ["fqn", "description", "path", "timeout", "invoke", "health"];

/** Checks that a source has types and one class whose methods return constants: no text of metadata became code. */
export function assertInert(source: string): void {
  const file = ts.createSourceFile("imported.ts", source, ts.ScriptTarget.ES2023, true);
  const { parseDiagnostics } = file as ts.SourceFile & { readonly parseDiagnostics: readonly ts.Diagnostic[] };
  assert.deepEqual(
    parseDiagnostics.map(({ messageText }) => messageText),
    [],
    source,
  );
  const classes = file.statements.filter(ts.isClassDeclaration);
  assert.equal(classes.length, 1);
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      assert.match(statement.moduleSpecifier.getText(), /^"(?:svc-runtime|\.\/[a-z0-9-]+-types\.js)"$/);
    } else if (ts.isEnumDeclaration(statement)) assertConstants(statement);
    else if (!ts.isClassDeclaration(statement)) assertType(statement);
  }
  for (const member of classes[0]?.members ?? []) {
    assert.ok(ts.isMethodDeclaration(member), member.getText());
    assert.ok(METHODS.includes(member.name.getText()), member.getText());
    const [only, ...more] = member.body?.statements ?? [];
    assert.ok(only !== undefined && ts.isReturnStatement(only) && more.length === 0, member.getText());
    assert.match(only.expression?.getText() ?? "", RETURNS);
  }
}

function assertConstants({ members }: ts.EnumDeclaration): void {
  for (const { name, initializer } of members) {
    assert.ok(ts.isIdentifier(name) && initializer !== undefined && ts.isStringLiteral(initializer), name.getText());
  }
}

function assertType(node: ts.Node): void {
  assert.ok(
    ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node),
    `neither an interface nor an alias: ${node.getText()}`,
  );
  const visit = (part: ts.Node): void => {
    const isCode = ts.isCallExpression(part) || ts.isTypeQueryNode(part) || ts.isImportTypeNode(part);
    assert.ok(!isCode && !ts.isComputedPropertyName(part) && !ts.isTemplateExpression(part), part.getText());
    ts.forEachChild(part, visit);
  };
  visit(node);
}
