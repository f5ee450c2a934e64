import { DEFAULT_TIMEOUT_MS } from "svc-runtime/internal/generator";
import { literal } from "../compile/emit/print-literal.js";
import { className } from "../text/class-names.js";
import type { ImportableTool } from "./metadata.js";
import { type Declaration, printDeclaration, WIDTH } from "./print-types.js";
import { typesOf } from "./schema-types.js";
import { namesIn, sharedDeclarations } from "./shared-declarations.js";

export interface SourceFile {
  /** File name with extension. */
  readonly file: string;
  readonly text: string;
}

export interface ToolSource extends SourceFile {
  readonly className: string;
  readonly path: string;
}

export interface Sources {
  readonly tools: readonly ToolSource[];
  /** Types that several tools share; undefined if there are none. */
  readonly shared: SourceFile | undefined;
}

/** Description of a tool that has none; svc-gen requires one. */
const NO_DESCRIPTION = "TODO: describe this tool.";

/** Generates the sources. File names and paths are unique; the name of the server options file is reserved. */
export function toolSources(tools: readonly ImportableTool[]): Sources {
  const files = new Set(["server-options"]);
  const paths = new Set(tools.flatMap(({ path }) => path ?? []));
  const used = new Set<string>();
  const drafts = tools.map((tool) => {
    const stem = fileStem(tool.fqn, files);
    files.add(stem);
    const isFree = tool.path !== undefined && !used.has(tool.path);
    let path = isFree ? (tool.path as string) : stem;
    for (let count = 2; !isFree && (used.has(path) || paths.has(path)); count++) path = `${stem}-${count}`;
    used.add(path);
    const name = className(stem);
    return { tool, stem, path, name, types: typesOf(tool.input, tool.output, name) };
  });
  const shared = sharedDeclarations(drafts.map(({ types }) => types));
  const sharedStem = sharedStemOf(tools, files);
  return {
    tools: drafts.map(({ tool, stem, path, name, types }) => {
      const own = types.filter(({ name }) => !shared.has(name));
      const parts = [
        importLine(["errEval", "StatusCode", "SvcTool"], "svc-runtime") + sharedImport(own, shared, sharedStem),
        ...own.map(printDeclaration),
        classText(tool, name, path),
      ];
      return { file: `${stem}.ts`, className: name, path, text: parts.join("\n") };
    }),
    shared:
      shared.size === 0
        ? undefined
        : { file: `${sharedStem}.ts`, text: [...shared.values()].map(printDeclaration).join("\n") },
  };
}

/** File name of the shared types: the domain, if all tools have the same one. */
function sharedStemOf(tools: readonly ImportableTool[], taken: ReadonlySet<string>): string {
  const [first = [], ...others] = tools.map(({ fqn }) => fqn.split(/[.@]/).slice(0, -2));
  const differs = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  const common = first.slice(0, differs === -1 ? undefined : differs);
  const stem = `${common.at(-1) ?? "tool"}-types`;
  return taken.has(stem) ? `${common.join("-")}-shared-types` : stem;
}

/** Import of the shared types that the declarations use. */
function sharedImport(own: readonly Declaration[], shared: ReadonlyMap<string, Declaration>, stem: string): string {
  const named = new Set(own.flatMap(({ type }) => [...namesIn(type)]));
  const names = [...shared.keys()].filter((name) => named.has(name));
  return names.length === 0 ? "" : importLine(names.sort(), `./${stem}.js`, "import type");
}

function importLine(names: readonly string[], from: string, keyword = "import"): string {
  const line = `${keyword} { ${names.join(", ")} } from "${from}";\n`;
  if (line.length <= WIDTH + 1) return line;
  return `${keyword} {\n${names.map((name) => `  ${name},\n`).join("")}} from "${from}";\n`;
}

/** File name of a tool: the last part of its FQN, or more parts if that is taken. */
function fileStem(fqn: string, taken: ReadonlySet<string>): string {
  const [name = "", version = ""] = fqn.split("@");
  const last = name.split(".").at(-1) ?? "";
  const wanted = [last, name.replaceAll(".", "-"), `${name}-${version}`.replaceAll(".", "-")];
  return wanted.find((each) => !taken.has(each)) ?? `${wanted.at(-1)}-${taken.size + 1}`;
}

function classText({ fqn, description, timeout }: ImportableTool, name: string, path: string): string {
  const method = (key: string, value: string) => `  static override ${key}() {\n    return ${value};\n  }\n`;
  return `export class ${name} extends SvcTool<Input, Output> {
${[
  method("fqn", literal(fqn)),
  method("description", literal(/\S/.test(description) ? description : NO_DESCRIPTION)),
  method("path", literal(path)),
  ...(timeout === undefined || timeout === DEFAULT_TIMEOUT_MS ? [] : [method("timeout", String(timeout))]),
].join("\n")}
  override async invoke(_input: Input): Promise<Output> {
    return errEval("not implemented");
  }

  /** Out of service until invoke is implemented. */
  override async health() {
    return StatusCode.NOT_IMPLEMENTED;
  }
}
`;
}

/** Test to complete. It is marked `todo`, because only the author knows an input and its result. */
export function testText(className: string, from: string): string {
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { createHarness } from "svc-runtime/testing";
${importLine([className, "type Input"], from)}
test("invoke", { todo: "write an input and its result" }, async (t) => {
  const tool = await createHarness(${className});
  t.after(() => tool.close());
  const input = {} as Input;
  assert.deepEqual(await tool.invoke(input), {});
});
`;
}
