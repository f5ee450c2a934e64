/** Model -> what the runtime reads and writes values by: ports with their codecs, as ordered data. */

import type { Codec, Port, Variant } from "#runtime/wire/contract.js";
import {
  type Definition,
  type Member,
  type ObjectShape,
  resolve,
  type Shape,
  type Tool,
  type TupleShape,
} from "./model.js";

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

/**
 * Whether a member is a `many` port: a list that is not optional, not held elsewhere as a whole, and whose values can be
 * read one by one.
 */
export function isMany({ optional, held, shape }: Member, definitions: readonly Definition[]): boolean {
  const list = resolve(shape, definitions);
  return (
    !optional && held !== "value" && (list.kind === "array" || (list.kind === "tuple" && itemCodec(list) !== undefined))
  );
}

function port(member: Member, definitions: readonly Definition[]): Port {
  const { name, optional, shape } = member;
  const held = member.held === undefined ? {} : { held: true };
  const list = resolve(shape, definitions);
  const item = list.kind === "array" ? codec(list.item) : list.kind === "tuple" ? itemCodec(list) : undefined;
  if (item !== undefined && isMany(member, definitions)) return { name, many: true, ...held, codec: item };
  return { name, many: false, ...(optional ? { optional } : {}), ...held, codec: codec(shape) };
}

const UNCONVERTED = new Set<Codec["kind"]>(["json", "null", "boolean", "string", "number", "literal"]);

/**
 * One codec for every value of a tuple. There is none when the places need different conversions (`[Date, string]`): such
 * a tuple travels as one value.
 */
function itemCodec({ items, rest, tail }: TupleShape): Codec | undefined {
  const codecs = [...items, ...(rest === undefined ? [] : [rest]), ...tail].map((each) => codec(each));
  const distinct = codecs.filter((item, index) => codecs.findIndex((other) => same(item, other)) === index);
  const [first] = distinct;
  if (distinct.length <= 1) return first ?? { kind: "json" };
  return distinct.every(({ kind }) => UNCONVERTED.has(kind)) ? { kind: "union", branches: distinct } : undefined;
}

function same(one: Codec, other: Codec): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * How a value of this shape is written and read. Where a union has to choose (`choosing`), the pattern of a text is part
 * of it.
 */
export function codec(shape: Shape, choosing = false): Codec {
  const inner = (each: Shape) => codec(each, choosing);
  switch (shape.kind) {
    case "string":
      return choosing && shape.pattern !== undefined ? { kind: "string", pattern: shape.pattern } : { kind: "string" };
    case "json":
    case "null":
    case "boolean":
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
      return { kind: "array", item: inner(shape.item) };
    case "tuple":
      return {
        kind: "tuple",
        items: shape.items.map(inner),
        ...(shape.optional > 0 ? { optional: shape.optional } : {}),
        ...(shape.rest === undefined ? {} : { rest: inner(shape.rest) }),
        ...(shape.tail.length > 0 ? { tail: shape.tail.map(inner) } : {}),
      };
    case "object":
      return objectCodec(shape, choosing);
    case "union":
      return { kind: "union", branches: shape.branches.map((branch) => codec(branch, true)) };
    case "ref":
      return { kind: "ref", name: shape.name };
  }
}

/** Names of index signatures are looked at where their types differ, and where a union chooses by them. */
function objectCodec({ members, indexes, closed }: ObjectShape, choosing: boolean): Codec {
  const inner = (shape: Shape) => codec(shape, choosing);
  const fields = members.map(({ name, optional, shape }) => ({
    name,
    ...(optional ? { optional } : {}),
    codec: inner(shape),
  }));
  const others = indexes.map(({ pattern, shape }) => ({ pattern, codec: inner(shape) }));
  const [first] = others;
  if (!choosing && others.every((other) => same(other.codec, (first ?? other).codec))) {
    return { kind: "object", members: fields, ...(first === undefined ? {} : { rest: first.codec }) };
  }
  const patterns = others.flatMap((other) =>
    other.pattern === undefined ? [] : [[other.pattern, other.codec] as const],
  );
  const rest = others.find(({ pattern }) => pattern === undefined);
  return {
    kind: "object",
    members: fields,
    ...(closed || patterns.length > 0 ? { patterns } : {}),
    ...(rest === undefined ? {} : { rest: rest.codec }),
  };
}
