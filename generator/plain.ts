/** Model -> the types of a tool in the plain form that tsc compares with the class's own (`runtime/unchanged.ts`). */

import { literal } from "./literal.js";
import type { Member, ObjectShape, Shape, Tool, TupleShape } from "./model.js";

/** The entry of a tool in `Written` of the generated server: input, output, and the types that others refer to. */
export function plainTypes(tool: Tool): string {
  const name = `Written[${literal(tool.fqn)}]`;
  const types = tool.definitions.map((each) => `${literal(each.name)}: ${plain(each.shape, name)}`);
  const output = tool.output.map(({ name: tag, text, payload }) =>
    text ? literal(tag) : `{ ${literal(`${tag}!`)}: ${plain(payload, name)} }`,
  );
  return `{ input: ${plain(tool.input, name)}; output: ${output.join(" | ")}; types: { ${types.join("; ")} } }`;
}

function plain(shape: Shape, name: string): string {
  const inner = (each: Shape) => plain(each, name);
  switch (shape.kind) {
    case "json":
      return "any";
    case "null":
    case "boolean":
    case "string":
    case "number":
    case "bigint":
      return shape.kind;
    case "literal":
      return shape.values
        .map((value) => (typeof value === "number" ? `{ literal: "${value}" }` : literal(value)))
        .join(" | ");
    case "date":
    case "bytes":
      return `{ ${shape.kind}: true }`;
    case "array":
      return `{ items: Array<${inner(shape.item)}> }`;
    case "tuple":
      return `{ items: [${places(shape, inner).join(", ")}] }`;
    case "object":
      return object(shape, inner);
    case "union":
      return shape.branches.map(inner).join(" | ");
    case "ref":
      return `${name}["types"][${literal(shape.name)}]`;
  }
}

function places({ items, optional, rest, tail }: TupleShape, inner: (shape: Shape) => string): string[] {
  const required = items.length - optional;
  return [
    ...items.map((item, index) => (index < required ? inner(item) : `(${inner(item)})?`)),
    ...(rest === undefined ? [] : [`...Array<${inner(rest)}>`]),
    ...tail.map(inner),
  ];
}

/** An object beside whose members others may stand has no plain form: `any`, which tsc takes for equal to everything. */
function object({ members, indexes, closed }: ObjectShape, inner: (shape: Shape) => string): string {
  const [index] = indexes;
  if (index === undefined && !closed) return `{ ${members.map((each) => member(each, inner)).join("; ")} }`;
  if (closed || index?.pattern !== undefined || indexes.length > 1 || members.length > 0) return "any";
  return `{ [name: \`\${string}?\`]: ${inner((index as { shape: Shape }).shape)} | null }`;
}

function member({ name, optional, held, shape }: Member, inner: (shape: Shape) => string): string {
  const type = held === undefined ? inner(shape) : heldType(held, shape, inner);
  return optional ? `${literal(`${name}?`)}: ${type} | null` : `${literal(`${name}!`)}: ${type}`;
}

/** What a reference may stand for. */
function heldType(held: "value" | "items", shape: Shape, inner: (shape: Shape) => string): string {
  if (held === "value") return `${inner(shape)} | { reference: true }`;
  return shape.kind === "array" ? `{ items: Array<${inner(shape.item)} | { reference: true }> }` : "any";
}
