/** Derives the ports of a tool from its schemas (protocol.md section 2). */

import { Buffer } from "#platform/bytes";
import type { MetaSchema, PortShape, VariantShape } from "../bcs/bcs-shapes.js";
import { type Json, JsonObject, readOrdered } from "../json/ordered-json.js";
import { MAX_INPUT_PORTS, MAX_NAME_BYTES, MAX_VARIANT_PORTS, MAX_VARIANTS } from "../protocol.js";
import type { Variant } from "./contract.js";

/** Reserved failure variant that every tool has without declaring it. */
export const FAILURE_VARIANT = "_err_eval";
export const FAILURE_PORT = "reason";
export const FAILURE: Variant = {
  name: FAILURE_VARIANT,
  ports: [{ name: FAILURE_PORT, many: false, codec: { kind: "string" } }],
};

/** A schema that the network rejects at registration. */
export class PortError extends Error {
  override readonly name = "PortError";
}

/**
 * Derives the ports from schema texts. The textual order of members is the order of the ports.
 *
 * @throws PortError if the network would reject the schemas, JsonError if they are not JSON
 */
export function derivePorts(inputSchema: string, outputSchema: string): MetaSchema {
  return {
    inputPorts: inputPorts(readOrdered(Buffer.from(inputSchema))),
    outputVariants: variants(readOrdered(Buffer.from(outputSchema))),
  };
}

function inputPorts(document: Json): PortShape[] {
  const properties = member(oneHop(document, document, "input schema"), "properties");
  if (!(properties instanceof JsonObject)) throw new PortError("input schema: expected an object with `properties`");
  if (properties.members.size > MAX_INPUT_PORTS) {
    throw new PortError(`input schema: at most ${MAX_INPUT_PORTS} ports, got ${properties.members.size}`);
  }
  return ports(document, properties, "input port");
}

function ports(document: Json, properties: JsonObject, what: string): PortShape[] {
  return [...properties.members].map(([name, schema]) => {
    requireName(name, what);
    return { name, many: member(oneHop(document, schema, what), "type") === "array" };
  });
}

function variants(document: Json): VariantShape[] {
  const oneOf = member(oneHop(document, document, "output schema"), "oneOf");
  if (!Array.isArray(oneOf)) throw new PortError("output schema: expected a top-level `oneOf` array");
  if (oneOf.length < 1 || oneOf.length > MAX_VARIANTS) {
    throw new PortError(`output schema: expected 1 to ${MAX_VARIANTS} variants, got ${oneOf.length}`);
  }
  const seen = new Set<string>();
  return oneOf.map((item) => {
    const variant = variantOf(document, oneHop(document, item, "output variant"));
    requireName(variant.name, "output variant");
    if (variant.name === FAILURE_VARIANT) throw new PortError(`output variant: ${FAILURE_VARIANT} is reserved`);
    if (seen.has(variant.name)) throw new PortError("output variant: the name is declared twice");
    seen.add(variant.name);
    return variant;
  });
}

function variantOf(document: Json, schema: Json): VariantShape {
  const properties = member(schema, "properties");
  if (properties instanceof JsonObject) {
    const [only, ...others] = properties.members;
    if (only === undefined || others.length > 0) {
      throw new PortError(`output variant: expected exactly one property, got ${properties.members.size}`);
    }
    const [name, payloadSchema] = only;
    const payload = member(oneHop(document, payloadSchema, "output payload"), "properties");
    if (!(payload instanceof JsonObject)) return { name, ports: [] };
    if (payload.members.size > MAX_VARIANT_PORTS) {
      throw new PortError(`output variant: at most ${MAX_VARIANT_PORTS} ports, got ${payload.members.size}`);
    }
    return { name, ports: ports(document, payload, "output port") };
  }
  const constant = member(schema, "const");
  if (typeof constant === "string") return { name: constant, ports: [] };
  const values = member(schema, "enum");
  if (Array.isArray(values) && values.length === 1 && typeof values[0] === "string") {
    return { name: values[0], ports: [] };
  }
  throw new PortError("output variant: expected an object schema with one property, or one string constant");
}

/** @throws {@link PortError} unless the name has 1 to 128 ASCII bytes */
function requireName(name: string, what: string): void {
  if (!isPortName(name)) throw new PortError(`${what}: expected a name of 1 to ${MAX_NAME_BYTES} ASCII bytes`);
}

export function isPortName(name: string): boolean {
  if (name.length < 1 || name.length > MAX_NAME_BYTES) return false;
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) > 0x7f) return false;
  return true;
}

function member(schema: Json, name: string): Json | undefined {
  return schema instanceof JsonObject ? schema.members.get(name) : undefined;
}

/** Resolves a `$ref`, one level only. Ignores other members of the referring schema. */
function oneHop(document: Json, schema: Json, what: string): Json {
  const reference = member(schema, "$ref");
  if (reference === undefined) return schema;
  if (typeof reference !== "string" || !reference.startsWith("#")) {
    throw new PortError(`${what}: expected a $ref within the document`);
  }
  let pointer: string;
  try {
    pointer = decodeURIComponent(reference.slice(1));
  } catch {
    throw new PortError(`${what}: the $ref is not percent-encoded UTF-8`);
  }
  let target: Json | undefined = document;
  const steps = pointer === "" ? [] : pointer.split("/");
  if (steps.length > 0 && steps.shift() !== "") throw new PortError(`${what}: expected a JSON pointer in the $ref`);
  for (const step of steps) {
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(target)) target = /^(0|[1-9]\d*)$/.test(name) ? target[Number(name)] : undefined;
    else target = target === undefined ? undefined : member(target, name);
  }
  if (target === undefined) throw new PortError(`${what}: the $ref names nothing in the document`);
  return target;
}
