/**
 * Model -> precompiled validators. They check the tree before conversion, so an exact integer may be a bigint there and
 * dates and bytes are still texts; the decoder checks the rest of those.
 */

import type { AnySchemaObject } from "ajv";
import type { Ahead } from "./ahead.js";
import { contentHash } from "./content.js";
import { isCheckedFormat } from "./formats.js";
import {
  type Definition,
  forEachRef,
  INTEGER_RANGES,
  type ObjectShape,
  type Shape,
  type Tool,
  type TupleShape,
} from "./model.js";
import { openAjv, type ValidatorCode, ValidatorWriter } from "./validator-code.js";

/** The validators that a tool needs, by their names among all. */
export interface ToolValidators {
  readonly input: string;
  /** In the order in which the tool refers to them. */
  readonly definitions: readonly string[];
}

/** Validators by name; a name is made from what is checked. */
export type ValidatorCodes = Readonly<Record<string, ValidatorCode>>;

/** What ajv compiles for one tool. */
interface Checks extends ToolValidators {
  /** By name, what one refers to before it. */
  readonly schemas: readonly (readonly [name: string, schema: AnySchemaObject])[];
}

/**
 * Writes validators, each on its own: its code depends on what it checks and on nothing beside it. They are named after that,
 * with all that it refers to, so that what is the same in several tools, or in the last run, is written once.
 */
export class Validators {
  private readonly known: Map<string, ValidatorCode>;
  private readonly begun = new Map<Tool, Checks>();
  private readonly begunNames = new Set<string>();
  private readonly writer = new ValidatorWriter();

  /** `known` ones are not written again; those of tools that are begun may be written `ahead`. */
  constructor(
    known: ValidatorCodes = {},
    private readonly ahead?: Ahead,
  ) {
    this.known = new Map(Object.entries(known));
  }

  /** Says that the validators of this tool will be asked for. */
  begin(tool: Tool): void {
    if (this.ahead === undefined) return;
    const checks = checksOf(tool);
    this.begun.set(tool, checks);
    for (const [name, schema] of checks.schemas) {
      if (!this.begunNames.has(name)) this.ahead.begin(schema);
      this.begunNames.add(name);
    }
  }

  of(tool: Tool): ToolValidators {
    const { input, definitions, schemas } = this.begun.get(tool) ?? checksOf(tool);
    for (const [name, schema] of schemas) {
      if (!this.known.has(name)) this.known.set(name, this.ahead?.take(schema) ?? this.writer.write(schema));
    }
    return { input, definitions };
  }

  /** Those that the tools need. */
  codes(tools: Iterable<{ readonly validators: ToolValidators }>): ValidatorCodes {
    const needed = new Set([...tools].flatMap(({ validators: { input, definitions } }) => [input, ...definitions]));
    return Object.fromEntries([...this.known].filter(([name]) => needed.has(name)));
  }
}

function checksOf(tool: Tool): Checks {
  const shapes = new Map(tool.definitions.map(({ name, shape }) => [name, shape]));
  const names = new Map<string, string>();
  const schemas: [string, AnySchemaObject][] = [];
  const ref: Ref = (name) => {
    const met = names.get(name);
    if (met !== undefined) return { svcRef: met };
    const text = JSON.stringify(reachable(name, shapes), withoutPlaces);
    const unique = `check${name}_${contentHash(text).slice(0, 12)}`;
    names.set(name, unique);
    schemas.push([unique, check(shapes.get(name) ?? { kind: "json" }, { ...DECODED, ref })]);
    return { svcRef: unique };
  };
  const schema = objectCheck(tool.input, { ...DECODED, ref });
  const input = `input_${contentHash(JSON.stringify(schema))}`;
  return { input, definitions: [...names.values()], schemas: [...schemas, [input, schema]] };
}

/** What says why a tree does not fit a shape; undefined when it does. Dates and bytes are checked too, as far as texts go. */
export function openChecker(definitions: readonly Definition[]): (shape: Shape, tree: unknown) => string | undefined {
  const ajv = openAjv({});
  const whole = {
    date: { type: "string", format: "date-time" },
    bytes: { type: "string", pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" },
  };
  const dialect: Dialect = { ...whole, ranged: true, ref: (name) => ({ $ref: `definition_${name}` }) };
  for (const { name, shape } of definitions) ajv.addSchema({ $id: `definition_${name}`, ...check(shape, dialect) });
  return (shape, tree) => {
    const validate = ajv.compile(check(shape, dialect));
    if (validate(tree)) return undefined;
    // The deepest complaint is of the branch that was closest; at one depth the last is that of the whole union.
    const depth = ({ instancePath }: { readonly instancePath: string }) => instancePath.split("/").length;
    const told = (validate.errors ?? []).toSorted((one, other) => depth(one) - depth(other)).at(-1);
    const what = told?.keyword === "anyOf" ? "fits no part of the union" : told?.message;
    return `${told?.instancePath || "it"} ${what}`;
  };
}

/** What stands for types that have no JSON Schema of their own, and for references. */
interface Dialect {
  readonly date: AnySchemaObject;
  readonly bytes: AnySchemaObject;
  readonly ref: Ref;
  /** Whether the ranges of exact integers are checked here too. */
  readonly ranged?: boolean;
}

/** The decoder checks dates and bytes before a validator sees the tree. */
const DECODED = { date: { type: "string" }, bytes: { type: "string" } };

/** The schema that stands for a definition, by its name within the tool. */
type Ref = (name: string) => AnySchemaObject;

/** A definition and all that it refers to, by name, in the order of meeting. */
function reachable(name: string, shapes: ReadonlyMap<string, Shape>): [string, Shape | undefined][] {
  const found = new Map<string, Shape | undefined>();
  const visit = (each: string): void => {
    if (found.has(each)) return;
    const shape = shapes.get(each);
    found.set(each, shape);
    if (shape !== undefined) forEachRef(shape, visit);
  };
  visit(name);
  return [...found];
}

/** What a check does not depend on is left out of its text; bigints have none of their own. */
function withoutPlaces(key: string, value: unknown): unknown {
  if (key === "place" || key === "subject" || key === "description") return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
}

/** The schema that ajv compiles for a shape: types and constraints only, exact integers by a keyword of our own. */
function check(shape: Shape, dialect: Dialect): AnySchemaObject {
  const inner = (each: Shape) => check(each, dialect);
  // A bound beyond 2^53 is exact in the schema; numbers are compared with the nearest one.
  const bound = (value: unknown) => (typeof value === "bigint" && shape.kind !== "bigint" ? Number(value) : value);
  const constraints = Object.fromEntries(
    (shape.doc?.keywords ?? []).filter(isChecked).map(([keyword, value]) => [keyword, bound(value)]),
  );
  switch (shape.kind) {
    case "json":
      if (shape.except === "null") return { not: { type: "null" }, ...constraints };
      return shape.except === "primitives" ? { type: ["object", "array"], ...constraints } : constraints;
    case "null":
    case "boolean":
      return { type: shape.kind };
    case "string":
      if (shape.pattern !== undefined && constraints.pattern !== undefined) {
        return { type: "string", allOf: [{ pattern: shape.pattern }], ...constraints };
      }
      return { type: "string", ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }), ...constraints };
    case "date":
    case "bytes":
      return dialect[shape.kind];
    case "number":
      return { type: shape.integer ? "integer" : "number", ...constraints };
    case "bigint":
      return integerCheck(shape, constraints, dialect);
    case "literal":
      return { enum: [...shape.values] };
    case "array":
      return { type: "array", items: inner(shape.item), ...constraints };
    case "tuple":
      return { ...tupleCheck(shape, inner), ...constraints };
    case "object":
      return objectCheck(shape, dialect);
    case "union":
      return { anyOf: shape.branches.map(inner) };
    case "ref":
      return dialect.ref(shape.name);
  }
}

/** An exact integer; its bounds as digits, since they may be beyond 2^53. */
function integerCheck(
  { format }: Shape & { kind: "bigint" },
  constraints: AnySchemaObject,
  { ranged = false }: Dialect,
): AnySchemaObject {
  const own = {
    svcInteger: Object.fromEntries(Object.entries(constraints).map(([name, bound]) => [name, `${BigInt(bound)}`])),
  };
  if (!ranged) return own;
  const [min, max] = INTEGER_RANGES[format ?? "any"];
  return { allOf: [{ svcInteger: { minimum: `${min}`, maximum: `${max}` } }, own] };
}

const CHECKED = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
]);

function isChecked([keyword, value]: readonly [string, unknown]): boolean {
  return CHECKED.has(keyword) || (keyword === "format" && isCheckedFormat(value));
}

function tupleCheck(
  { items, optional, rest, tail }: TupleShape,
  inner: (shape: Shape) => AnySchemaObject,
): AnySchemaObject {
  const required = items.length - optional;
  const places = items.map((item, index) => (index < required ? inner(item) : orNull(inner(item))));
  return {
    type: "array",
    minItems: required + tail.length,
    ...(items.length === 0 ? {} : { items: places }),
    ...(rest === undefined
      ? { maxItems: items.length, ...(items.length === 0 ? {} : { additionalItems: false }) }
      : {}),
    ...(rest !== undefined && tail.length === 0
      ? { [items.length === 0 ? "items" : "additionalItems"]: inner(rest) }
      : {}),
    ...(rest !== undefined && tail.length > 0 ? { svcTail: { rest: inner(rest), ...tail.map(inner) } } : {}),
  };
}

function objectCheck({ members, indexes, closed }: ObjectShape, dialect: Dialect): AnySchemaObject {
  const inner = (shape: Shape) => check(shape, dialect);
  const named = indexes.flatMap(({ pattern, shape }) =>
    pattern === undefined ? [] : [[pattern, inner(shape)] as const],
  );
  const rest = indexes.find(({ pattern }) => pattern === undefined);
  const isOpen = rest === undefined && !closed && named.length === 0;
  const proto = members.find(({ name }) => name === "__proto__");
  const plain = members.filter((member) => member !== proto);
  // Not one of the others, though `properties` cannot have it.
  const patterns = proto === undefined || isOpen ? named : [...named, ["^__proto__$", {}] as const];
  const schemaOf = ({ optional, shape }: (typeof members)[number]) => (optional ? orNull(inner(shape)) : inner(shape));
  return {
    type: "object",
    ...(plain.length === 0
      ? {}
      : { properties: record(plain.map((member) => [member.name, schemaOf(member)] as const)) }),
    required: plain.filter(({ optional }) => !optional).map(({ name }) => name),
    ...(proto === undefined ? {} : { svcProto: { required: !proto.optional, schema: schemaOf(proto) } }),
    ...(patterns.length === 0 ? {} : { patternProperties: record(patterns) }),
    ...(rest !== undefined
      ? { additionalProperties: inner(rest.shape) }
      : isOpen
        ? {}
        : { additionalProperties: false }),
  };
}

/** `null` stands for an absent member. */
function orNull(schema: AnySchemaObject): AnySchemaObject {
  if (typeof schema.type === "string" && schema.type !== "null") return { ...schema, type: [schema.type, "null"] };
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: "null" }] };
  return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] };
}

function record(pairs: readonly (readonly [string, AnySchemaObject])[]): Record<string, AnySchemaObject> {
  return Object.fromEntries(pairs);
}

/** One function of the module of validators: the start of its declaration, and its code. */
export interface ValidatorView {
  readonly start: string;
  readonly code: string;
}

/**
 * The functions of the module that exports the validators of the tools' inputs under these names, definitions after the tool
 * that needs them first, and what they take from `svc-runtime/v1`.
 */
export function validatorViews(
  tools: readonly (readonly [name: string, validators: ToolValidators])[],
  codes: ValidatorCodes,
): { readonly functions: readonly ValidatorView[]; readonly helpers: readonly string[] } {
  const helpers = new Set<string>();
  const functions: ValidatorView[] = [];
  const written = new Set<string>();
  const write = (start: string, { code, helpers: used }: ValidatorCode): void => {
    for (const helper of used) helpers.add(helper);
    functions.push({ start, code });
  };
  for (const [name, { input, definitions }] of tools) {
    write(`export const ${name}`, codes[input] as ValidatorCode);
    for (const unique of definitions) {
      if (!written.has(unique)) write(`const ${unique}`, codes[unique] as ValidatorCode);
      written.add(unique);
    }
  }
  return { functions, helpers: [...helpers].sort() };
}
