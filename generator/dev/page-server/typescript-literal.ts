/** JSON values as TypeScript literals of the types that a schema stands for: bigints, dates and bytes as such. */

import { type Json, JsonObject } from "../../json.js";

/** Schemas within schemas that are followed. */
const MAX_DEPTH = 64;

export interface LiteralOptions {
  readonly schema: Json;
  /** Holds the definitions; the schema itself by default. */
  readonly root?: Json;
  /** Whether an integer without a format is a bigint. */
  readonly bigints: boolean;
}

/** Prints a value, in a line that is indented by two spaces. */
export function literalOf(value: Json, { schema, root = schema, bigints }: LiteralOptions): string {
  return new Literals(root, bigints).print(value, schema, "  ", 0);
}

class Literals {
  constructor(
    private readonly root: Json,
    private readonly bigints: boolean,
  ) {}

  print(value: Json, schema: Json, indent: string, depth: number): string {
    const own = depth > MAX_DEPTH ? undefined : schemaFor(value, schema, this.root, depth);
    const inner = `${indent}  `;
    const print = (each: Json, by: Json | undefined) => this.print(each, by ?? null, inner, depth + 1);
    if (typeof value === "string") return textLiteral(value, own);
    if (typeof value === "number" || typeof value === "bigint") {
      const format = own?.get("format");
      const isBare = format === undefined && [own?.get("type") ?? []].flat().includes("integer");
      const isBigint =
        typeof value === "bigint" || format === "int64" || format === "uint64" || (isBare && this.bigints);
      return `${value}${isBigint && Number.isInteger(Number(value)) ? "n" : ""}`;
    }
    if (value === null || typeof value !== "object") return String(value);
    if (!(value instanceof JsonObject)) {
      if (value.length === 0) return "[]";
      const places = own?.get("prefixItems");
      const items = value.map((each, i) =>
        print(each, (Array.isArray(places) ? places[i] : undefined) ?? own?.get("items")),
      );
      return items.join(", ").length < 60
        ? `[${items.join(", ")}]`
        : `[\n${inner}${items.join(`,\n${inner}`)},\n${indent}]`;
    }
    const properties = own?.get("properties");
    const required = own?.get("required");
    const members = [...value.members].flatMap(([name, each]) => {
      const by = properties instanceof JsonObject ? properties.get(name) : own?.get("additionalProperties");
      const isOptional =
        properties instanceof JsonObject && by !== undefined && !(Array.isArray(required) && required.includes(name));
      // An absent optional member is null on the wire, and undefined in the types.
      return each === null && isOptional ? [] : [`${memberName(name)}: ${print(each, by)}`];
    });
    if (members.length === 0) return "{}";
    const line = `{ ${members.join(", ")} }`;
    return line.length < 80 && !line.includes("\n") ? line : `{\n${inner}${members.join(`,\n${inner}`)},\n${indent}}`;
  }
}

function memberName(name: string): string {
  return name !== "__proto__" && /^[A-Za-z_$][\w$]*$/.test(name) ? name : `[${JSON.stringify(name)}]`;
}

function textLiteral(value: string, schema: JsonObject | undefined): string {
  const text = JSON.stringify(value).replace(/[\u2028\u2029]/g, (each) => `\\u${each.charCodeAt(0).toString(16)}`);
  if (schema?.get("format") === "date-time") return `new Date(${text})`;
  return schema?.get("contentEncoding") === "base64" ? `Uint8Array.from(Buffer.from(${text}, "base64"))` : text;
}

/** The schema of a value behind references; of a union the first branch of the value's kind. */
function schemaFor(value: Json, schema: Json, root: Json, depth: number): JsonObject | undefined {
  if (!(schema instanceof JsonObject) || depth > MAX_DEPTH) return undefined;
  const reference = schema.get("$ref");
  if (typeof reference === "string") {
    const definitions = root instanceof JsonObject ? root.get("$defs") : undefined;
    const target = definitions instanceof JsonObject ? definitions.get(reference.replace("#/$defs/", "")) : undefined;
    return schemaFor(value, target ?? null, root, depth + 1);
  }
  const branches = schema.get("anyOf");
  if (!Array.isArray(branches)) return schema;
  const found = branches.map((branch) => schemaFor(value, branch as Json, root, depth + 1));
  return found.find((branch) => branch !== undefined && fits(value, branch));
}

function fits(value: Json, schema: JsonObject): boolean {
  const types = [schema.get("type") ?? []].flat();
  const kind = kindOf(value);
  if (types.length > 0 && !types.includes(kind) && !(kind === "integer" && types.includes("number"))) return false;
  if (schema.get("const") !== undefined && schema.get("const") !== value) return false;
  if (!(value instanceof JsonObject)) return true;
  const required = schema.get("required");
  const properties = schema.get("properties");
  const names = Array.isArray(required) ? (required as Json[]) : [];
  if (names.some((name) => value.get(String(name)) === undefined)) return false;
  // The members that tell the branches of a union apart are constants.
  return ![...value.members].some(([name, member]) => {
    const by = properties instanceof JsonObject ? properties.get(name) : undefined;
    return by instanceof JsonObject && by.get("const") !== undefined && by.get("const") !== member;
  });
}

function kindOf(value: Json): string {
  if (value === null) return "null";
  if (value instanceof JsonObject) return "object";
  if (Array.isArray(value)) return "array";
  if (typeof value === "bigint") return "integer";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
