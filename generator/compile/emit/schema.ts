/** Converts the model to JSON Schema 2020-12, in declared order. */

import { singleMember, withKeyword } from "../../contract/schema-reader.js";
import { type Json, JsonObject, object } from "../../text/json.js";
import { ANNOTATIONS } from "../keywords.js";
import {
  type Definition,
  type Doc,
  forEachRef,
  type Literal,
  type Member,
  type ObjectShape,
  type OutputVariant,
  resolve,
  type Shape,
  type Tool,
  type TupleShape,
  tupleLengths,
} from "../model.js";
import { isMany } from "./codecs.js";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** Creates the schemas for the tools of one project. */
export class Schemas {
  readonly #made = new WeakMap<Shape, JsonObject>();

  /** Schema of the whole input; its properties are the input ports. */
  input(tool: Tool): JsonObject {
    const definitions = this.#definitions(tool, [tool.input]);
    return object(["$schema", DIALECT], ...this.#object(tool.input, tool.definitions).members, ...definitions);
  }

  /** Schema of the output: `oneOf` over the variants. */
  output(tool: Tool): JsonObject {
    const variants = tool.output.map((variant) => this.#variant(variant, tool.definitions));
    const definitions = this.#definitions(
      tool,
      tool.output.map(({ payload }) => payload),
    );
    return object(["$schema", DIALECT], ["oneOf", variants], ...definitions);
  }

  #variant({ name, text, payload, doc }: OutputVariant, definitions: readonly Definition[]): Json {
    if (text) return withDoc(object(["const", name]), doc);
    return withDoc(singleMember(name, this.#object(payload, definitions)), doc);
  }

  /** `$defs` with the definitions that the roots refer to, directly or indirectly. */
  #definitions(tool: Tool, roots: readonly Shape[]): [string, Json][] {
    const reached = new Set<string>();
    const visit = (shape: Shape): void =>
      forEachRef(shape, (name) => {
        if (reached.has(name)) return;
        reached.add(name);
        const target = tool.definitions.find((definition) => definition.name === name);
        if (target !== undefined) visit(target.shape);
      });
    for (const root of roots) visit(root);
    const used = tool.definitions.filter(({ name }) => reached.has(name));
    return used.length === 0
      ? []
      : [["$defs", object(...used.map(({ name, shape }) => [name, this.#definition(shape)] as const))]];
  }

  /** Schema of a definition, shared by the input and output of a tool. */
  #definition(shape: Shape): JsonObject {
    const schema = this.#made.get(shape) ?? this.#shape(shape);
    this.#made.set(shape, schema);
    return schema;
  }

  #shape(shape: Shape): JsonObject {
    return withDoc(this.#bare(shape), shape.doc);
  }

  #bare(shape: Shape): JsonObject {
    switch (shape.kind) {
      case "json":
        if (shape.except === "null") return object(["type", ["boolean", "number", "string", "array", "object"]]);
        return shape.except === "primitives" ? object(["type", ["object", "array"]]) : object();
      case "null":
      case "boolean":
        return object(["type", shape.kind]);
      case "string":
        return object(["type", "string"], shape.pattern !== undefined && ["pattern", shape.pattern]);
      case "number":
        return object(["type", shape.integer ? "integer" : "number"]);
      case "bigint":
        return object(["type", "integer"], shape.format !== undefined && ["format", shape.format]);
      case "date":
        return object(["type", "string"], ["format", "date-time"]);
      case "bytes":
        return object(["type", "string"], ["contentEncoding", "base64"]);
      case "literal":
        return this.#literals(shape.values);
      case "array":
        return object(["type", "array"], ["items", this.#shape(shape.item)]);
      case "wrapped":
        return this.#shape(shape.item);
      case "tuple":
        return this.#tuple(shape);
      case "object":
        return this.#object(shape);
      case "union":
        return this.#union(shape.branches);
      case "ref":
        return object(["$ref", `#/$defs/${shape.name}`]);
    }
  }

  #literals(values: readonly Literal[]): JsonObject {
    const types = [...new Set(values.map((value) => (value === null ? "null" : typeof value)))];
    const [only, ...more] = values;
    return object(
      ["type", types.length === 1 ? (types[0] as string) : types],
      only !== undefined && more.length === 0 ? ["const", only] : ["enum", values],
    );
  }

  /** @param port whether the items are the values of a port, where null never means an absent item */
  #tuple(shape: TupleShape, port = false): JsonObject {
    const { items, optional, rest, tail } = shape;
    const between = [rest, ...tail].filter((each) => each !== undefined).map((each) => this.#shape(each));
    const required = items.length - optional;
    const [least] = tupleLengths(shape);
    const places = items.map((item, index) =>
      port || index < required ? this.#shape(item) : nullable(this.#shape(item)),
    );
    return object(
      ["type", "array"],
      items.length > 0 && ["prefixItems", places],
      [
        "items",
        between.length === 0 ? false : between.length === 1 ? (between[0] as Json) : object(["anyOf", between]),
      ],
      least > 0 && ["minItems", least],
      rest === undefined && ["maxItems", items.length],
    );
  }

  #object({ members, indexes, closed }: ObjectShape, ports?: readonly Definition[]): JsonObject {
    const required = members.filter(({ optional }) => !optional).map(({ name }) => name);
    const patterns = indexes.flatMap(({ pattern, shape }) =>
      pattern === undefined ? [] : [[pattern, this.#shape(shape)] as const],
    );
    const rest = indexes.find(({ pattern }) => pattern === undefined);
    const others = rest !== undefined ? this.#shape(rest.shape) : !closed && patterns.length === 0 ? undefined : false;
    return object(
      ["type", "object"],
      (ports !== undefined || members.length > 0) && [
        "properties",
        object(...members.map((member) => this.#member(member, ports))),
      ],
      required.length > 0 && ["required", required],
      patterns.length > 0 && ["patternProperties", object(...patterns)],
      others !== undefined && ["additionalProperties", others],
    );
  }

  #member(member: Member, ports: readonly Definition[] | undefined): [string, Json] {
    const { name, optional, shape, doc } = member;
    const many = ports !== undefined && isMany(member, ports);
    const own = many && shape.kind === "tuple" ? this.#tuple(shape, true) : this.#bare(shape);
    const bare = optional ? nullable(own) : own;
    const whole = ports !== undefined && !optional && !many && isList(shape, ports);
    const schema = whole ? asSingleValue(bare) : bare;
    return [name, withDoc(withDoc(schema, shape.doc), doc)];
  }

  #union(branches: readonly Shape[]): JsonObject {
    const schemas = branches.filter(({ kind }) => kind !== "null").map((branch) => this.#shape(branch));
    const simple = schemas.every(({ members }) => members.size === 1 && typeof members.get("type") === "string");
    const types = [...new Set(schemas.map((schema) => schema.get("type") as string))];
    const [only] = schemas;
    const schema =
      schemas.length === 1 && only !== undefined ? only : simple ? object(["type", types]) : object(["anyOf", schemas]);
    return schemas.length < branches.length ? nullable(schema) : schema;
  }
}

function nullable(schema: JsonObject): JsonObject {
  const { members } = schema;
  const type = members.get("type");
  const branches = members.get("anyOf");
  if (members.size === 0) return schema;
  if (members.has("const") || members.has("enum")) {
    const values = (members.get("enum") as readonly Json[] | undefined) ?? [members.get("const") as Json];
    if (values.includes(null)) return schema;
    const types = type === undefined ? undefined : [type, "null"].flat();
    const rest = [...members].filter(([name]) => !["type", "const", "enum"].includes(name));
    return object(types !== undefined && ["type", types], ["enum", [...values, null]], ...rest);
  }
  if (type !== undefined) {
    const types = [type].flat();
    if (types.includes("null")) return schema;
    return withKeyword(schema, "type", [...types, "null"]);
  }
  if (Array.isArray(branches)) {
    const admits = branches.some(
      (branch) => branch instanceof JsonObject && [branch.get("type")].flat().includes("null"),
    );
    if (admits) return schema;
    return withKeyword(schema, "anyOf", [...branches, object(["type", "null"])]);
  }
  return object(["anyOf", [schema, object(["type", "null"])]]);
}

function isList(shape: Shape, definitions: readonly Definition[]): boolean {
  const resolved = resolve(shape, definitions);
  if (resolved.kind === "wrapped") return isList(resolved.item, definitions);
  return resolved.kind === "array" || resolved.kind === "tuple";
}

/** Marks a list that is sent as one value: with `"type": "array"` it would be a `many` port. */
function asSingleValue(schema: JsonObject): JsonObject {
  if (schema.get("type") !== "array") return object(["anyOf", [schema]]);
  return withKeyword(schema, "type", ["array"]);
}

/** Adds keywords from JSDoc after those of the type: first constraints, then annotations. */
function withDoc(schema: JsonObject, doc: Doc | undefined): JsonObject {
  if (doc === undefined) return schema;
  const members = new Map(schema.members);
  if (doc.description !== undefined) members.set("description", doc.description);
  for (const [keyword, value] of doc.keywords) {
    const pattern = keyword === "pattern" ? members.get("pattern") : undefined;
    // A text must match all patterns.
    if (pattern !== undefined && pattern !== value) {
      members.set("allOf", [...((members.get("allOf") as Json[] | undefined) ?? []), object(["pattern", pattern])]);
    }
    members.set(keyword, value);
  }
  const isForPeople = ([name]: readonly [string, Json]) => ANNOTATIONS.includes(name);
  const entries = [...members];
  return object(...entries.filter((each) => !isForPeople(each)), ...entries.filter(isForPeople));
}
