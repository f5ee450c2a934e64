/** A tool as an MCP client sees it: its name, its schemas and its values. */

import { FAILURE_VARIANT, readExact, type ToolHints } from "svc-runtime/internal/generator";
import type { CallResult, LeaderClient } from "svc-runtime/leader";
import { CONSTRAINTS } from "../compile/keywords.js";
import {
  DEFINITIONS,
  dereferenced,
  namedSchemas,
  nestingOf,
  secretPorts,
  singleMember,
  valuesOf,
  withListBounds,
  withoutKeywords,
} from "../contract/schema-reader.js";
import { runWithin } from "../process/run-within.js";
import { type Json, JsonObject, object, ordered, printJson, readJson } from "../text/json.js";
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
    const given = readSchema(inputSchema);
    this.secrets = secretPorts(given);
    const root = rootOf(given, fqn);
    const input = plainOf(withListBounds(root, root));
    this.inputSchema = withoutPorts({ ...(digitSchema(input) as Plain), type: "object" }, this.secrets);
    this.#input = new ExactIntegers(input, digitSchema(input, true));
    const output = readSchema(outputSchema);
    const definitions = new JsonObject(new Map([...output.members].filter(([name]) => DEFINITIONS.includes(name))));
    const variants = variantsOf(output, fqn).map(([tag, schema]) => ({
      tag,
      shown: digitSchema(plainOf(schema)),
      whole: plainOf(new JsonObject(new Map([...schema.members, ...definitions.members]))),
    }));
    this.#outputs = new Map(variants.map(({ tag, whole }) => [tag, new ExactIntegers(whole, whole)]));
    this.outputSchema = {
      type: "object",
      oneOf: [...variants.map(({ shown }) => shown), FAILURE_SCHEMA],
      ...(digitSchema(plainOf(definitions)) as Plain),
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

function readSchema(text: string): JsonObject {
  const schema = readJson(text);
  return schema instanceof JsonObject ? schema : object();
}

function plainOf(schema: JsonObject): Plain {
  return knownPart(readExact(Buffer.from(printJson(schema)))) as Plain;
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
function rootOf(root: JsonObject, fqn: string): JsonObject {
  const at = root.get("properties") instanceof JsonObject ? root : dereferenced(root, root);
  if (at === root) return root;
  if (at instanceof JsonObject)
    return new JsonObject(new Map([...withoutKeywords(root, ["$ref"]).members, ...at.members]));
  throw new UnfitTool(`${fqn}: its input schema has a reference that leads out of the schema`);
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

/** Variants of an output schema, without the definitions that they use. */
function variantsOf(schema: JsonObject, fqn: string): (readonly [tag: string, schema: JsonObject])[] {
  const branches = [schema.get("oneOf") ?? schema.get("anyOf") ?? schema].flat() as readonly Json[];
  return branches.flatMap((each): (readonly [string, JsonObject])[] => {
    const found = dereferenced(each, schema);
    const branch = found instanceof JsonObject ? found : object();
    const empty = (valuesOf(branch) ?? []).map((tag) => [String(tag), singleMember(String(tag), EMPTY)] as const);
    const [variant, ...others] = namedSchemas(branch, "properties");
    if (empty.length === 0 && (variant === undefined || others.length > 0)) {
      throw new UnfitTool(`${fqn}: its output has a variant without a name`);
    }
    if (variant === undefined) return empty;
    const [tag, ports] = variant;
    const bounded = ports instanceof JsonObject ? withListBounds(ports, schema) : ports;
    return [[tag, singleMember(tag, bounded)]];
  });
}

const EMPTY = ordered({ type: "object", properties: {} });

const FAILURE_SCHEMA = {
  type: "object",
  properties: { [FAILURE_VARIANT]: { type: "object", properties: { reason: {} }, required: ["reason"] } },
  required: [FAILURE_VARIANT],
  additionalProperties: false,
};
