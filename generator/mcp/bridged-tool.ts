/** A tool as an MCP client sees it: its name, its schemas and its values. */

import { FAILURE_VARIANT, MAX_VALUES, readExact, type ToolHints } from "svc-runtime/internal/generator";
import type { CallResult, LeaderClient } from "svc-runtime/leader";
import { CONSTRAINTS } from "../compile/keywords.js";
import { DEFINITIONS, nestingOf, resolveReference, secretPorts } from "../contract/schema-reader.js";
import { runWithin } from "../process/run-within.js";
import { readJson } from "../text/json.js";
import { digitSchema, ExactIntegers, isPlain, judgeOf, mapEntries, type Plain } from "./exact-integers.js";

/** Thrown if the tool or its result cannot be represented in MCP. */
export class UnfitTool extends Error {}

/** Maximum length of a name that all known clients accept. */
const MAX_NAME = 64;
/** Maximum size of a tool's schemas, in bytes; clients pass them to a model. */
const MAX_SCHEMA_BYTES = 1024 * 1024;
/** Time limit of one conversion, in milliseconds: a hostile schema can take exponential time. */
const CONVERT_MS = 2_000;

/** Converts `xyz.demo.sum@1` to `xyz_demo_sum_v1`, because some clients reject dots. */
function mcpName(fqn: string): string {
  return fqn.replaceAll(".", "_").replace("@", "_v");
}

export class BridgedTool {
  readonly fqn: string;
  readonly name: string;
  readonly inputSchema: Plain;
  readonly outputSchema: Plain;
  hints: ToolHints = {};
  /** Ports hidden from clients, and whether each is required. */
  readonly secrets: ReadonlyMap<string, boolean>;
  readonly #input: ExactIntegers;
  readonly #outputs: ReadonlyMap<string, ExactIntegers>;
  /** Returns the reason why a result does not match the output schema. */
  readonly #nonconformity: (content: unknown) => string | undefined;
  readonly #metadata: LeaderClient["metadata"];

  /**
   * @param url address of the tool
   * @throws UnfitTool; OutOfTime; ajv's errors for an invalid schema
   */
  constructor(
    readonly client: LeaderClient,
    readonly url: string,
  ) {
    this.#metadata = client.metadata;
    const { fqn, inputSchema, outputSchema } = client.metadata;
    this.fqn = fqn;
    this.name = mcpName(fqn);
    if (this.name.length > MAX_NAME) {
      throw new UnfitTool(
        `${fqn}: its MCP name ${this.name} has ${this.name.length} characters; at most ${MAX_NAME} are allowed`,
      );
    }
    if (inputSchema.length + outputSchema.length > MAX_SCHEMA_BYTES) {
      throw new UnfitTool(`${fqn}: its schemas are larger than ${MAX_SCHEMA_BYTES} bytes`);
    }
    const root = readSchema(inputSchema);
    const input = withListBounds(rootOf(root, fqn), root);
    const output = readSchema(outputSchema);
    this.secrets = secretPorts(readJson(inputSchema));
    this.inputSchema = withoutPorts({ ...(digitSchema(input) as Plain), type: "object" }, this.secrets);
    this.#input = new ExactIntegers(input, digitSchema(input, true));
    const variants = variantsOf(output, fqn);
    this.#outputs = new Map(variants.map(([tag, schema]) => [tag, new ExactIntegers(schema, schema)]));
    this.outputSchema = {
      type: "object",
      oneOf: [...variants.map(([, schema]) => withoutDefinitions(digitSchema(schema) as Plain)), FAILURE_SCHEMA],
      ...(digitSchema(definitionsOf(output)) as Plain),
    };
    this.#nonconformity = runWithin(CONVERT_MS, () => judgeOf(this.outputSchema));
  }

  /** Whether the client has read another contract since this object was created. */
  get isOutdated(): boolean {
    const now = this.client.metadata;
    return (["fqn", "inputSchema", "outputSchema"] as const).some((name) => now[name] !== this.#metadata[name]);
  }

  /**
   * Converts arguments to an input.
   *
   * @throws RoundedInteger; OutOfTime
   */
  inputOf(args: Plain): Plain {
    return runWithin(CONVERT_MS, () => this.#input.inward(args)) as Plain;
  }

  /**
   * Converts a result to structured content.
   *
   * @throws UnfitTool if the result does not match the published schema; OutOfTime
   */
  structured({ tag, ports, value }: CallResult): Plain {
    const stored = ports.find(({ values }) => values.some(({ kind }) => kind !== "inline"));
    if (stored !== undefined) {
      throw new UnfitTool(`${tag}.${stored.name}: the value is in external storage, which this bridge does not read`);
    }
    const plain = { [tag]: value };
    return runWithin(CONVERT_MS, () => {
      const content = (this.#outputs.get(tag) ?? PLAIN).outward(plain) as Plain;
      const fault = this.#nonconformity(content);
      if (fault === undefined) return content;
      throw new UnfitTool(`the result does not match the schema in the tool's metadata: ${fault}`);
    });
  }
}

/** Converts values for which there is no contract. */
const PLAIN = new ExactIntegers({}, {});

/**
 * Keywords of a server's schema that are compiled and shown to clients, with those that contain schemas. Others could
 * change the meaning of a compiled schema: `$async`, for example, makes ajv return promises.
 */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...["$ref", "type", "enum", "const", "required", "dependentRequired", "minProperties", "maxProperties"],
  ...["title", "description", "default", "deprecated", "examples", "readOnly", "writeOnly"],
  ...["contentEncoding", "contentMediaType", "minContains", "maxContains"],
  ...Object.keys(CONSTRAINTS),
]);

function readSchema(text: string): Plain {
  const schema = readExact(Buffer.from(text));
  return isPlain(schema) ? (knownPart(schema) as Plain) : {};
}

function knownPart(schema: unknown): unknown {
  if (!isPlain(schema)) return schema;
  const known = Object.entries(schema).flatMap(([name, value]): [string, unknown][] => {
    const nesting = nestingOf(name, value);
    if (nesting === "one") return [[name, knownPart(value)]];
    if (nesting === "list") return [[name, (value as readonly unknown[]).map(knownPart)]];
    if (nesting === "named") return isPlain(value) ? [[name, mapEntries(value, knownPart)]] : [];
    return KEYWORDS.has(name) ? [[name, value]] : [];
  });
  return Object.fromEntries(known);
}

/**
 * Input schema with its ports at the root, because clients drop a tool whose root has `$ref`, `oneOf` or similar
 * keywords.
 */
function rootOf(root: Plain, fqn: string): Plain {
  if (isPlain(root.properties) || root.$ref === undefined) return root;
  const at = referenced(root, root.$ref);
  if (at === undefined) throw new UnfitTool(`${fqn}: its input schema has a reference that leads out of the schema`);
  const { $ref: __, ...others } = root;
  return { ...others, ...at };
}

/** Adds the limits of `many` ports to a schema of ports. Schemas in metadata do not contain them. */
function withListBounds<Ports>(ports: Ports, root: Plain): Ports {
  if (!isPlain(ports) || !isPlain(ports.properties)) return ports;
  const bounded = mapEntries(ports.properties, (port) => {
    const list = isPlain(port) ? (referenced(root, port.$ref) ?? port) : {};
    if (list.type !== "array" || !isPlain(port)) return port;
    const { minItems, maxItems } = list;
    const least = typeof minItems === "number" && minItems > 1 ? minItems : 1;
    return {
      ...port,
      minItems: least,
      maxItems: typeof maxItems === "number" ? Math.min(maxItems, MAX_VALUES) : MAX_VALUES,
    };
  });
  return { ...ports, properties: bounded };
}

function withoutPorts(schema: Plain, ports: ReadonlyMap<string, unknown>): Plain {
  const { properties, required } = schema;
  if (ports.size === 0 || !isPlain(properties)) return schema;
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !ports.has(name))),
    ...(Array.isArray(required) && { required: required.filter((name) => !ports.has(name)) }),
  };
}

function referenced(document: Plain, reference: unknown): Plain | undefined {
  const found = typeof reference === "string" ? resolveReference(document, reference) : undefined;
  return isPlain(found) ? found : undefined;
}

/** Variants of an output schema, each with the definitions that it uses. */
function variantsOf(schema: Plain, fqn: string): (readonly [tag: string, schema: Plain])[] {
  const shared = definitionsOf(schema);
  const branches = [schema.oneOf ?? schema.anyOf ?? schema].flat();
  return branches.flatMap((each): (readonly [string, Plain])[] => {
    const branch = isPlain(each) ? (referenced(schema, each.$ref) ?? each) : {};
    const { const: only, enum: names = only === undefined ? [] : [only], properties } = branch;
    const empty = (Array.isArray(names) ? names : []).map(
      (tag) => [String(tag), variantSchema(String(tag), EMPTY)] as const,
    );
    const [tag, ...others] = isPlain(properties) ? Object.keys(properties) : [];
    if (empty.length === 0 && (tag === undefined || others.length > 0)) {
      throw new UnfitTool(`${fqn}: its output has a variant without a name`);
    }
    if (tag === undefined) return empty;
    return [[tag, { ...variantSchema(tag, withListBounds((properties as Plain)[tag], schema)), ...shared }]];
  });
}

function variantSchema(tag: string, ports: unknown): Plain {
  return { type: "object", properties: { [tag]: ports }, required: [tag], additionalProperties: false };
}

const EMPTY: Plain = { type: "object", properties: {} };

function definitionsOf(schema: Plain): Plain {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => DEFINITIONS.includes(name)));
}

function withoutDefinitions({ $defs: _, definitions: __, ...schema }: Plain): Plain {
  return schema;
}

const FAILURE_SCHEMA = variantSchema(FAILURE_VARIANT, {
  type: "object",
  properties: { reason: {} },
  required: ["reason"],
});
