/** Generates the test of an imported tool: a stub for each variant, called with a valid input. */

import { literal, propertyName } from "../compile/emit/print-literal.js";
import type { SchemaJudge } from "../compile/emit/schema-judge.js";
import { withoutKeywords } from "../contract/schema-reader.js";
import { sampleOf } from "../openapi/sample.js";
import { type Json, JsonObject } from "../text/json.js";
import type { Declaration, EnumNode, MemberNode, TypeNode } from "./print-types.js";

/** A class and the types in its file, for its test. */
export interface TestedClass {
  readonly className: string;
  readonly input: JsonObject;
  readonly output: JsonObject;
  /** Types of the class, including those in other files. */
  readonly declarations: readonly Declaration[];
}

/** A test without its imports, which depend on its location. */
export interface ToolTest {
  /** Names imported from the file of the class. */
  readonly names: readonly string[];
  /** Names imported from the file of shared types. */
  readonly sharedNames: readonly string[];
  readonly body: string;
}

/** Text of a test that imports the class and the shared types from the given modules. */
export function testText({ names, sharedNames, body }: ToolTest, from: string, shared: string): string {
  const imports = sharedNames.length === 0 ? "" : `import { ${sharedNames.join(", ")} } from ${literal(shared)};\n`;
  return `import assert from "node:assert/strict";
import { test } from "node:test";
import { createHarness } from "svc-runtime/testing";
import { ${[...names, "type Input", "type Output"].join(", ")} } from ${literal(from)};
${imports}
${body}`;
}

/**
 * Generates a test. It is marked `todo` if no valid input is found.
 *
 * @param shared names of types in the file of shared types
 */
export function toolTest(
  { className, input, output, declarations }: TestedClass,
  shared: ReadonlySet<string>,
  judge: SchemaJudge,
): ToolTest {
  const types = new Map(declarations.map(({ name, type }) => [name, type]));
  const printer = new SamplePrinter(types);
  const sample = inputSample(input, types.get("Input"));
  const variants = (output.get("oneOf") ?? output.get("anyOf") ?? [output]) as readonly Json[];
  const results = variants.flatMap((variant) => {
    const text = printer.print(sampleOf(variant, output), types.get("Output"));
    return text === undefined ? [] : [`  ${broken(text, "  ")},\n`];
  });
  const inputText = printer.print(sample, types.get("Input")) ?? "{}";
  const misfit = misfitOf(judge, input, sample);
  const isFit = misfit === undefined;
  const todo = isFit ? "" : `${JSON.stringify(`give an input that fits: ${misfit}`)}`;
  return {
    names: [className, ...[...printer.enums].filter((name) => !shared.has(name)).sort()],
    sharedNames: [...printer.enums].filter((name) => shared.has(name)).sort(),
    body: `const input: Input = ${broken(inputText, "")};

/** One result of each variant. */
const RESULTS: readonly Output[] = [
${results.join("")}];

for (const result of RESULTS) {
  const variant = typeof result === "string" ? result : Object.keys(result)[0];
  test(\`\${variant} is answered as invoke returns it\`${isFit ? "" : `, { todo: ${todo} }`}, async (t) => {
    class Stub extends ${className} {
      override async invoke() {
        return result;
      }
    }
    const tool = await createHarness(Stub);
    t.after(() => tool.close());
    assert.deepEqual(await tool.invoke(input), result);
  });
}
`,
  };
}

/** A sample input. A list is a `many` port, so it has at least one item. */
function inputSample(schema: JsonObject, type: Declaration["type"] | undefined): Json {
  const sample = sampleOf(schema);
  const properties = schema.get("properties");
  if (!(sample instanceof JsonObject) || !(properties instanceof JsonObject)) return sample;
  const wanted =
    type?.kind === "object" ? type.members.filter(({ optional }) => !optional).map(({ name }) => name) : [];
  const members = Array.from(properties.members).flatMap(([name, property]): [string, Json][] => {
    const value = sample.get(name);
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (value === undefined ? !wanted.includes(name) : !isEmpty) return value === undefined ? [] : [[name, value]];
    if (!(property instanceof JsonObject)) return [[name, null]];
    return [[name, sampleOf(withoutKeywords(property, ["default", "examples"]), schema)]];
  });
  return new JsonObject(new Map(members));
}

const WIDTH = 100;

/** Object literal with one member per line if it is too long for one line. */
function broken(text: string, indent: string): string {
  if (text.length + indent.length <= WIDTH || !text.startsWith("{ ")) return text;
  const members: string[] = [];
  let [depth, start] = [0, 2];
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{}[\](),]/g)) {
    if ("{[(".includes(token)) depth++;
    else if ("}])".includes(token)) depth--;
    else if (token === "," && depth === 1) {
      members.push(text.slice(start, index));
      start = index + 2;
    }
  }
  members.push(text.slice(start, -2));
  const inner = `${indent}  `;
  return `{\n${members.map((member) => `${inner}${brokenMember(member, inner)},\n`).join("")}${indent}}`;
}

function brokenMember(member: string, indent: string): string {
  const at = member.indexOf(": {");
  return at < 0 ? member : `${member.slice(0, at + 2)}${broken(member.slice(at + 2), indent)}`;
}

function misfitOf(judge: SchemaJudge, schema: JsonObject, sample: Json): string | undefined {
  try {
    return judge.compile(schema)(sample);
  } catch {
    // Schemas of other toolkits may have keywords that ajv's strict mode rejects.
    return undefined;
  }
}

/** Prints JSON values as expressions of their types. */
class SamplePrinter {
  readonly enums = new Set<string>();

  readonly #types: ReadonlyMap<string, Declaration["type"]>;

  constructor(types: ReadonlyMap<string, Declaration["type"]>) {
    this.#types = types;
  }

  /** Undefined if the value does not have the type. */
  print(value: Json, type: TypeNode | EnumNode | undefined, open = 0): string | undefined {
    if (type === undefined || open > 64) return undefined;
    switch (type.kind) {
      case "text":
        return this.#text(value, type.text, open);
      case "enum":
        return undefined;
      case "list":
        return Array.isArray(value) ? this.#all(value.map((each) => this.print(each, type.item, open + 1))) : undefined;
      case "tuple":
        if (!Array.isArray(value)) return undefined;
        return this.#all(
          value.map((each, at) => this.print(each, type.items[Math.min(at, type.items.length - 1)]?.type, open + 1)),
        );
      case "generic":
        return type.name === "Record" ? "{}" : this.print(value, type.argument, open + 1);
      case "union":
        for (const part of type.parts) {
          const text = this.print(value, part, open + 1);
          if (text !== undefined) return text;
        }
        return undefined;
      case "intersection": {
        const parts = type.parts.map((part) => this.print(value, part, open + 1));
        return parts.includes(undefined)
          ? undefined
          : parts.length === 1
            ? parts[0]
            : `{ ${parts.map((each) => `...${each}`).join(", ")} }`;
      }
      case "object":
        return value instanceof JsonObject ? this.#object(value, type.members, open) : undefined;
    }
  }

  #all(items: readonly (string | undefined)[]): string | undefined {
    return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
  }

  #object(value: JsonObject, members: readonly MemberNode[], open: number): string | undefined {
    const texts: string[] = [];
    for (const { name, optional, type } of members) {
      const given = value.get(name);
      if (given === undefined || given === null) {
        if (optional) continue;
        if (given === undefined) return undefined;
      }
      const text = this.print(given ?? null, type, open + 1);
      if (text === undefined && optional) continue;
      if (text === undefined) return undefined;
      texts.push(`${propertyName(name)}: ${text}`);
    }
    // A value with an undeclared member belongs to another branch.
    for (const name of value.members.keys()) {
      if (!members.some((member) => member.name === name)) return undefined;
    }
    return texts.length === 0 ? "{}" : `{ ${texts.join(", ")} }`;
  }

  #text(value: Json, type: string, open: number): string | undefined {
    const declared = this.#types.get(type);
    if (declared?.kind === "enum") {
      const member = declared.members.find((each) => each.value === value);
      if (member !== undefined) this.enums.add(type);
      return member && `${type}.${member.name}`;
    }
    if (declared !== undefined) return this.print(value, declared, open + 1);
    const kind = typeof value;
    switch (type) {
      case "unknown":
        return value instanceof JsonObject || Array.isArray(value) ? "{}" : literal(value);
      case "bigint":
        return kind === "number" || kind === "bigint" ? `${value}n` : undefined;
      case "Date":
        return kind === "string" ? `new Date(${literal(value as string)})` : undefined;
      case "Uint8Array":
        return kind === "string" ? "new Uint8Array([0])" : undefined;
      case "number":
        return kind === "number" || kind === "bigint" ? String(value) : undefined;
      case "string":
      case "boolean":
        return kind === type ? literal(value as string | boolean) : undefined;
      case "null":
        return value === null ? "null" : undefined;
      default:
        return value !== null && kind !== "object" && literal(value as string) === type ? type : undefined;
    }
  }
}
