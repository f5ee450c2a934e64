/** Small values that fit a schema of svc-gen, for examples and for the first call of a tool. */

import { type Json, JsonObject } from "../json.js";

/**
 * A small value that fits a schema; examples and defaults first. A `pattern` is not looked at.
 *
 * @param root the schema whose `$defs` the references name
 * @param open the references that lead here: a list of what it is within is empty
 */
export function sampleOf(
  schema: Json | undefined,
  root: Json | undefined = schema,
  open: readonly string[] = [],
): Json {
  if (!(schema instanceof JsonObject)) return null;
  const sample = (inner: Json | undefined) => sampleOf(inner, root, open);
  for (const name of ["examples", "enum", "anyOf", "oneOf", "type"]) {
    const list = schema.get(name);
    if (!Array.isArray(list)) continue;
    if (name === "type")
      return sample(new JsonObject(new Map([...schema.members, ["type", (list as Json[])[0] ?? null]])));
    return name === "examples" || name === "enum" ? ((list as Json[])[0] ?? null) : sample((list as Json[])[0]);
  }
  const fixed = schema.get("default") ?? schema.get("const");
  if (fixed !== undefined) return fixed;
  const reference = schema.get("$ref");
  if (typeof reference === "string") {
    return open.includes(reference) ? null : sampleOf(referenced(reference, root), root, [...open, reference]);
  }
  switch (schema.get("type")) {
    case "object":
      return sampleObject(schema, sample);
    case "array":
      return sampleList(schema, sample, open);
    case "string":
      return (
        SAMPLE_TEXTS[String(schema.get("format"))] ?? (schema.get("contentEncoding") === "base64" ? "AA==" : "text")
      );
    case "integer":
    case "number":
      return schema.get("minimum") ?? 1;
    case "boolean":
      return true;
    default:
      return null;
  }
}

const SAMPLE_TEXTS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  uri: "https://example.org/",
  email: "a@example.org",
  uuid: "00000000-0000-4000-8000-000000000000",
  ipv4: "192.0.2.1",
};

function sampleObject(schema: JsonObject, sample: (schema: Json | undefined) => Json): JsonObject {
  const properties = schema.get("properties");
  const required = schema.get("required");
  const wanted = Array.isArray(required) ? (required as Json[]) : [];
  const members = properties instanceof JsonObject ? [...properties.members] : [];
  return new JsonObject(
    new Map(members.filter(([name]) => wanted.includes(name)).map(([name, each]) => [name, sample(each)])),
  );
}

/** The places of a tuple, or else one item. */
function sampleList(schema: JsonObject, sample: (schema: Json | undefined) => Json, open: readonly string[]): Json[] {
  const places = schema.get("prefixItems");
  if (Array.isArray(places)) return (places as Json[]).map(sample);
  const items = schema.get("items");
  const reference = items instanceof JsonObject ? items.get("$ref") : undefined;
  return typeof reference === "string" && open.includes(reference) ? [] : [sample(items)];
}

function referenced(reference: string, root: Json | undefined): Json | undefined {
  const [, name] = /^#\/\$defs\/(.+)$/.exec(reference) ?? [];
  const all = root instanceof JsonObject && name !== undefined ? root.get("$defs") : undefined;
  return all instanceof JsonObject ? all.get(name as string) : undefined;
}
