/**
 * Compatibility of two contracts, port by port. The leader signs the set, order and kinds of the ports, so these must
 * not change. A port's type may change if the new tool accepts every value that an old caller sends, and returns only
 * results that an old caller expects.
 */

import { derivePorts, MAX_VALUES, PortError, truncated } from "svc-runtime/internal/generator";
import { ANNOTATIONS } from "../compile/keywords.js";
import { isStackOverflow, type Json, JsonObject, object, printJson } from "../text/json.js";
import { type ExcludedValue, findExcluded } from "./inclusion/inclusion.js";
import { type Node, type SchemaDocument, SchemaNodes, type SchemaPlace, TooLarge } from "./inclusion/schema-node.js";
import { type JudgedMetadata, readMetadata, UnreadableMetadata } from "./metadata.js";
import {
  dereferenced,
  listAt,
  namedSchemas,
  pointerStep,
  referenceOf,
  referencePointer,
  resolveReference,
} from "./schema-reader.js";

export interface Difference {
  /** The FQN without the version, which is in `before` and `after`. */
  readonly tool: string;
  readonly before?: string;
  readonly after?: string;
  readonly verdict: "same" | Level;
  readonly changes: readonly Change[];
}

/** `not decided`: neither a proof nor a counterexample was found; treated as breaking. */
type Level = "compatible" | "additive" | "not decided" | "breaking";

/** Difference of the tool, of `input NAME`, `variant TAG` or `variant TAG port NAME`. */
interface Change {
  readonly kind: Level;
  readonly port?: string;
  /** Position in the old metadata document, or in the new one if the old one lacks it. */
  readonly pointer?: string;
  /** Schemas at the pointer as JSON, without documentation. */
  readonly old?: string;
  readonly new?: string;
  /** Consequence for callers. */
  readonly change: string;
}

/** Text of a `meta.json`, and its name for messages. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/**
 * Compares two `meta.json` files, tool by tool.
 *
 * @throws UnreadableMetadata
 */
export function diffDocuments(oldText: NamedText, newText: NamedText): Difference[] {
  const before = toolsOf(oldText);
  const after = toolsOf(newText);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.map((tool) => {
    const old = before.get(tool);
    const next = after.get(tool);
    if (old === undefined) return { tool, after: toolVersion(next), verdict: "additive", changes: [NEW] };
    if (next === undefined) return { tool, before: toolVersion(old), verdict: "breaking", changes: [GONE] };
    const sides = [sideOf(old, oldText.name), sideOf(next, newText.name)] as const;
    return { tool, before: toolVersion(old), after: toolVersion(next), ...compare(...sides) };
  });
}

const NEW: Change = { kind: "additive", change: "the tool was added" };
/** Change of the address, which depends on the deployment. */
export const URL_CHANGED = "url changed";
export const PATH_CHANGED = "the path of url changed: callers of the old path get 404";
const GONE: Change = { kind: "breaking", change: "the tool was removed" };

/** Whether a tool was removed, or has a breaking or undecided change without a new version. */
export function isBroken(differences: readonly Difference[]): boolean {
  return differences.some(
    ({ verdict, before, after }) =>
      (verdict === "breaking" || verdict === "not decided") && (after === undefined || before === after),
  );
}

/**
 * Formats differences as text: one line per tool, followed by its changes.
 *
 * @param advice text appended to the line of a tool
 */
export function formatDifferences(
  differences: readonly Difference[],
  advice: (difference: Difference) => string = () => "",
): string {
  const lines = differences.flatMap((difference) => {
    const { tool, before, after, verdict, changes } = difference;
    const version = before === after || after === undefined ? `@${before}` : `@${before ?? "-"} -> @${after}`;
    const listed = changes.map((change) => `  ${change.kind}: ${changeLine(change)}`);
    return [`${tool}${version}: ${verdict}${advice(difference)}`, ...listed];
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** A change in one line: its port and {@link changeText}. */
export function changeLine({ port, ...change }: Omit<Change, "kind">): string {
  return `${port === undefined ? "" : `${port}: `}${changeText(change)}`;
}

/** Maximum number of characters of a schema that are printed. */
const MAX_SHOWN = 60;

/** A change without its port: its position, the old and new schema, and the consequence. */
export function changeText({ pointer, old, new: next, change }: Omit<Change, "kind" | "port">): string {
  const short = (text: string) => truncated(text, MAX_SHOWN);
  const schemas = old === undefined || next === undefined ? "" : `${short(old)} -> ${short(next)}: `;
  return `${pointer === undefined ? "" : `${pointer}: `}${schemas}${change}`;
}

/** The differences as data, one entry per change. */
export function listDifferences(differences: readonly Difference[]): object[] {
  return differences.flatMap(({ tool, before, after, changes }) =>
    changes.map((change) => ({
      tool,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
      ...change,
    })),
  );
}

/** The tools of a document by name, without versions. */
function toolsOf({ name, text }: NamedText): Map<string, JudgedMetadata> {
  return new Map(readMetadata(Buffer.from(text), name).map((tool) => [tool.fqn.split("@")[0] ?? "", tool]));
}

function toolVersion(tool: JudgedMetadata | undefined): string {
  return tool?.fqn.split("@")[1] ?? "";
}

function sideOf(tool: JudgedMetadata, name: string): Side {
  try {
    return { ...tool, ports: derivePorts(printJson(tool.input), printJson(tool.output)) };
  } catch (error) {
    if (error instanceof PortError) throw new UnreadableMetadata(`${tool.fqn} in ${name}: ${error.message}`);
    throw error;
  }
}

function compare(before: Side, after: Side): Pick<Difference, "verdict" | "changes"> {
  const found: Change[] = [];
  let nodes = new SchemaNodes();
  const compareType = (side: "input" | "output", port: string, typesOf: () => Types) => {
    try {
      compareTypes(side, port, typesOf(), found);
    } catch (error) {
      if (!isStackOverflow(error)) throw error;
      const change = "the type is nested too deeply to compare: reduce its nesting";
      if (textOf(before[side]) !== textOf(after[side])) found.push({ kind: "not decided", port, change });
      // The interrupted comparison may have left an unfinished node.
      nodes = new SchemaNodes();
    }
  };
  const portsOf = ({ input }: Side) => portNodes(() => nodes, inputRoot(input));
  const [inputs, nextInputs] = [portsOf(before), portsOf(after)];
  comparePorts("input", before.ports.inputPorts, after.ports.inputPorts, found);
  for (const { name, many } of before.ports.inputPorts) {
    const same = after.ports.inputPorts.find((port) => port.name === name);
    if (same?.many !== many) continue;
    compareType("input", `input ${name}`, () => [inputs(name, many), nextInputs(name, many)]);
  }
  for (const variant of before.ports.outputVariants) {
    const at = `variant ${variant.name}`;
    const other = after.ports.outputVariants.find(({ name }) => name === variant.name);
    if (other === undefined) {
      found.push({ kind: "breaking", port: at, change: "removed" });
      continue;
    }
    comparePorts(`${at} port`, variant.ports, other.ports, found);
    const payloadOf = ({ output }: Side) => portNodes(() => nodes, payload(output, variant.name));
    const [payloads, nextPayloads] = [payloadOf(before), payloadOf(after)];
    for (const { name, many } of variant.ports) {
      if (other.ports.find((port) => port.name === name)?.many !== many) continue;
      compareType("output", `${at} port ${name}`, () => [payloads(name, many), nextPayloads(name, many)]);
    }
  }
  for (const { name } of after.ports.outputVariants) {
    const known = before.ports.outputVariants.some((variant) => variant.name === name);
    if (!known) found.push({ kind: "breaking", port: `variant ${name}`, change: "added: callers do not know it" });
  }
  const isMoved = urlPath(before.document) !== urlPath(after.document);
  for (const key of ["description", "timeout", "url"]) {
    if (textOf(before.document.get(key)) === textOf(after.document.get(key))) continue;
    if (key !== "url") found.push({ kind: "compatible", change: `${key} changed` });
    else if (isMoved) found.push({ kind: "breaking", change: PATH_CHANGED });
    else found.push({ kind: "compatible", change: URL_CHANGED });
  }
  const worst = (["breaking", "not decided", "additive", "compatible"] as const).find((level) =>
    found.some(({ kind }) => kind === level),
  );
  return { verdict: worst ?? "same", changes: found };
}

function urlPath(document: JsonObject): string {
  const url = String(document.get("url"));
  return URL.canParse(url, "http://host") ? new URL(url, "http://host").pathname : url;
}

interface Side extends JudgedMetadata {
  readonly ports: ReturnType<typeof derivePorts>;
}

type PortList = ReturnType<typeof derivePorts>["inputPorts"];

function comparePorts(where: string, before: PortList, after: PortList, found: Change[]): void {
  const report = (name: string, change: string) => found.push({ kind: "breaking", port: `${where} ${name}`, change });
  for (const { name, many } of before) {
    const other = after.find((port) => port.name === name);
    if (other === undefined) report(name, "removed");
    else if (other.many !== many)
      report(name, other.many ? "changed from one value to a list (many)" : "changed from a list (many) to one value");
  }
  for (const { name } of after) {
    if (before.some((port) => port.name === name)) continue;
    // The hash of a signed call covers every port in order, so callers without this port fail.
    report(
      name,
      `added: ${where === "input" ? "callers do not send it, even if it is optional; an optional member of an object port (options?: { … }) breaks no caller" : "callers do not expect it"}`,
    );
  }
  const shared = (list: PortList, other: PortList) =>
    list.map(({ name }) => name).filter((name) => other.some((port) => port.name === name));
  const [was, is] = [shared(before, after), shared(after, before)];
  const moved = was.find((name, index) => name !== is[index]);
  if (moved !== undefined) report(moved, "moved: the order of the ports must not change");
}

interface PortType {
  readonly node: Node;
  readonly isRequired: boolean;
  readonly documentation: string;
}

type Types = readonly [PortType, PortType];

function compareTypes(side: "input" | "output", port: string, [old, next]: Types, found: Change[]): void {
  const [sender, taker] = side === "input" ? [old, next] : [next, old];
  const options = { sendsNull: side === "output", exact: false, sendsUndeclared: side === "input" };
  const failures = findExcluded(sender.node, taker.node, options);
  const changes = oneForEachPlace(failures).map((failure) => typeChange(side, port, failure));
  // In a result, an optional port whose type allows null is always present: a missing value is sent as null.
  const mayLack = !sender.isRequired && !(side === "output" && admitsNull(sender.node));
  if (mayLack && taker.isRequired) {
    const change = side === "input" ? "callers may omit it, but it is now required" : "results may omit it";
    changes.push({ kind: "breaking", port, change });
  }
  if (changes.length === 0) {
    const exact = { ...options, exact: true };
    const more = findExcluded(taker.node, sender.node, exact);
    const less = findExcluded(sender.node, taker.node, exact);
    for (const failure of oneForEachPlace(more)) changes.push(wider(side, port, failure));
    for (const failure of oneForEachPlace(less)) changes.push(ignored(side, port, failure));
    if (changes.length === 0 && sender.isRequired && !taker.isRequired && !admitsNull(sender.node))
      changes.push({
        kind: "compatible",
        port,
        change: side === "input" ? "no longer required" : "always present",
      });
    if (changes.length === 0 && old.documentation !== next.documentation)
      changes.push({ kind: "compatible", port, change: "documentation changed" });
  }
  found.push(...changes);
}

/** Maximum number of example values for each position. */
const MAX_EXAMPLES = 3;

/** One failure for each position. A counterexample takes precedence over an undecided comparison. */
function oneForEachPlace(failures: readonly ExcludedValue[]): ExcludedValue[] {
  const places = new Map<string, ExcludedValue[]>();
  for (const failure of failures) {
    const key = `${failure.sent?.pointer} ${failure.taken?.pointer}`;
    places.set(key, [...(places.get(key) ?? []), failure]);
  }
  return [...places.values()].map((all) => {
    const certain = all.filter((each) => each.certain);
    const [first, ...more] = certain.length > 0 ? certain : all;
    const some = [first as ExcludedValue, ...more].slice(0, MAX_EXAMPLES).map(({ what }) => what);
    return { ...(first as ExcludedValue), what: some.join(first?.certain ? " or " : "; ") };
  });
}

function typeChange(side: "input" | "output", port: string, failure: ExcludedValue): Change {
  const { certain, what } = failure;
  const change =
    side === "input"
      ? `callers may send ${what}, which is now refused`
      : `results may contain ${what}, which callers do not expect`;
  const kind = certain ? "breaking" : "not decided";
  return { kind, port, ...placesOf(side, failure.sent, failure.taken), change: certain ? change : what };
}

/** Value that only the receiving side has: newly accepted as input, or no longer returned as output. */
function wider(side: "input" | "output", port: string, { what, certain, sent, taken }: ExcludedValue): Change {
  const example = certain ? `, such as ${what}` : "";
  const change =
    side === "input" ? `accepts more values${example}` : `returns fewer values${certain ? `: no longer ${what}` : ""}`;
  return { kind: "compatible", port, ...placesOf(side, taken, sent), change };
}

/** A member that only the sending side declares. */
function ignored(side: "input" | "output", port: string, { what, certain, sent, taken }: ExcludedValue): Change {
  const [member, verb] = certain ? [what, "is"] : ["a member", "may be"];
  const change = side === "input" ? `${member} ${verb} ignored` : `${member} ${verb} new in results`;
  return { kind: "compatible", port, ...placesOf(side, sent, taken), change };
}

function placesOf(side: "input" | "output", sent: SchemaPlace | undefined, taken: SchemaPlace | undefined) {
  const [old, next] = side === "input" ? [sent, taken] : [taken, sent];
  const pointer = old?.pointer ?? next?.pointer;
  const text = (place: SchemaPlace | undefined) =>
    place === undefined ? "any" : textOf(withoutAnnotations(place.schema));
  return { ...(pointer !== undefined && { pointer }), old: text(old), new: text(next) };
}

function admitsNull(node: Node): boolean {
  try {
    return node.isAny || node.atoms.some((atom) => atom.kind === "literal" && atom.value === null);
  } catch (error) {
    if (error instanceof TooLarge) return false;
    throw error;
  }
}

/** An object schema whose properties are ports. */
interface PortObject extends SchemaPlace {
  readonly document: SchemaDocument;
}

const MANY = object(["type", "array"], ["minItems", 1], ["maxItems", MAX_VALUES]);

/** Types of an object's ports, by name and by `one` or `many`. A list in a `many` port has at least one item. */
function portNodes(current: () => SchemaNodes, object: PortObject): (name: string, many: boolean) => PortType {
  const { document, schema, pointer } = object;
  return (name, many) => {
    const nodes = current();
    const own = namedSchemas(schema, "properties").get(name);
    const node = nodes.node(document, own, `${pointer}/properties/${pointerStep(name)}`);
    const list = many ? nodes.node({ schema: MANY, pointer: "" }, MANY, "") : nodes.any;
    return {
      node: nodes.conjoin(node, list),
      isRequired: listAt(schema, "required").includes(name),
      documentation: documentationOf(own ?? null, document.schema),
    };
  };
}

function inputRoot(input: JsonObject): PortObject {
  const document = { schema: input, pointer: "/input_schema" };
  return target({ ...document, document });
}

function payload(output: JsonObject, tag: string): PortObject {
  const document = { schema: output, pointer: "/output_schema" };
  const root = target({ ...document, document });
  for (const [index, each] of listAt(root.schema, "oneOf").entries()) {
    const variant = target({ document, schema: each, pointer: `${root.pointer}/oneOf/${index}` });
    const schema = namedSchemas(variant.schema, "properties").get(tag);
    const pointer = `${variant.pointer}/properties/${pointerStep(tag)}`;
    if (schema !== undefined) return target({ document, schema, pointer });
  }
  return { document, schema: null, pointer: "" };
}

/** Schema that a reference refers to. Ports follow one reference. */
function target(place: PortObject): PortObject {
  const { document, schema } = place;
  const reference = referenceOf(schema);
  const found = dereferenced(schema, document.schema);
  if (reference === undefined || found === undefined) return place;
  return { document, schema: found, pointer: referencePointer(document.pointer, reference) };
}

/** Documentation keywords of a type, with their paths. Ignores titles and the positions of definitions. */
function documentationOf(schema: Json, root: JsonObject): string {
  const found = new Set<string>();
  const seen = new Set<Json>();
  const visit = (at: Json | undefined, path: string): void => {
    if (Array.isArray(at)) for (const each of at) visit(each as Json, path);
    if (!(at instanceof JsonObject) || seen.has(at)) return;
    seen.add(at);
    for (const [name, value] of at.members) {
      if (name === "$ref" && typeof value === "string") visit(resolveReference(root, value), path);
      else if (["properties", "patternProperties"].includes(name))
        for (const [member, each] of namedSchemas(at, name)) visit(each, `${path}/${pointerStep(member)}`);
      else if (["items", "prefixItems", "additionalProperties"].includes(name)) visit(value, `${path}/*`);
      else if (["anyOf", "oneOf", "allOf"].includes(name)) visit(value, path);
      else if (ANNOTATIONS.includes(name) && name !== "title") found.add(`${path} ${name} ${printJson(value)}`);
    }
  };
  visit(schema, "");
  return [...found].sort().join("\n");
}

function withoutAnnotations(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutAnnotations);
  if (!(schema instanceof JsonObject)) return schema;
  const kept = [...schema.members].filter(
    ([name, value]) => !ANNOTATIONS.includes(name) || value instanceof JsonObject,
  );
  return new JsonObject(new Map(kept.map(([name, value]) => [name, withoutAnnotations(value)])));
}

function textOf(json: Json | undefined): string {
  return json === undefined ? "" : printJson(json);
}
