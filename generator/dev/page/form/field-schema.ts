/** Form fields from the schemas that svc-gen generates, a subset of JSON Schema 2020-12. */

import type { Hidden } from "../../page-server/page-api.js";
import { isList, NUMBER, Num, parseValue, sameValue, type Value, type ValueStep, valueAt } from "./exact-json.js";

export type Schema = ReadonlyMap<string, Value>;

interface Facts {
  readonly nullable: boolean;
  readonly description: string;
  readonly deprecated: boolean;
  readonly secret: boolean;
  readonly examples: readonly Value[];
  readonly initial: Value | undefined;
  /** The type and then the constraints, as text. */
  readonly rules: string;
}

export type FieldShape =
  | { readonly kind: "text" | "date" | "bytes" | "null" }
  /** Edited as JSON text. `others` is the schema of the members of an object with an index signature. */
  | { readonly kind: "json"; readonly others: Schema | undefined }
  | {
      readonly kind: "number";
      readonly integer: boolean;
      readonly min: bigint | undefined;
      readonly max: bigint | undefined;
    }
  | { readonly kind: "choice"; readonly values: readonly Value[] }
  | {
      readonly kind: "list";
      readonly item: Schema;
      readonly places: readonly Schema[];
      readonly min: number;
      readonly max: number;
    }
  | { readonly kind: "object"; readonly members: readonly FieldMember[]; readonly others: Schema | undefined }
  | { readonly kind: "union"; readonly branches: readonly Schema[] };

export type Field = Facts & FieldShape;

export interface FieldMember {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

export const HIDDEN: Hidden = "••••••••";
const NOTHING: Schema = new Map();
const MAX_HOPS = 64;
/** Maximum nesting of a field's initial value. */
const MAX_LEVELS = 8;

export function asSchema(value: Value | undefined): Schema {
  return value instanceof Map ? value : NOTHING;
}

function listOf(value: Value | undefined): readonly Value[] {
  return isList(value) ? value : [];
}

function textOf(value: Value | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: Value | undefined): number | undefined {
  return value instanceof Num ? Number(value.text) : undefined;
}

/** Name of the definition that a schema refers to. */
export function definitionName(schema: Schema): string | undefined {
  return /^#\/\$defs\/(.+)$/.exec(textOf(schema.get("$ref")) ?? "")?.[1];
}

export class Fields {
  readonly root: Schema;

  constructor(text: string) {
    this.root = asSchema(parseValue(text));
  }

  /** The field of the whole input; its members are the ports. */
  get input(): Field {
    return this.field(this.root);
  }

  field(given: Schema): Field {
    let schema = given;
    const facts: Schema[] = [];
    for (let hops = 0; hops < MAX_HOPS; hops++) {
      facts.push(schema);
      const name = definitionName(schema);
      if (name === undefined) break;
      schema = asSchema(asSchema(this.root.get("$defs")).get(name));
    }
    const types = [schema.get("type") ?? []].flat().filter((type) => typeof type === "string");
    const first = (name: string) => facts.map((each) => each.get(name)).find((value) => value !== undefined);
    const branches = listOf(schema.get("anyOf")).map(asSchema);
    const isNull = (branch: Schema) => branch.get("type") === "null" && branch.size === 1;
    const common: Facts = {
      nullable: types.includes("null") || branches.some(isNull) || listOf(schema.get("enum")).includes(null),
      description: textOf(first("description")) ?? "",
      deprecated: first("deprecated") === true,
      secret: first("writeOnly") === true,
      examples: listOf(first("examples")),
      initial: first("default"),
      rules: rulesOf(schema),
    };
    const values = schema.has("const") ? [schema.get("const") as Value] : listOf(schema.get("enum"));
    if (values.length > 0) return { ...common, kind: "choice", values: values.filter((value) => value !== null) };
    const others = branches.filter((branch) => !isNull(branch));
    if (others.length > 0) return { ...common, kind: "union", branches: others };
    const named = types.filter((type) => type !== "null");
    if (named.length > 1) {
      const rest = [...schema].filter(([name]) => name !== "type");
      return {
        ...common,
        kind: "union",
        branches: named.map((type) => new Map<string, Value>([["type", type], ...rest])),
      };
    }
    return { ...common, ...shapeOf(schema, named[0] ?? (types.length > 0 ? "null" : undefined)) };
  }

  /**
   * A small initial value.
   *
   * @param least minimum number of items, if the value is a list: 1 for ports, which may be `many` ports
   * @param level nesting of the value: 0 for the whole input, 1 for a port
   */
  empty(schema: Schema, least = 0, level = 0): Value {
    const field = this.field(schema);
    const given = field.initial ?? field.examples[0];
    if (given !== undefined) return given;
    if (level > MAX_LEVELS) return null;
    switch (field.kind) {
      case "text":
      case "bytes":
        return "";
      case "date":
        return new Date().toISOString();
      case "number":
        return new Num(field.min !== undefined && field.min > 0n ? String(field.min) : "0");
      case "choice":
        return field.values[0] ?? null;
      case "union":
        return this.empty(field.branches[0] ?? NOTHING, 0, level + 1);
      case "list": {
        const count = Math.max(field.min, least);
        return Array.from({ length: count }, (_, i) => this.empty(field.places[i] ?? field.item, 0, level + 1));
      }
      case "object": {
        const required = field.members.filter((member) => member.required);
        return new Map(
          required.map(({ name, schema: own }) => [name, this.empty(own, level === 0 ? 1 : 0, level + 1)]),
        );
      }
      case "json":
        return field.others === undefined ? null : new Map();
      case "null":
        return null;
    }
  }

  /** Whether a form for the schema can edit a value. Constraints are not checked. */
  fits(value: Value, schema: Schema, level = 0): boolean {
    const field = this.field(schema);
    const isUnknown = field.kind === "json" && field.others === undefined;
    if (value === null) return field.nullable || field.kind === "null" || isUnknown;
    if (level > MAX_LEVELS * 4) return true;
    switch (field.kind) {
      case "text":
      case "date":
      case "bytes":
        return typeof value === "string";
      case "number":
        return value instanceof Num;
      case "choice":
        return field.values.some((each) => sameValue(each, value));
      case "union":
        return field.branches.some((branch) => this.fits(value, branch, level + 1));
      case "list":
        return isList(value) && value.every((item, i) => this.fits(item, field.places[i] ?? field.item, level + 1));
      case "object":
        return (
          value instanceof Map &&
          field.members.every(({ name, schema: own, required }) => {
            const member: Value | undefined = value.get(name);
            return member === undefined
              ? !required
              : (member === null && !required) || this.fits(member, own, level + 1);
          })
        );
      case "json": {
        const { others } = field;
        if (others === undefined) return true;
        return value instanceof Map && [...value.values()].every((member) => this.fits(member, others, level + 1));
      }
      case "null":
        return false;
    }
  }

  /** A copy of an input with `change` applied to its secrets. */
  mapSecrets(
    value: Value,
    change: (secret: string, path: readonly ValueStep[]) => string,
    schema = this.root,
    path: readonly ValueStep[] = [],
  ): Value {
    const field = this.field(schema);
    const inner = (each: Value, own: Schema, step: ValueStep) => this.mapSecrets(each, change, own, [...path, step]);
    if (typeof value === "string") {
      const own =
        field.kind === "union" ? this.field(field.branches[this.branchOf(value, field.branches)] as Schema) : field;
      return field.secret || own.secret ? change(value, path) : value;
    }
    if (field.kind === "union" && (isList(value) || value instanceof Map)) {
      return this.mapSecrets(value, change, field.branches[this.branchOf(value, field.branches)], path);
    }
    if (field.kind === "list" && isList(value)) {
      return value.map((item, i) => inner(item, field.places[i] ?? field.item, i));
    }
    if ((field.kind !== "object" && field.kind !== "json") || !(value instanceof Map)) return value;
    const own = field.kind === "object" ? field.members : [];
    const schemas = new Map(own.map((member) => [member.name, member.schema]));
    const members = [...(value as ReadonlyMap<string, Value>)].map(([name, each]): [string, Value] => {
      return [name, inner(each, schemas.get(name) ?? field.others ?? NOTHING, name)];
    });
    return new Map(members);
  }

  /** A copy of an input, or of a part of it, with its secrets hidden. */
  hidden(value: Value, schema = this.root): Value {
    return this.mapSecrets(value, (secret) => (secret === "" ? "" : HIDDEN), schema);
  }

  /** A copy of an input, or of a part of it, whose hidden secrets are restored from `before`. */
  revealed(value: Value, before: Value | undefined, schema = this.root): Value {
    const reveal = (secret: string, path: readonly ValueStep[]) => {
      if (secret !== HIDDEN) return secret;
      const known = valueAt(before, path);
      return typeof known === "string" ? known : "";
    };
    return this.mapSecrets(value, reveal, schema);
  }

  secretsOf(value: Value): string[] {
    const found: string[] = [];
    this.mapSecrets(value, (secret) => {
      if (secret !== "") found.push(secret);
      return secret;
    });
    return found;
  }

  /** Index of the union branch that a value belongs to; 0 if it fits none. */
  branchOf(value: Value, branches: readonly Schema[]): number {
    return Math.max(
      0,
      branches.findIndex((branch) => this.fits(value, branch)),
    );
  }

  /**
   * Adapts a value to a changed schema: keeps parts that still fit, adds new required members, removes unknown members.
   */
  reconcile(value: Value | undefined, schema: Schema, level = 0): Value {
    const field = this.field(schema);
    if (value === undefined || level > MAX_LEVELS * 4) return this.empty(schema, level === 1 ? 1 : 0, level);
    if (field.kind === "object" && value instanceof Map) {
      const old: ReadonlyMap<string, Value> = value;
      const own = field.members.flatMap(({ name, schema: member, required }): [string, Value][] => {
        const before = old.get(name);
        return before === undefined && !required ? [] : [[name, this.reconcile(before, member, level + 1)]];
      });
      const known = new Set(field.members.map(({ name }) => name));
      const others = field.others === undefined ? [] : [...old].filter(([name]) => !known.has(name));
      return new Map([...own, ...others]);
    }
    if (field.kind === "list" && isList(value)) {
      return value.map((item, i) => this.reconcile(item, field.places[i] ?? field.item, level + 1));
    }
    return this.fits(value, schema) ? value : this.empty(schema, level === 1 ? 1 : 0, level);
  }
}

function shapeOf(schema: Schema, type: Value | undefined): FieldShape {
  switch (type) {
    case "object": {
      const required = listOf(schema.get("required"));
      const members = [...asSchema(schema.get("properties"))].map(([name, member]) => {
        return { name, schema: asSchema(member), required: required.includes(name) };
      });
      const patterns = [...asSchema(schema.get("patternProperties")).values()];
      const rest = schema.get("additionalProperties");
      const others = rest instanceof Map ? rest : patterns.length > 0 ? asSchema(patterns[0]) : undefined;
      const isOpen = others !== undefined || (rest !== false && !schema.has("properties"));
      if (members.length === 0 && isOpen) return { kind: "json", others };
      return { kind: "object", members, others };
    }
    case "array": {
      const places = listOf(schema.get("prefixItems")).map(asSchema);
      const max = numberOf(schema.get("maxItems")) ?? Number.POSITIVE_INFINITY;
      if (!schema.has("items") && places.length === 0) return { kind: "json", others: undefined };
      return {
        kind: "list",
        item: asSchema(schema.get("items")),
        places,
        min: numberOf(schema.get("minItems")) ?? 0,
        max,
      };
    }
    case "string": {
      if (schema.get("contentEncoding") === "base64") return { kind: "bytes" };
      return { kind: schema.get("format") === "date-time" ? "date" : "text" };
    }
    case "integer":
    case "number":
      return { kind: "number", integer: type === "integer", ...bounds(schema) };
    case "boolean":
      return { kind: "choice", values: [false, true] };
    case "null":
      return { kind: "null" };
    default:
      return { kind: "json", others: undefined };
  }
}

function bounds(schema: Schema): { readonly min: bigint | undefined; readonly max: bigint | undefined } {
  const whole = (name: string) => {
    const value = schema.get(name);
    return value instanceof Num && /^-?\d+$/.test(value.text) ? BigInt(value.text) : undefined;
  };
  const format = schema.get("format");
  const least = format === "uint64" ? 0n : format === "int64" ? -(2n ** 63n) : undefined;
  const most = format === "uint64" ? 2n ** 64n - 1n : format === "int64" ? 2n ** 63n - 1n : undefined;
  return { min: whole("minimum") ?? least, max: whole("maximum") ?? most };
}

const RULES: Readonly<Record<string, string>> = {
  minimum: "≥",
  maximum: "≤",
  exclusiveMinimum: ">",
  exclusiveMaximum: "<",
  multipleOf: "multiple of",
  minLength: "length ≥",
  maxLength: "length ≤",
  pattern: "pattern",
  minItems: "items ≥",
  maxItems: "items ≤",
};

function rulesOf(schema: Schema): string {
  const type = [schema.get("type") ?? []]
    .flat()
    .filter((each) => each !== "null")
    .join(" or ");
  const format = textOf(schema.get("format"));
  const rules = Object.entries(RULES).flatMap(([name, words]) => {
    const value = schema.get(name);
    return value instanceof Num ? [`${words} ${value.text}`] : typeof value === "string" ? [`${words} ${value}`] : [];
  });
  const bytes = schema.get("contentEncoding") === "base64" ? "bytes" : undefined;
  return [bytes ?? type, format, ...rules, schema.get("uniqueItems") === true ? "unique items" : undefined]
    .filter((part) => part !== undefined && part !== "")
    .join(" · ");
}

/** Error in the text of a number; undefined if there is none. The server checks the number again. */
export function numberProblem(
  text: string,
  { integer, min, max }: Extract<FieldShape, { kind: "number" }>,
): string | undefined {
  if (!NUMBER.test(text)) return integer ? "not an integer" : "not a number";
  if (!integer) return undefined;
  if (!/^-?\d+$/.test(text)) return "not an integer: use digits only";
  const value = BigInt(text);
  if (min !== undefined && value < min) return `less than ${min}`;
  return max !== undefined && value > max ? `more than ${max}` : undefined;
}

export function choiceText(value: Value): string {
  return value instanceof Num ? value.text : typeof value === "string" ? value : JSON.stringify(value);
}

/** Display name of a branch of a union: the constants of its members, its definition, or its type. */
export function branchName(fields: Fields, schema: Schema, i: number): string {
  const field = fields.field(schema);
  if (field.kind === "choice") return field.values.map(choiceText).join(" | ");
  if (field.kind !== "object") return field.rules.split(" · ")[0] || field.kind;
  const own = field.members.map((member) => ({ ...member, field: fields.field(member.schema) }));
  const constants = own.flatMap(({ field: each }) =>
    each.kind === "choice" && each.values.length === 1 ? each.values : [],
  );
  if (constants.length > 0) return constants.map(choiceText).join(", ");
  const names = own.map(({ name }) => name);
  return (
    definitionName(schema) ??
    (names.length === 0 ? `${i + 1}` : `{ ${names.slice(0, 4).join(", ")}${names.length > 4 ? ", …" : ""} }`)
  );
}
