/**
 * Converts JSON Schemas to TypeScript types with JSDoc. Drops keywords that svc-gen's types cannot express;
 * `differences.ts` finds these when it compares the generated schemas.
 */

import { literal } from "../compile/emit/print-literal.js";
import { ANNOTATIONS, CONSTRAINTS, type ConstraintKeyword, keywordsOf, NUMBER_FORMATS } from "../compile/keywords.js";
import { isArgument } from "../compile/types/constraints.js";
import {
  DEFINITIONS,
  dereferenced,
  keyword,
  listAt,
  namedSchemas,
  referenceOf,
  referenceSteps,
  resolveReference,
  valuesOf,
  withKeyword,
  withoutKeywords,
} from "../contract/schema-reader.js";
import { type Json, JsonObject, object, printJson } from "../text/json.js";
import {
  commentText,
  type Documentation,
  NO_DOCUMENTATION,
  patternText,
  printComment,
  type Tag,
  titleText,
  valueText,
} from "./doc-comments.js";
import { allOf, isSame, mergeSchemas, UnmergeableSchemas } from "./merge-schemas.js";
import type { Declaration, EnumNode, MemberNode, ObjectNode, TupleItem, TypeNode } from "./print-types.js";
import { nameFromPath, TypeNames } from "./type-names.js";

/**
 * Types of the input and the output: those that `Input` and `Output` use, followed by these two. The schemas must define
 * ports that the network accepts.
 */
export function typesOf(input: JsonObject, output: JsonObject, className: string): readonly Declaration[] {
  const definitions = [input, output].flatMap((schema) => [...definitionsOf(schema).keys()]);
  const types = new SchemaTypes(new TypeNames(className, definitions), input, output);
  const inputType = types.input();
  types.declareDefinitions();
  const outputType = types.output();
  types.declareDefinitions();
  return [...types.declarations, inputType, outputType];
}

type Side = "input" | "output";

interface SchemaPosition {
  readonly side: Side;
  /** Path from the member or definition after which the type is named. */
  readonly path: readonly string[];
  readonly depth: number;
  /** Definition that directly contains the type, outside objects and lists. The type must not refer to it. */
  readonly within: JsonObject | undefined;
  /** Definitions that are merged into the enclosing types. */
  readonly merged: readonly Json[];
}

/** A type and its documentation. */
interface Converted {
  readonly type: TypeNode;
  readonly documentation: Documentation;
  readonly constraints: readonly Tag[];
}

/** Maximum nesting of a type; svc-gen reads types to 50 levels. */
const MAX_DEPTH = 40;
/** Maximum number of types of one tool; merged schemas can be much larger than their text. */
const MAX_TYPES = 100_000;
/** Maximum number of parts of an `allOf`, including referenced definitions. */
const MAX_PARTS = 100;
/** Maximum number of aliases that are followed; longer chains are treated as circular. */
const MAX_ALIASES = 1000;
const MAX_TUPLE = 64;
const MAX_EXAMPLES = 100;
const UNKNOWN = { kind: "text", text: "unknown" } as const;
const LIST_KEYWORDS: readonly string[] = keywordsOf("lists");
const NUMBER_KEYWORDS: readonly string[] = keywordsOf("numbers");
const TEXT_KEYWORDS: readonly string[] = keywordsOf("text");

/**
 * Integer formats that require a bigint. `int` and `uint` are the names that schemars uses for Rust's isize and usize.
 */
const WIDE_FORMATS: Readonly<Record<string, "int64" | "uint64">> = {
  int64: "int64",
  uint64: "uint64",
  int: "int64",
  uint: "uint64",
};

class SchemaTypes {
  readonly declarations: Declaration[] = [];
  /** Names of the types for schemas that are referenced. */
  readonly #named = new Map<JsonObject, string>();
  readonly #undeclared: { readonly name: string; readonly schema: JsonObject; readonly at: SchemaPosition }[] = [];
  readonly #declared = new Set<string>();
  #left = MAX_TYPES;
  readonly #shared: ReadonlySet<string>;

  readonly #names: TypeNames;
  readonly #inputSchema: JsonObject;
  readonly #outputSchema: JsonObject;

  constructor(names: TypeNames, inputSchema: JsonObject, outputSchema: JsonObject) {
    this.#names = names;
    this.#inputSchema = inputSchema;
    this.#outputSchema = outputSchema;
    this.#shared = sharedDefinitions(inputSchema, outputSchema);
  }

  #document(side: Side): JsonObject {
    return side === "input" ? this.#inputSchema : this.#outputSchema;
  }

  // Input and output

  // The network follows one reference to the ports, and ignores the reference's sibling keywords.

  input(): Declaration {
    const at = start("input");
    const schema = this.#oneHop(this.#inputSchema, "input");
    const comment = printComment({ description: descriptionOf(schema), tags: [] }, []);
    return { comment, name: "Input", type: withoutRest(this.#object(schema, at, true)) };
  }

  output(): Declaration {
    const at = start("output");
    const root = this.#oneHop(this.#outputSchema, "output");
    const parts = listAt(root, "oneOf").map((variant) => this.#variant(variant, below(at, [])));
    const comment = printComment({ description: descriptionOf(root), tags: [] }, []);
    return { comment, name: "Output", type: parts.length === 1 ? (parts[0] as TypeNode) : { kind: "union", parts } };
  }

  #variant(schema: Json, at: SchemaPosition): TypeNode {
    const whole = this.#oneHop(schema, "output");
    if (!(whole.get("properties") instanceof JsonObject)) {
      return text(literal([whole.get("const"), ...listAt(whole, "enum")].find((name) => typeof name === "string")));
    }
    const [[name, payload] = ["", true as Json]] = namedSchemas(whole, "properties");
    const inner = below(at, [name]);
    const type = withoutRest(this.#object(this.#oneHop(payload, "output"), inner, true));
    const comment = printComment(this.#documentation(whole), []);
    return { kind: "object", members: [{ comment, name, optional: false, type }] };
  }

  // Any schema

  /** A type without comment. A type with documentation or constraints becomes a named type. */
  #type(schema: Json, at: SchemaPosition): TypeNode {
    const converted = this.#convert(schema, at);
    const comment = printComment(converted.documentation, converted.constraints);
    return comment === "" ? converted.type : this.#declare(comment, converted.type, at);
  }

  #declare(comment: string, type: TypeNode, at: SchemaPosition): TypeNode {
    const name = this.#names.next(nameFromPath(at.path));
    this.declarations.push({ comment, name, type });
    return text(name);
  }

  #convert(schema: Json, at: SchemaPosition): Converted {
    if (!(schema instanceof JsonObject) || at.depth > MAX_DEPTH || this.#left-- <= 0) return plain(UNKNOWN);
    const reference = this.#reference(schema, at);
    if (reference !== undefined) return reference;
    const merge = this.#merge(schema, at);
    return merge === undefined
      ? plain(UNKNOWN)
      : this.#convertMerged(merge.schema, { ...at, merged: [...at.merged, ...merge.from] });
  }

  #convertMerged(whole: JsonObject, at: SchemaPosition): Converted {
    const branches = whole.get("anyOf") ?? whole.get("oneOf");
    if (Array.isArray(branches)) return this.#branches(whole, branches, at);
    const values = valuesOf(whole);
    if (values !== undefined && values.length > 0 && values.every(isScalar)) {
      return { type: union(values.map((value) => text(literal(value)))), ...this.#comment(whole, []) };
    }
    const types = whole.get("type");
    if (!Array.isArray(types)) return this.#single(whole, at);
    // How svc-gen writes the type `{}`.
    const isEvery = isSame([...types].sort(), ["array", "boolean", "number", "object", "string"]);
    if (isEvery) return { type: text("NonNullable<unknown>"), ...this.#comment(whole, []) };
    return this.#several(whole, types, at);
  }

  /** Named type of a referenced definition; undefined if the reference has keywords to merge. */
  #reference(schema: JsonObject, at: SchemaPosition): Converted | undefined {
    const [alone, ...others] = schema.members.has("$ref") ? [] : listAt(schema, "allOf");
    const rest = [...schema.members.keys()].filter((name) => name !== "$ref" && name !== "allOf");
    if (!rest.every((name) => ANNOTATIONS.includes(name))) return undefined;
    const isAlone = alone instanceof JsonObject && alone.members.size === 1 && others.length === 0;
    const target = referenceOf(isAlone ? alone : schema);
    if (target === undefined) return undefined;
    const found = resolveReference(this.#document(at.side), target);
    if (!(found instanceof JsonObject)) return plain(UNKNOWN);
    if (at.within !== undefined && this.#leadsTo(found, at.within, at.side)) return plain(UNKNOWN);
    return { type: text(this.#nameOf(found, target, at)), documentation: this.#documentation(schema), constraints: [] };
  }

  /** Whether `other` is reached through references, unions and `allOf` only, so that an alias would be circular. */
  #leadsTo(definition: JsonObject, other: JsonObject, side: Side): boolean {
    const seen = new Set<Json>([definition]);
    for (const schema of seen) {
      if (schema === other || seen.size > MAX_ALIASES) return true;
      if (!(schema instanceof JsonObject)) continue;
      seen.add(dereferenced(schema, this.#document(side)) ?? true);
      for (const name of ["anyOf", "oneOf", "allOf"]) for (const branch of listAt(schema, name)) seen.add(branch);
    }
    return false;
  }

  /** Name of the type of a definition; {@link declareDefinitions} declares it. */
  #nameOf(definition: JsonObject, reference: string, at: SchemaPosition): string {
    const steps = referenceSteps(reference) ?? [];
    const wanted = steps.at(-1) ?? "";
    const isShared = steps.length === 2 && DEFINITIONS.includes(steps[0] ?? "") && this.#shared.has(wanted);
    const same = isShared ? resolveReference(this.#inputSchema, reference) : undefined;
    const schema = same instanceof JsonObject ? same : definition;
    const known = this.#named.get(schema);
    if (known !== undefined) return known;
    const name = this.#names.definition(/[A-Za-z0-9]/.test(wanted) ? wanted : nameFromPath(at.path));
    this.#named.set(schema, name);
    // References in a shared definition are resolved in one document, so that recursion ends.
    const side = isShared ? "input" : at.side;
    const place: SchemaPosition = { ...start(side), path: [name], within: schema };
    this.#undeclared.push({ name, schema, at: place });
    return name;
  }

  /** Declares the types of all definitions that are used, directly or indirectly. */
  declareDefinitions(): void {
    for (const { name, schema, at } of this.#undeclared) {
      if (this.#declared.has(name)) continue;
      this.#declared.add(name);
      const constants = documentedConstants(listAt(schema, schema.members.has("oneOf") ? "oneOf" : "anyOf"));
      if (constants !== undefined) {
        this.declarations.push({ comment: printComment(this.#documentation(schema), []), name, type: constants });
        continue;
      }
      const { type, documentation, constraints } = this.#convert(schema, at);
      this.declarations.push({ comment: printComment(documentation, constraints), name, type });
    }
  }

  /**
   * Merges `allOf` and a `$ref` with sibling keywords into one schema. Undefined if they cannot be merged or are
   * recursive.
   */
  #merge(
    schema: Json,
    at: SchemaPosition,
  ): { readonly schema: JsonObject; readonly from: readonly Json[] } | undefined {
    const parts: JsonObject[] = [];
    const from: Json[] = [];
    const open: Json[] = [schema];
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      if (!(part instanceof JsonObject)) continue;
      parts.push(withoutKeywords(part, ["$ref", "allOf", "$schema", ...DEFINITIONS]));
      for (const each of listAt(part, "allOf").slice(0, MAX_PARTS)) open.push(each);
      if (open.length + parts.length > MAX_PARTS) return undefined;
      if (referenceOf(part) === undefined) continue;
      const target = dereferenced(part, this.#document(at.side)) ?? true;
      if (from.includes(target) || at.merged.includes(target)) return undefined;
      from.push(target);
      open.push(target);
    }
    try {
      // The schema's own keywords come last, so that its annotations take precedence.
      return { schema: mergeSchemas(parts.reverse()), from };
    } catch (error) {
      if (!(error instanceof UnmergeableSchemas)) throw error;
      return undefined;
    }
  }

  #branches(schema: JsonObject, branches: readonly Json[], at: SchemaPosition): Converted {
    const constants = documentedConstants(branches);
    if (constants !== undefined) {
      const name = this.#names.next(nameFromPath(at.path));
      this.declarations.push({ comment: printComment(this.#documentation(schema), []), name, type: constants });
      return plain(text(name));
    }
    const base = withoutKeywords(schema, ["anyOf", "oneOf", ...ANNOTATIONS]);
    const common = base.members.size > 0 && ![...base.members.keys()].every((name) => name === "type");
    const parts = branches.map((branch, index) => {
      const whole = common ? allOf(base, branch) : branch;
      return this.#type(whole, below(at, [`${index + 1}`], true));
    });
    return { type: union(parts), ...this.#comment(schema, []) };
  }

  /** `"type": ["string", "null"]`: each type with its own keywords. */
  #several(schema: JsonObject, given: readonly Json[], at: SchemaPosition): Converted {
    const types = [...new Set(given)].filter((type) => typeof type === "string");
    const [only] = types;
    const present = types.filter((type) => type !== "null");
    if (types.length === 1 && only !== undefined) return this.#single(withKeyword(schema, "type", only), at);
    const converted = present.map((type) =>
      this.#single(withKeyword(withoutKeywords(schema, ANNOTATIONS), "type", type), at),
    );
    const parts = converted.map(({ type }) => type);
    if (present.length < types.length) parts.push(text("null"));
    return {
      type: union(parts),
      ...this.#comment(schema, distinctTags(converted.flatMap((each) => each.constraints))),
    };
  }

  #single(schema: JsonObject, at: SchemaPosition): Converted {
    const type = schema.get("type");
    if (type === "object") return this.#objectOrMap(schema, at);
    if (type === "array") return this.#list(schema, at);
    if (type === "string") return this.#text(schema, at.side);
    if (type === "integer" || type === "number") return this.#number(schema, type);
    if (type === "boolean" || type === "null") return { type: text(type), ...this.#comment(schema, []) };
    if (type === undefined) {
      if (schema.members.has("properties")) return this.#objectOrMap(schema, at);
      if (schema.members.has("prefixItems") || schema.members.has("items")) return this.#list(schema, at);
    }
    const constraints = tagsOf(schema, [...NUMBER_KEYWORDS, ...TEXT_KEYWORDS, ...LIST_KEYWORDS]);
    return {
      type: UNKNOWN,
      ...this.#comment(schema, type === undefined ? constraints.filter(({ name }) => name !== "format") : []),
    };
  }

  #text(schema: JsonObject, side: Side): Converted {
    const constraints = tagsOf(schema, TEXT_KEYWORDS);
    const format = schema.get("format");
    const isWriteOnly = schema.get("writeOnly") === true && format === undefined;
    if (side === "input" && (isWriteOnly || format === "password")) {
      const others = constraints.filter(({ name }) => name !== "format");
      return { type: text("string"), ...this.#comment(schema, [...others, { name: "secret", text: "" }]) };
    }
    if (format === "date-time" && constraints.length === 1) {
      return { type: text("Date"), ...this.#comment(schema, []) };
    }
    if (schema.get("contentEncoding") === "base64" && constraints.length === 0) {
      return { type: text("Uint8Array"), ...this.#comment(schema, []) };
    }
    return { type: text("string"), ...this.#comment(schema, constraints) };
  }

  #number(schema: JsonObject, type: "integer" | "number"): Converted {
    const constraints = tagsOf(schema, NUMBER_KEYWORDS);
    if (type === "number") return { type: text("number"), ...this.#comment(schema, constraints) };
    const format = schema.get("format");
    const isLarge = NUMBER_KEYWORDS.some((keyword) => typeof schema.get(keyword) === "bigint");
    const wide = typeof format === "string" && Object.hasOwn(WIDE_FORMATS, format) ? WIDE_FORMATS[format] : undefined;
    if (wide !== undefined) {
      return { type: text("bigint"), ...this.#comment(schema, [{ name: "format", text: wide }, ...constraints]) };
    }
    if (format === "int128" || format === "uint128" || isLarge) {
      return { type: text("bigint"), ...this.#comment(schema, constraints) };
    }
    const range =
      typeof format === "string" && Object.hasOwn(NUMBER_FORMATS, format) ? NUMBER_FORMATS[format] : undefined;
    if (range === undefined) {
      return { type: text("number"), ...this.#comment(schema, [{ name: "asType", text: "integer" }, ...constraints]) };
    }
    // The format implies these bounds.
    const [least, most] = [`${range[0]}`, `${range[1]}`];
    const own = constraints.filter(({ name, text: value }) => {
      return !((name === "minimum" && value === least) || (name === "maximum" && value === most));
    });
    return { type: text("number"), ...this.#comment(schema, [{ name: "format", text: `${format}` }, ...own]) };
  }

  #list(schema: JsonObject, at: SchemaPosition): Converted {
    const own = tagsOf(schema, LIST_KEYWORDS);
    const items = schema.get("items");
    const prefix = schema.get("prefixItems") ?? (Array.isArray(items) ? items : undefined);
    if (Array.isArray(prefix) && prefix.length <= MAX_TUPLE) return this.#tuple(schema, prefix, at);
    if (items === false) return { type: { kind: "tuple", items: [] }, ...this.#comment(schema, []) };
    const inner = below(at, ["Item"]);
    const item = this.#convert(Array.isArray(items) ? true : (items ?? true), inner);
    const isPlain = printComment(item.documentation, []) === "" && item.type.kind !== "union" && item.type !== UNKNOWN;
    if (isPlain && !item.constraints.some(({ name }) => LIST_KEYWORDS.includes(name))) {
      return { type: { kind: "list", item: item.type }, ...this.#comment(schema, [...item.constraints, ...own]) };
    }
    const comment = printComment(item.documentation, item.constraints);
    const named = comment === "" ? item.type : this.#declare(comment, item.type, inner);
    return { type: { kind: "list", item: named }, ...this.#comment(schema, own) };
  }

  #tuple(schema: JsonObject, prefix: readonly Json[], at: SchemaPosition): Converted {
    const minItems = Number(schema.get("minItems") ?? 0);
    const maxItems = schema.get("maxItems");
    const rest = schema.get(schema.members.has("prefixItems") ? "items" : "additionalItems");
    const items = prefix.map((item, index): TupleItem => {
      const optional = index >= minItems;
      const type = this.#type(optional ? withoutNull(item) : item, below(at, [`Item${index + 1}`]));
      return { type, mark: optional ? "optional" : "required" };
    });
    if (rest === false || maxItems === prefix.length) {
      return { type: { kind: "tuple", items }, ...this.#comment(schema, tagsOf(schema, ["uniqueItems"])) };
    }
    items.push({ type: this.#type(rest ?? true, below(at, ["Rest"])), mark: "rest" });
    const isLonger = minItems > prefix.length;
    const tags = tagsOf(schema, [...(isLonger ? ["minItems"] : []), "maxItems", "uniqueItems"]);
    return { type: { kind: "tuple", items }, ...this.#comment(schema, tags) };
  }

  #objectOrMap(schema: JsonObject, at: SchemaPosition): Converted {
    const type = this.#object(schema, at, false);
    // An intersection with `[name: string]: never` would be equivalent, but no object literal could be assigned to it.
    const isClosed = schema.get("additionalProperties") === false && type.kind === "object" && type.rest === undefined;
    if (isClosed) return { type, ...this.#comment(schema, [{ name: "additionalProperties", text: "false" }]) };
    const isBare = type.kind === "object" && type.members.length === 0 && type.rest === undefined;
    return { type: isBare ? { ...type, rest: UNKNOWN } : type, ...this.#comment(schema, []) };
  }

  /** @param ports whether the members are ports */
  #object(schema: JsonObject, at: SchemaPosition, ports: boolean): ObjectNode | (TypeNode & { kind: "intersection" }) {
    const required = new Set(listAt(schema, "required"));
    const inner: SchemaPosition = { ...at, within: undefined };
    const members = [...namedSchemas(schema, "properties")].map(([name, member]) =>
      this.#member(name, member, required.has(name), ports, inner),
    );
    const others = schema.get("additionalProperties");
    const isAny = others === true || (others instanceof JsonObject && others.members.size === 0);
    // A type cannot state patterns of names, so the values may be those of any pattern.
    const values = [...namedSchemas(schema, "patternProperties").values()];
    if (others instanceof JsonObject) values.unshift(others);
    const undeclared = isAny ? others : values.length > 1 ? object(["anyOf", values]) : values[0];
    if (others === false && undeclared === undefined && members.length === 0 && !ports) {
      return { kind: "object", members, rest: text("never") };
    }
    if (undeclared === undefined || undeclared === true) return { kind: "object", members };
    const rest = this.#type(undeclared, below(inner, ["Value"]));
    return rest === UNKNOWN || members.length === 0 ? { kind: "object", members, rest } : besides(members, rest);
  }

  #member(name: string, schema: Json, required: boolean, port: boolean, outer: SchemaPosition): MemberNode {
    const at = below(outer, [name]);
    const isMany = port && this.#oneHop(schema, at.side).get("type") === "array";
    // An optional list would be a single value, so a list port is always a required member.
    const optional = !required && !isMany;
    const { type, documentation, constraints } = this.#convert(
      optional ? withoutNull(withoutDefault(schema)) : schema,
      at,
    );
    return { comment: printComment(documentation, constraints), name, optional, type };
  }

  /** Schema that a reference refers to, or the schema itself; an empty schema if there is none. */
  #oneHop(schema: Json, side: Side): JsonObject {
    const found = dereferenced(schema, this.#document(side));
    return found instanceof JsonObject ? found : object();
  }

  // Comments

  #comment(schema: JsonObject, constraints: readonly Tag[]) {
    return { documentation: this.#documentation(schema), constraints };
  }

  #documentation(schema: JsonObject): Documentation {
    const tags: Tag[] = [];
    const title = schema.get("title");
    if (typeof title === "string" && titleText(title) !== "") tags.push({ name: "title", text: titleText(title) });
    if (schema.members.has("default")) tags.push({ name: "default", text: valueText(schema.get("default") as Json) });
    if (schema.get("deprecated") === true) tags.push({ name: "deprecated", text: "" });
    for (const example of listAt(schema, "examples").slice(0, MAX_EXAMPLES))
      tags.push({ name: "example", text: valueText(example) });
    const description = descriptionOf(schema);
    return description === "" && tags.length === 0 ? NO_DOCUMENTATION : { description, tags };
  }
}

function descriptionOf(schema: JsonObject): string {
  const description = schema.get("description");
  return typeof description === "string" ? commentText(description) : "";
}

/** The given keywords as tags, without invalid values. */
function tagsOf(schema: JsonObject, keywords: readonly string[]): Tag[] {
  return keywords.flatMap((name) => {
    const value = schema.get(name);
    const printed = value === undefined ? undefined : argumentText(name as ConstraintKeyword, value);
    return printed === undefined ? [] : [{ name, text: printed }];
  });
}

/** Text of a tag that sets a keyword; undefined if the keyword has no such value. */
function argumentText(keyword: ConstraintKeyword, value: Json): string | undefined {
  const { takes } = CONSTRAINTS[keyword];
  if (takes === "true") return value === true ? "" : undefined;
  const isText = takes === "name" || takes === "regex";
  if (isText !== (typeof value === "string")) return undefined;
  const argument = takes === "regex" ? patternText(String(value)) : isText ? String(value) : printJson(value);
  return argument !== undefined && isArgument(keyword, argument) ? argument : undefined;
}

function distinctTags(tags: readonly Tag[]): Tag[] {
  return tags.filter((tag, at) => tags.findIndex(({ name, text }) => name === tag.name && text === tag.text) === at);
}

function start(side: Side): SchemaPosition {
  return {
    side,
    path: [],
    depth: 0,
    within: undefined,
    merged: [],
  };
}

function below(at: SchemaPosition, path: readonly string[], isDirect = false): SchemaPosition {
  return {
    ...at,
    path: [...at.path, ...path],
    depth: at.depth + 1,
    within: isDirect ? at.within : undefined,
  };
}

function plain(type: TypeNode): Converted {
  return { type, documentation: NO_DOCUMENTATION, constraints: [] };
}

function text(value: string): TypeNode {
  return { kind: "text", text: value };
}

/** Union without nested unions and duplicates. */
function union(parts: readonly TypeNode[]): TypeNode {
  const texts = new Set<string>();
  const flat = parts.flatMap((part) => (part.kind === "union" ? part.parts : [part]));
  const distinct = flat.filter((part) => {
    if (part.kind !== "text") return true;
    const isNew = !texts.has(part.text);
    texts.add(part.text);
    return isNew;
  });
  const [only] = distinct;
  if (texts.has(UNKNOWN.text) || only === undefined) return UNKNOWN;
  return distinct.length === 1 ? only : { kind: "union", parts: distinct };
}

/** Intersection of the members with an index signature of type `rest`, which the members need not match. */
function besides(members: readonly MemberNode[], rest: TypeNode): TypeNode & { kind: "intersection" } {
  return {
    kind: "intersection",
    parts: [
      { kind: "object", members },
      { kind: "object", members: [], rest },
    ],
  };
}

/**
 * Converts string constants with descriptions to an enum, because literals in a union cannot have descriptions.
 * Undefined for any other branches.
 */
function documentedConstants(branches: readonly Json[]): EnumNode | undefined {
  const names = new Set<string>();
  let isDocumented = false;
  const members = branches.map((branch) => {
    const value = keyword(branch, "const");
    const allowed = ["const", "type", "description"];
    if (!(branch instanceof JsonObject) || typeof value !== "string") return undefined;
    if (![...branch.members.keys()].every((name) => allowed.includes(name))) return undefined;
    const description = descriptionOf(branch);
    if (description !== "") isDocumented = true;
    const name = memberName(value, names);
    names.add(name);
    return { comment: printComment({ description, tags: [] }, []), name, value };
  });
  if (!isDocumented || !members.every((member) => member !== undefined)) return undefined;
  return new Set(members.map(({ value }) => value)).size === members.length ? { kind: "enum", members } : undefined;
}

/** The name of an enum member: `ErrHttp` for `err_http`. */
function memberName(value: string, taken: ReadonlySet<string>): string {
  const words = nameFromPath([value]);
  const base = /^[A-Za-z]/.test(words) ? words : `Value${words}`;
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}${count}`;
  return name;
}

/** Drops an index signature, because a call has only the declared ports. */
function withoutRest(type: ObjectNode | (TypeNode & { kind: "intersection" })): TypeNode {
  if (type.kind === "object") return { kind: "object", members: type.members };
  return type.parts[0] as TypeNode;
}

function isScalar(value: Json): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** Schema of an optional member without the default `null`, which every optional member has. */
function withoutDefault(schema: Json): Json {
  return schema instanceof JsonObject && schema.get("default") === null ? withoutKeywords(schema, ["default"]) : schema;
}

/** The schema of an optional member without `null`, which means an absent member. */
function withoutNull(schema: Json): Json {
  if (!(schema instanceof JsonObject)) return schema;
  const members = new Map(schema.members);
  const [type, values, branches] = [members.get("type"), members.get("enum"), members.get("anyOf")];
  if (Array.isArray(type) && type.length > 1) {
    const rest = (type as readonly Json[]).filter((each) => each !== "null");
    if (rest.length > 0) members.set("type", rest.length === 1 ? (rest[0] as Json) : rest);
  }
  if (Array.isArray(values) && values.length > 1) {
    members.set(
      "enum",
      (values as readonly Json[]).filter((value) => value !== null),
    );
  }
  if (Array.isArray(branches) && branches.length > 1) {
    const rest = (branches as readonly Json[]).filter((branch) => !isNull(branch));
    members.set("anyOf", rest);
    const [only] = rest;
    const annotated = [...members.keys()].every((name) => name === "anyOf" || ANNOTATIONS.includes(name));
    if (rest.length === 1 && only instanceof JsonObject && annotated) {
      members.delete("anyOf");
      return new JsonObject(new Map([...only.members, ...members]));
    }
  }
  return new JsonObject(members);
}

function isNull(schema: Json): boolean {
  return keyword(schema, "type") === "null";
}

/** Names of definitions that are equal in both schemas. */
function sharedDefinitions(input: JsonObject, output: JsonObject): ReadonlySet<string> {
  const [one, other] = [definitionsOf(input), definitionsOf(output)];
  const same = new Set([...one.keys()].filter((name) => isSame(one.get(name) ?? null, other.get(name) ?? null)));
  const users = new Map<string, string[]>();
  for (const name of same) {
    for (const used of referencesIn(one.get(name) ?? null)) append(users, used, name);
  }
  // Definitions that refer to a different definition are different too.
  const different = [...users.keys()].filter((name) => !same.has(name));
  for (const name of different) {
    for (const user of users.get(name) ?? []) if (same.delete(user)) different.push(user);
  }
  return same;
}

function append(lists: Map<string, string[]>, key: string, item: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function definitionsOf(schema: JsonObject): ReadonlyMap<string, Json> {
  return namedSchemas(schema, schema.members.has("$defs") ? "$defs" : "definitions");
}

/** Last segments of all references in a schema. */
function referencesIn(schema: Json): string[] {
  if (Array.isArray(schema)) return (schema as readonly Json[]).flatMap(referencesIn);
  if (!(schema instanceof JsonObject)) return [];
  return [...schema.members].flatMap(([name, value]) =>
    name === "$ref" && typeof value === "string" ? [referenceSteps(value)?.at(-1) ?? ""] : referencesIn(value),
  );
}
