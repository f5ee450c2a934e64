/** Converts the model to ports with codecs: plain ordered data that the runtime compiles to decoders and encoders. */

import { isDeepStrictEqual } from "node:util";
import {
  type Codec,
  FORMAT_NAMES,
  type ListConstraints,
  type NumberBounds,
  type Port,
  type TextConstraints,
  type Variant,
} from "svc-runtime/internal/generator";
import type { Json } from "../../text/json.js";
import { type ConstraintKeyword, keywordsOf } from "../keywords.js";
import {
  type Definition,
  keywordValue,
  type Member,
  type ObjectShape,
  partsOf,
  resolve,
  type Shape,
  type Tool,
  type TupleShape,
} from "../model.js";

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

/** Whether a member is a `many` port: a list that is neither optional nor a `DataRef`, with one codec for all items. */
export function isMany({ optional, byReference, shape }: Member, definitions: readonly Definition[]): boolean {
  const list = resolve(shape, definitions);
  return (
    !optional &&
    byReference !== "value" &&
    (list.kind === "array" || (list.kind === "tuple" && itemCodec(list) !== undefined))
  );
}

function port(member: Member, definitions: readonly Definition[]): Port {
  const { name, optional, shape } = member;
  const held = member.byReference === undefined ? {} : { held: true };
  const list = resolve(shape, definitions);
  if ((list.kind !== "array" && list.kind !== "tuple") || !isMany(member, definitions)) {
    return { name, many: false, ...(optional ? { optional } : {}), ...held, codec: codec(shape) };
  }
  const whole = codec(list) as NonNullable<Port["list"]>;
  const item = list.kind === "array" ? codec(list.item) : (itemCodec(list) ?? { kind: "json" });
  const isPlain = same(whole, { kind: "array", item });
  return { name, many: true, ...(isPlain ? {} : { list: whole }), ...held, codec: item };
}

const UNCONVERTED = new Set<Codec["kind"]>(["json", "null", "boolean", "string", "number", "literal"]);

/**
 * Codec that fits all items of a tuple. Undefined if items need different conversions (`[Date, string]`): such a tuple
 * is sent as one value.
 */
function itemCodec(tuple: TupleShape): Codec | undefined {
  const codecs = partsOf(tuple).map(codec);
  const distinct = codecs.filter((item, index) => codecs.findIndex((other) => same(item, other)) === index);
  const [first] = distinct;
  if (distinct.length <= 1) return first ?? { kind: "json" };
  return distinct.every(({ kind }) => UNCONVERTED.has(kind)) ? { kind: "union", branches: distinct } : undefined;
}

function same(one: Codec, other: Codec): boolean {
  return isDeepStrictEqual(one, other);
}

/** Codec of a shape, with the constraints that the runtime checks. */
export function codec(shape: Shape): Codec {
  switch (shape.kind) {
    case "null":
    case "boolean":
    case "date":
    case "bytes":
      return { kind: shape.kind };
    case "json":
      return {
        kind: "json",
        ...(shape.except === undefined ? {} : { except: shape.except }),
        ...numberBounds(shape),
        ...textConstraints(shape),
        ...listConstraints(shape),
      };
    case "string":
      return { kind: "string", ...textConstraints(shape) };
    case "number":
      return { kind: "number", ...(shape.integer ? { integer: true } : {}), ...numberBounds(shape) };
    case "bigint":
      return {
        kind: "bigint",
        ...(shape.format === undefined ? {} : { format: shape.format }),
        ...mapBounds(shape, (bound) => String(BigInt(bound))),
      };
    case "literal":
      return { kind: "literal", values: shape.values };
    case "array":
      return { kind: "array", item: codec(shape.item), ...listConstraints(shape) };
    case "wrapped":
      return { kind: "wrapped", item: codec(shape.item) };
    case "tuple":
      return {
        kind: "tuple",
        items: shape.items.map(codec),
        ...(shape.optional > 0 ? { optional: shape.optional } : {}),
        ...(shape.rest === undefined ? {} : { rest: codec(shape.rest) }),
        ...(shape.tail.length > 0 ? { tail: shape.tail.map(codec) } : {}),
        ...listConstraints(shape),
      };
    case "object":
      return objectCodec(shape);
    case "union":
      return { kind: "union", branches: shape.branches.map(codec) };
    case "ref":
      return { kind: "ref", name: shape.name };
  }
}

function objectCodec({ members, indexes, closed }: ObjectShape): Codec {
  const patterns = indexes.flatMap(({ pattern, shape }) =>
    pattern === undefined ? [] : [[pattern, codec(shape)] as const],
  );
  const rest = indexes.find(({ pattern }) => pattern === undefined);
  return {
    kind: "object",
    members: members.map(({ name, optional, shape }) => ({
      name,
      ...(optional ? { optional } : {}),
      codec: codec(shape),
    })),
    ...(closed || patterns.length > 0 ? { patterns } : {}),
    ...(rest === undefined ? {} : { rest: codec(rest.shape) }),
  };
}

const BOUNDS = keywordsOf("numbers");
const TEXT_LENGTHS = keywordsOf("text", "count");
const LIST_LENGTHS = keywordsOf("lists", "count");

/** The given keywords as constraints of the runtime; omits keywords that are not set. */
function constraints<Name extends ConstraintKeyword, Value>(
  shape: Shape,
  names: readonly Name[],
  convert: (value: Json) => Value,
): { [Keyword in Name]?: Value } {
  const found: { [Keyword in Name]?: Value } = {};
  for (const name of names) {
    const value = keywordValue(shape, name);
    if (value !== undefined) found[name] = convert(value);
  }
  return found;
}

function mapBounds<Value>(shape: Shape, convert: (bound: number | bigint) => Value) {
  return constraints(shape, BOUNDS, (value) => convert(value as number | bigint));
}

/** Bounds as numbers. The schema has the exact bound; the check rounds a bound beyond 2^53. */
function numberBounds(shape: Shape): NumberBounds {
  return mapBounds(shape, Number);
}

/** Constraints of a text. The patterns are that of a template literal type and those of `@pattern`. */
function textConstraints(shape: Shape & { kind: "string" | "json" }): TextConstraints {
  const own = shape.kind === "string" ? shape.pattern : undefined;
  const tags = (shape.doc?.keywords ?? []).flatMap(([name, value]) => (name === "pattern" ? [value as string] : []));
  const patterns = [...(own === undefined ? [] : [own]), ...tags];
  const format = keywordValue(shape, "format");
  return {
    ...constraints(shape, TEXT_LENGTHS, Number),
    ...(patterns.length > 0 ? { patterns: [...new Set(patterns)] } : {}),
    ...(FORMAT_NAMES.includes(format as string) ? { format: format as string } : {}),
  };
}

function listConstraints(shape: Shape): ListConstraints {
  return {
    ...constraints(shape, LIST_LENGTHS, Number),
    ...(keywordValue(shape, "uniqueItems") === true ? { uniqueItems: true } : {}),
  };
}
