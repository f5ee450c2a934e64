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

/** The validator of a tool's input, and the names of those of the definitions that it needs. */
export interface ToolValidators {
  readonly input: ValidatorCode;
  readonly definitions: readonly string[];
}

/** The validators of definitions, by name. */
export type Definitions = Readonly<Record<string, ValidatorCode>>;

/** What ajv compiles for one tool. */
interface Checks {
  readonly input: AnySchemaObject;
  /** By unique name, what a definition refers to before it. */
  readonly definitions: readonly (readonly [name: string, schema: AnySchemaObject])[];
  /** Their names, in the order in which the tool refers to them. */
  readonly names: readonly string[];
}

/**
 * Writes validators, each on its own: its code depends on what it checks and on nothing beside it. A definition is named
 * after its content, so that those that are the same in several tools, with all that they refer to, have one function.
 */
export class Validators {
  private readonly known: Map<string, ValidatorCode>;
  private readonly begun = new Map<Tool, Checks>();
  private readonly begunNames = new Set<string>();
  private readonly writer = new ValidatorWriter();

  /** `known` ones are not written again; those of tools that are begun may be written `ahead`. */
  constructor(
    known: Definitions = {},
    private readonly ahead?: Ahead,
  ) {
    this.known = new Map(Object.entries(known));
  }

  /** Says that the validators of this tool will be asked for. */
  begin(tool: Tool): void {
    if (this.ahead === undefined) return;
    const checks = checksOf(tool);
    this.begun.set(tool, checks);
    for (const [name, schema] of checks.definitions) {
      if (!this.begunNames.has(name)) this.ahead.begin(schema);
      this.begunNames.add(name);
    }
    this.ahead.begin(checks.input);
  }

  of(tool: Tool): ToolValidators {
    const { input, definitions, names } = this.begun.get(tool) ?? checksOf(tool);
    for (const [name, schema] of definitions) {
      if (!this.known.has(name)) this.known.set(name, this.code(schema));
    }
    return { input: this.code(input), definitions: names };
  }

  private code(schema: AnySchemaObject): ValidatorCode {
    return this.ahead?.take(schema) ?? this.writer.write(schema);
  }

  /** The definitions that the tools need. */
  named(tools: Iterable<{ readonly validators: ToolValidators }>): Definitions {
    const needed = new Set([...tools].flatMap(({ validators }) => validators.definitions));
    return Object.fromEntries([...this.known].filter(([name]) => needed.has(name)));
  }
}

function checksOf(tool: Tool): Checks {
  const shapes = new Map(tool.definitions.map(({ name, shape }) => [name, shape]));
  const names = new Map<string, string>();
  const definitions = new Map<string, AnySchemaObject>();
  const ref: Ref = (name) => {
    const met = names.get(name);
    if (met !== undefined) return { svcRef: met };
    const text = JSON.stringify(reachable(name, shapes), withoutPlaces);
    const unique = `check${name}_${contentHash(text).slice(0, 12)}`;
    names.set(name, unique);
    definitions.set(unique, check(shapes.get(name) ?? { kind: "json" }, { ...DECODED, ref }));
    return { svcRef: unique };
  };
  const input = objectCheck(tool.input, { ...DECODED, ref });
  return { input, definitions: [...definitions], names: [...names.values()] };
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
  const patterns = indexes.flatMap(({ pattern, shape }) =>
    pattern === undefined ? [] : [[pattern, inner(shape)] as const],
  );
  const rest = indexes.find(({ pattern }) => pattern === undefined);
  const proto = members.find(({ name }) => name === "__proto__");
  const plain = members.filter((member) => member !== proto);
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
      : closed || patterns.length > 0
        ? { additionalProperties: false }
        : {}),
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

/** The module that exports the tools' validators under `names`, definitions after the tool that needs them first. */
export function validatorModule(
  tools: readonly (readonly [name: string, validators: ToolValidators])[],
  definitions: Definitions,
): string {
  const helpers = new Set<string>();
  const lines: string[] = [];
  const written = new Set<string>();
  const write = (start: string, { code, helpers: used }: ValidatorCode): void => {
    for (const helper of used) helpers.add(helper);
    lines.push(`// prettier-ignore\n${start}: Validator = ${code};\n`);
  };
  for (const [name, { input, definitions: needed }] of tools) {
    write(`export const ${name}`, input);
    for (const unique of needed) {
      if (!written.has(unique)) write(`const ${unique}`, definitions[unique] as ValidatorCode);
      written.add(unique);
    }
  }
  const imports = helpers.size === 0 ? "" : `import { ${[...helpers].sort().join(", ")} } from "svc-runtime/v1";\n`;
  return `import type { Validator } from "svc-runtime/v1";\n${imports}\n${lines.join("\n")}`;
}
