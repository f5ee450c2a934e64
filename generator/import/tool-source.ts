/** The source file of an imported tool. */

import { DEFAULT_TIMEOUT_MS } from "svc-runtime/generator";
import { literal } from "../emit/print-literal.js";
import type { ImportableTool } from "./metadata.js";
import { printDeclaration } from "./print-types.js";
import { typesOf } from "./schema-types.js";

/** A tool class as text. */
export interface ToolSource {
  /** The name of the file, with its extension. */
  readonly file: string;
  readonly className: string;
  readonly path: string;
  readonly text: string;
  /** Input members that `@notSecret` was added to, as JSON pointers. */
  readonly secretNames: readonly string[];
}

/** Names that the file imports or declares itself. */
const TAKEN_CLASSES = ["Input", "Output", "SvcTool", "StatusCode", "DataRef"];

/** Writes the sources of the tools. Files and paths are each used once; one file name is that of the server's options. */
export function toolSources(tools: readonly ImportableTool[]): ToolSource[] {
  const files = new Set(["server-options"]);
  const paths = new Set(tools.flatMap(({ path }) => path ?? []));
  const used = new Set<string>();
  return tools.map((tool) => {
    const stem = fileStem(tool.fqn, files);
    files.add(stem);
    const isFree = tool.path !== undefined && !used.has(tool.path);
    let path = isFree ? (tool.path as string) : stem;
    for (let count = 2; !isFree && (used.has(path) || paths.has(path)); count++) path = `${stem}-${count}`;
    used.add(path);
    return toolSource(tool, stem, path);
  });
}

/** The last part of the name, or more of the name where another tool has that. */
function fileStem(fqn: string, taken: ReadonlySet<string>): string {
  const [name = "", version = ""] = fqn.split("@");
  const last = name.split(".").at(-1) ?? "";
  const wanted = [last, name.replaceAll(".", "-"), `${name}-${version}`.replaceAll(".", "-")];
  return wanted.find((each) => !taken.has(each)) ?? `${wanted.at(-1)}-${taken.size + 1}`;
}

function toolSource(tool: ImportableTool, stem: string, path: string): ToolSource {
  const className = classNameOf(stem);
  const { declarations, secretNames, usesDataRef } = typesOf(tool.input, tool.output, className);
  const imports = [...(usesDataRef ? ["type DataRef"] : []), "errEval", "StatusCode", "SvcTool"];
  const parts = [
    `import { ${imports.join(", ")} } from "svc-runtime";\n`,
    ...declarations.map(printDeclaration),
    classText(tool, className, path),
  ];
  return { file: `${stem}.ts`, className, path, text: parts.join("\n"), secretNames };
}

function classNameOf(stem: string): string {
  const name = stem
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
  return TAKEN_CLASSES.includes(name) || name in globalThis ? `${name}Tool` : name;
}

function classText({ fqn, description, timeout }: ImportableTool, className: string, path: string): string {
  const method = (name: string, value: string) => `  static override ${name}() {\n    return ${value};\n  }\n`;
  return `export class ${className} extends SvcTool<Input, Output> {
${[
  method("fqn", literal(fqn)),
  method("description", literal(description)),
  method("path", literal(path)),
  ...(timeout === undefined || timeout === DEFAULT_TIMEOUT_MS ? [] : [method("timeout", grouped(timeout))]),
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

/** Digits in groups of three: `5_000`. */
function grouped(number: number): string {
  return String(number).replace(/(?<=\d)(?=(?:\d{3})+$)/g, "_");
}
