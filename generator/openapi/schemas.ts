/** Converts schemas of tools to components of an OpenAPI document; each of their `$defs` becomes a component. */

import { FAILURE_VARIANT } from "svc-runtime/internal/generator";
import {
  listAt,
  mapSchemas,
  namedSchemas,
  referenceOf,
  singleMember,
  withKeyword,
  withListBounds,
  withoutKeywords,
  withProperties,
} from "../contract/schema-reader.js";
import { JsonObject, object, ordered, printJson } from "../text/json.js";
import { HINT_NAMES } from "../tools/hints.js";
import { reference } from "./errors.js";

/** Component names of the schemas of one tool. */
export interface ToolSchemas {
  readonly input: string;
  /** The JSON result of an unsigned call: one variant with its ports. */
  readonly result: string;
}

/** The schemas of all tools, by name in `components.schemas`. */
export class SchemaComponents {
  readonly all = new Map<string, JsonObject>();
  /** The text of each schema before its references are rewritten. */
  readonly #texts = new Map<string, string>();

  /**
   * Adds the schemas of one tool.
   *
   * @param prefix unique to the tool
   */
  addTool(prefix: string, inputSchema: JsonObject, outputSchema: JsonObject): ToolSchemas {
    const ports = withListBounds(inputSchema, inputSchema);
    const input = this.#add(`${prefix}.Input`, ports, prefix, inputSchema);
    const result = this.#add(`${prefix}.Result`, resultSchema(outputSchema), prefix, outputSchema);
    // Generators find no names for inline variants, or names that clash. Their references are rewritten already.
    const variants = listAt(this.all.get(result), "oneOf").map((variant) => {
      const [tag] = namedSchemas(variant, "properties").keys();
      if (tag === undefined) return variant;
      const name = `${prefix}.Result.${tag.replace(/[^\w.-]/g, "_")}`;
      return reference("schemas", this.#add(name, variant as JsonObject, prefix, outputSchema));
    });
    this.all.set(result, ordered({ oneOf: variants }));
    return { input, result };
  }

  /** Adds a schema and the definitions that it refers to. Returns its name, which gets a suffix if it is taken. */
  #add(wanted: string, schema: JsonObject, prefix: string, root: JsonObject): string {
    const text = printJson(schema);
    let name = wanted;
    for (let count = 2; this.#texts.has(name) && this.#texts.get(name) !== text; count++) name = `${wanted}_${count}`;
    if (this.#texts.has(name)) return name;
    this.#texts.set(name, text);
    // Reserved before the definitions are added, because a definition may refer back to this schema.
    this.all.set(name, schema);
    const renamed = (definition: string) => {
      const target = namedSchemas(root, "$defs").get(definition) as JsonObject;
      return this.#add(`${prefix}.${definition}`, target, prefix, root);
    };
    this.all.set(name, withReferences(schema, renamed));
    return name;
  }
}

/** The JSON result of an unsigned call: each variant with its ports, and `_err_eval`. */
function resultSchema(outputSchema: JsonObject): JsonObject {
  const variants = listAt(outputSchema, "oneOf").map((variant) =>
    withProperties(variant as JsonObject, (payload) => withListBounds(payload, outputSchema)),
  );
  return ordered({ oneOf: [...variants, reference("schemas", ERR_EVAL)] });
}

const ERR_EVAL = "ErrEval";

/** Schemas that all tools share. */
export const SHARED_SCHEMAS: readonly (readonly [name: string, schema: JsonObject])[] = [
  [
    ERR_EVAL,
    withKeyword(
      singleMember(
        FAILURE_VARIANT,
        ordered({ type: "object", properties: { reason: { type: "string" } }, required: ["reason"] }),
      ),
      "description",
      "The tool ran and reported an error. Every tool may return it.",
    ),
  ],
  [
    "ToolDetails",
    ordered({
      type: "object",
      properties: {
        path: { type: "string" },
        fqn: { type: "string", examples: ["xyz.demo.sum@1"] },
        timeout: { type: "integer", description: "Time limit of a call, in milliseconds." },
        schema_bytes: { type: "integer", description: "Size of both schemas." },
        max_body_bytes: { type: "integer", description: "Size limit of a request." },
        max_input_values: { type: "integer", description: "Maximum number of values in an input." },
        hints: {
          type: "object",
          description: "Hints of the tool. A hint that its class does not give is absent.",
          properties: object(...HINT_NAMES.map((name) => [name, ordered({ type: "boolean" })] as const)),
        },
      },
      required: ["path", "fqn", "timeout", "schema_bytes", "max_body_bytes", "max_input_values"],
    }),
  ],
  [
    "ToolMetadata",
    ordered({
      type: "object",
      properties: {
        fqn: { type: "string", examples: ["xyz.demo.sum@1"] },
        url: { type: "string", description: "Address of the tool, with a trailing slash." },
        timeout: { type: "integer", description: "Time limit of a call, in milliseconds." },
        description: { type: "string" },
        input_schema: { type: "object", description: "JSON Schema 2020-12 of the input." },
        output_schema: { type: "object", description: "JSON Schema 2020-12 of the output." },
      },
      required: ["fqn", "url", "timeout", "description", "input_schema", "output_schema"],
    }),
  ],
];

/** Removes `$schema` and `$defs` from a schema and renames its references. */
function withReferences(schema: JsonObject, renamed: (definition: string) => string): JsonObject {
  // Some generators refuse `items: false`; `maxItems` also limits a tuple to its items.
  const tuple = schema.get("prefixItems") !== undefined && schema.get("items") === false ? ["items"] : [];
  const changed = mapSchemas(withoutKeywords(schema, ["$schema", "$defs", ...tuple]), (each) =>
    each instanceof JsonObject ? withReferences(each, renamed) : each,
  );
  const definition = /^#\/\$defs\/(\w+)$/.exec(referenceOf(schema) ?? "")?.[1];
  if (definition === undefined) return changed;
  return withKeyword(changed, "$ref", `#/components/schemas/${renamed(definition)}`);
}
