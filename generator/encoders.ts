/** Model -> what the runtime reads and writes values by: ports with their codecs, as ordered data. */

import type { Codec, Port, Variant } from "#runtime/wire/contract.js";
import { type Definition, type Member, type ObjectShape, resolve, type Shape, type Tool } from "./model.js";

export function inputPorts(tool: Tool): Port[] {
  return tool.input.members.map((member) => port(member, tool.definitions));
}

export function outputVariants(tool: Tool): Variant[] {
  return tool.output.map(({ name, text, payload }) => ({
    name,
    ...(text ? { text } : {}),
    ports: payload.members.map((member) => port(member, tool.definitions)),
  }));
}

/** Whether a member is a `many` port: its schema says `"type": "array"` and nothing else. */
export function isMany({ optional, shape }: Member, definitions: readonly Definition[]): boolean {
  const { kind } = resolve(shape, definitions);
  return !optional && (kind === "array" || kind === "tuple");
}

function port(member: Member, definitions: readonly Definition[]): Port {
  const { name, optional, shape } = member;
  const list = resolve(shape, definitions);
  if (!optional && list.kind === "array") return { name, many: true, codec: codec(list.item) };
  if (!optional && list.kind === "tuple") return { name, many: true, codec: itemCodec(list) };
  return { name, many: false, ...(optional ? { optional } : {}), codec: codec(shape) };
}

/** One codec for every value of a tuple that travels as a `many` port. */
function itemCodec(shape: Shape & { kind: "tuple" }): Codec {
  const items = [...shape.items, ...(shape.rest === undefined ? [] : [shape.rest]), ...shape.tail].map(codec);
  const [first] = items;
  const distinct = items.filter((item, index) => items.findIndex((other) => same(item, other)) === index);
  return distinct.length === 1 && first !== undefined ? first : { kind: "union", branches: distinct };
}

function same(one: Codec, other: Codec): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** How a value of this shape is written and read. */
export function codec(shape: Shape): Codec {
  switch (shape.kind) {
    case "json":
    case "null":
    case "boolean":
    case "string":
    case "date":
    case "bytes":
      return { kind: shape.kind };
    case "number":
      return shape.integer ? { kind: "number", integer: true } : { kind: "number" };
    case "bigint":
      return shape.format === undefined ? { kind: "bigint" } : { kind: "bigint", format: shape.format };
    case "literal":
      return { kind: "literal", values: shape.values };
    case "array":
      return { kind: "array", item: codec(shape.item) };
    case "tuple":
      return {
        kind: "tuple",
        items: shape.items.map(codec),
        ...(shape.optional > 0 ? { optional: shape.optional } : {}),
        ...(shape.rest === undefined ? {} : { rest: codec(shape.rest) }),
        ...(shape.tail.length > 0 ? { tail: shape.tail.map(codec) } : {}),
      };
    case "object":
      return objectCodec(shape);
    case "union":
      return { kind: "union", branches: shape.branches.map(codec) };
    case "ref":
      return { kind: "ref", name: shape.name };
  }
}

function objectCodec({ members, indexes }: ObjectShape): Codec {
  const fields = members.map(({ name, optional, shape }) => ({
    name,
    ...(optional ? { optional } : {}),
    codec: codec(shape),
  }));
  const others = indexes.map(({ shape }) => codec(shape));
  const distinct = others.filter((item, index) => others.findIndex((other) => same(item, other)) === index);
  const [first] = distinct;
  if (first === undefined) return { kind: "object", members: fields };
  return {
    kind: "object",
    members: fields,
    rest: distinct.length === 1 ? first : { kind: "union", branches: distinct },
  };
}
