/** A call of the page as a command line, as `curl`, and as a test for the kit. */

import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { JsonError } from "svc-runtime/generator";
import { escapeControls, shellWord } from "../../diagnostics/quote.js";
import { JsonObject, readJson } from "../../json.js";
import type { ShareView, ToolView } from "./page-api.js";
import { PageFault } from "./page-fault.js";
import { literalOf } from "./typescript-literal.js";

export interface ShareRequest {
  readonly fqn: string;
  /** JSON text. */
  readonly input: string;
  readonly signed: boolean;
  /** What the call gave: the result as JSON text, or the refusal. */
  readonly result: string | null;
  readonly error: { readonly status: number; readonly code: string } | null;
}

interface ProjectPaths {
  readonly root?: string;
  readonly out?: string;
  readonly url?: string;
}

/**
 * The three texts. Characters that a terminal obeys or an editor hides are escaped, as in JSON: what runs is what is read.
 *
 * @throws PageFault for an input that is no JSON
 */
export function shareView(request: ShareRequest, tool: ToolView, project: ProjectPaths): ShareView {
  const input = shellWord(compact(request.input));
  const target = project.url === undefined ? tool.fqn : tool.url;
  const headers = ["Content-Type: application/json", "Accept: application/json"].map((each) => `-H '${each}'`);
  return {
    invoke: escapeControls(`npx svc-gen invoke ${shellWord(target)} ${input}${request.signed ? " --signed" : ""}`),
    curl: escapeControls(`curl -sS ${headers.join(" ")} --data-raw ${input} ${shellWord(`${tool.url}/invoke`)}`),
    test: escapeControls(kitTest(request, tool, classOf(tool, project))),
  };
}

/** JSON in one line: white space between its values does not matter. */
function compact(input: string): string {
  return input
    .replaceAll(/[\r\n]\s*/g, "")
    .replaceAll("\t", " ")
    .trim();
}

interface ClassName {
  /** Import clause: `{ Sum }`. */
  readonly clause: string;
  readonly name: string;
  /** Seen from `test/`. */
  readonly specifier: string;
  /** Whether an integer without a format is a bigint: a schema does not tell it from a number by `@asType integer`. */
  readonly bigints: boolean;
}

const UNKNOWN: ClassName = { clause: "{ Tool }", name: "Tool", specifier: "../src/tool.js", bigints: true };

/** The class of a tool as the generated entry module imports it: in the order of the contracts. */
function classOf({ fqn }: ToolView, { root, out = "src/generated", url }: ProjectPaths): ClassName {
  if (root === undefined || url !== undefined) return UNKNOWN;
  const read = (name: string) => {
    try {
      return readFileSync(join(root, out, name), "utf8");
    } catch {
      return "";
    }
  };
  const contracts = read("contracts.ts")
    .split(/^ {4}fqn: /m)
    .slice(1);
  const at = contracts.findIndex((each) => each.startsWith(`${JSON.stringify(fqn)},`));
  const served = /^bootstrap\(([\s\S]*?)\);$/m.exec(read("server.ts"))?.[1] ?? "";
  const name = served.split(/[[\],\s]+/).filter(Boolean)[at];
  const imported = [...read("server.ts").matchAll(/^import (.+) from "(\.[^"]+)";$/gm)];
  const found = imported.find(([, clause = ""]) => name !== undefined && clause.split(/[{},\s]+/).includes(name));
  if (name === undefined || found === undefined) return UNKNOWN;
  return {
    clause: found[1] as string,
    name,
    specifier: `../${posix.join(out, found[2] as string)}`,
    bigints: /\{ kind: "bigint"(?!, format)/.test(contracts[at] ?? ""),
  };
}

function kitTest(
  { input, result, error, fqn }: ShareRequest,
  tool: ToolView,
  { clause, name, specifier, bigints }: ClassName,
): string {
  const given = literal(input, tool.inputSchema, bigints);
  const call =
    error !== null
      ? `await assert.rejects(tool.invoke(input as never), { status: ${error.status}, code: ${JSON.stringify(error.code)} });`
      : result === null
        ? "await tool.invoke(input);"
        : `assert.deepEqual(await tool.invoke(input), ${outputLiteral(result, tool.outputSchema, bigints)});`;
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { createHarness } from "svc-runtime/testing";
import ${clause} from ${JSON.stringify(specifier)};

test(${JSON.stringify(`${fqn}: ${error === null ? "the call of the page" : error.code}`)}, async (t) => {
  const tool = await createHarness(${name});
  t.after(() => tool.close());
  const input = ${given};
  ${call}
});
`;
}

function literal(text: string, schema: string, bigints: boolean): string {
  try {
    return literalOf(readJson(text), { schema: readJson(schema), bigints });
  } catch (error) {
    if (error instanceof JsonError) throw new PageFault(`the input is not JSON: ${error.message}`);
    throw error;
  }
}

/** `{"ok":{…}}` by the schema of its variant; a variant without ports by its name. */
function outputLiteral(text: string, schema: string, bigints: boolean): string {
  const value = readJson(text);
  const root = readJson(schema);
  const [tag, payload] = value instanceof JsonObject ? ([...value.members][0] ?? ["", value]) : ["", value];
  const variants = root instanceof JsonObject ? root.get("oneOf") : undefined;
  const list = Array.isArray(variants) ? variants : [];
  const isText = list.some((variant) => variant instanceof JsonObject && variant.get("const") === tag);
  if (isText && payload instanceof JsonObject) return JSON.stringify(tag);
  const own = list.find((variant) => {
    const properties = variant instanceof JsonObject ? variant.get("properties") : undefined;
    return properties instanceof JsonObject && properties.get(tag) !== undefined;
  });
  return literalOf(value, { schema: own ?? null, root, bigints });
}
