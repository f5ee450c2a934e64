/**
 * Schemas -> ports, as every party derives them (protocol.md section 2), and the limits of section 1. The generator
 * runs it over the schemas that it is about to write, so that what a leader will read is what the contract says.
 */

import { type Code, type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { isMany } from "../emit/codecs.js";
import { type Json, JsonObject } from "../json.js";
import { type Member, resolve, type Tool } from "../model.js";

export interface DerivedPort {
  readonly name: string;
  readonly many: boolean;
}

export interface DerivedPorts {
  readonly inputPorts: readonly DerivedPort[];
  readonly outputVariants: readonly { readonly name: string; readonly ports: readonly DerivedPort[] }[];
}

export const LIMITS = {
  inputPorts: 32,
  variants: 8,
  variantPorts: 16,
  nameBytes: 128,
  values: 256,
  schemaBytes: 65_536,
} as const;

/** A schema that the network would refuse. */
export class PortRefusal extends Error {
  override readonly name = "PortRefusal";
}

/** The ports of a tool from its two schemas; throws a {@link PortRefusal}. */
export function derivePorts(input: Json, output: Json): DerivedPorts {
  const inputPorts = propertiesOf(follow(input, input), "input schema").map(([name, schema]) =>
    portOf(name, schema, input),
  );
  if (inputPorts.length > LIMITS.inputPorts) throw new PortRefusal(`more than ${LIMITS.inputPorts} input ports`);
  const root = follow(output, output);
  const variants = root instanceof JsonObject ? root.get("oneOf") : undefined;
  if (!Array.isArray(variants)) throw new PortRefusal("the output schema has no top-level oneOf");
  const outputVariants = variants.map((variant: Json) => variantOf(variant, output));
  if (outputVariants.length < 1 || outputVariants.length > LIMITS.variants) {
    throw new PortRefusal(`not 1 to ${LIMITS.variants} output variants`);
  }
  const names = new Set(outputVariants.map(({ name }) => name));
  if (names.size < outputVariants.length) throw new PortRefusal("two output variants have one name");
  const derived = { inputPorts, outputVariants };
  if (schemaSize(derived) > LIMITS.schemaBytes) throw new PortRefusal("the port schema is too large");
  return derived;
}

function variantOf(schema: Json, document: Json): DerivedPorts["outputVariants"][number] {
  const variant = follow(schema, document);
  const fail = (): never => {
    throw new PortRefusal("an output variant is neither one tagged object nor one text");
  };
  if (!(variant instanceof JsonObject)) return fail();
  const choices = variant.get("enum");
  const text =
    variant.get("const") ?? (Array.isArray(choices) && choices.length === 1 ? (choices[0] as Json) : undefined);
  if (typeof text === "string") return { name: variantName(text), ports: [] };
  const properties = variant.get("properties");
  if (!(properties instanceof JsonObject)) return fail();
  const [entry, ...more] = properties.members;
  if (entry === undefined || more.length > 0)
    throw new PortRefusal("an output variant does not have exactly one property");
  const payload = follow(entry[1], document);
  const inner = payload instanceof JsonObject ? payload.get("properties") : undefined;
  const ports =
    inner instanceof JsonObject ? [...inner.members].map(([name, port]) => portOf(name, port, document)) : [];
  if (ports.length > LIMITS.variantPorts)
    throw new PortRefusal(`more than ${LIMITS.variantPorts} ports in one variant`);
  return { name: variantName(entry[0]), ports };
}

function variantName(name: string): string {
  if (name === "_err_eval") throw new PortRefusal("_err_eval is reserved");
  return checkedName(name);
}

function portOf(name: string, schema: Json, document: Json): DerivedPort {
  const port = follow(schema, document);
  return { name: checkedName(name), many: port instanceof JsonObject && port.get("type") === "array" };
}

function checkedName(name: string): string {
  if (!isName(name)) throw new PortRefusal(`a name is not 1 to ${LIMITS.nameBytes} ASCII bytes`);
  return name;
}

function isName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are legal names
  return name.length >= 1 && name.length <= LIMITS.nameBytes && /^[\u0000-\u007f]*$/.test(name);
}

function propertiesOf(schema: Json, what: string): [string, Json][] {
  const properties = schema instanceof JsonObject ? schema.get("properties") : undefined;
  if (!(properties instanceof JsonObject)) throw new PortRefusal(`the ${what} has no properties`);
  return [...properties.members];
}

/** Exactly one hop of `$ref`: a JSON pointer within the document, siblings ignored. */
function follow(schema: Json, document: Json): Json {
  const ref = schema instanceof JsonObject ? schema.get("$ref") : undefined;
  if (ref === undefined) return schema;
  if (typeof ref !== "string" || !ref.startsWith("#")) throw new PortRefusal("a $ref does not point into the document");
  let pointer: string;
  try {
    pointer = decodeURIComponent(ref.slice(1));
  } catch {
    throw new PortRefusal("a $ref is not a JSON pointer");
  }
  if (pointer !== "" && !pointer.startsWith("/")) throw new PortRefusal("a $ref is not a JSON pointer");
  let at: Json | undefined = document;
  for (const step of pointer.split("/").slice(1)) {
    const name = step.replace(/~1/g, "/").replace(/~0/g, "~");
    if (at instanceof JsonObject) at = at.get(name);
    else at = Array.isArray(at) && /^(?:0|[1-9]\d*)$/.test(name) ? (at[Number(name)] as Json | undefined) : undefined;
    if (at === undefined) throw new PortRefusal("a $ref points at nothing");
  }
  return at;
}

/** Bytes of the BCS form of the port schema. */
export function schemaSize({ inputPorts, outputVariants }: DerivedPorts): number {
  const list = <T>(items: readonly T[], size: (item: T) => number) =>
    uleb(items.length) + items.reduce((sum, item) => sum + size(item), 0);
  const text = (name: string) => uleb(Buffer.byteLength(name)) + Buffer.byteLength(name);
  const port = ({ name }: DerivedPort) => text(name) + 2;
  return list(inputPorts, port) + list(outputVariants, ({ name, ports }) => text(name) + list(ports, port));
}

function uleb(length: number): number {
  return length < 128 ? 1 : length < 16_384 ? 2 : 3;
}

/** What the network would refuse about a tool's ports, and what its author should know about them. */
export function checkPorts(tool: Tool): Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = (code: Code, where: Pick<Member, "place" | "subject">, detail?: string) => {
    found.push(diagnostic(code, { place: where.place, subject: where.subject }, detail));
  };
  const inputs = tool.input.members;
  const extra = inputs[LIMITS.inputPorts];
  if (extra !== undefined) report("SVC151", extra, `this is number ${LIMITS.inputPorts + 1} of ${inputs.length}`);
  const variant = tool.output[LIMITS.variants];
  if (variant !== undefined)
    report("SVC166", variant, `this is number ${LIMITS.variants + 1} of ${tool.output.length}`);
  for (const { name, payload, ...where } of tool.output) {
    if (!isName(name)) report("SVC152", where, whyNoName(name));
    const over = payload.members[LIMITS.variantPorts];
    if (over !== undefined)
      report("SVC167", over, `this is number ${LIMITS.variantPorts + 1} of ${payload.members.length}`);
  }
  for (const member of [...inputs, ...tool.output.flatMap(({ payload }) => payload.members)]) {
    if (!isName(member.name)) report("SVC152", member, whyNoName(member.name));
    if (isMany(member, tool.definitions)) report(isFillable(member, tool) ? "SVC155" : "SVC157", member);
    else if (member.held === undefined && mayBeList(member, tool)) report("SVC156", member);
  }
  return found;
}

function whyNoName(name: string): string {
  const length = Buffer.byteLength(name);
  return length === name.length ? `it has ${length} bytes` : "it has a character beyond ASCII";
}

/** Whether a `many` port takes any number of values that it can carry. */
function isFillable({ shape, doc }: Member, tool: Tool): boolean {
  const list = resolve(shape, tool.definitions);
  const keywords = new Map([...(list.doc?.keywords ?? []), ...(shape.doc?.keywords ?? []), ...(doc?.keywords ?? [])]);
  const isTuple = list.kind === "tuple";
  const least = isTuple ? list.items.length - list.optional + list.tail.length : 0;
  const most = isTuple && list.rest === undefined ? list.items.length : LIMITS.values;
  return (
    Math.max(least, Number(keywords.get("minItems") ?? 0)) <= LIMITS.values &&
    Math.min(most, Number(keywords.get("maxItems") ?? most)) >= 1
  );
}

function mayBeList({ shape }: Member, tool: Tool): boolean {
  const settled = resolve(shape, tool.definitions);
  const isList = (kind: string) => kind === "array" || kind === "tuple" || kind === "json";
  if (settled.kind === "union")
    return settled.branches.some((branch) => isList(resolve(branch, tool.definitions).kind));
  return isList(settled.kind);
}
