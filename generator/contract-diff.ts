/**
 * The compatibility of two contracts, port by port. Removing or retyping a port is breaking; a change that no caller
 * must follow is additive or compatible.
 */

import { derivePorts, JsonError, PortError } from "svc-runtime/generator";
import { type Json, JsonObject, printJson, readJson } from "./json.js";
import { ANNOTATIONS } from "./keywords.js";

/** A text is no `meta.json`. The message names the file. */
export class InvalidDocument extends Error {}

export interface Difference {
  /** The FQN without the version, which is in `before` and `after`. */
  readonly tool: string;
  readonly before?: string;
  readonly after?: string;
  readonly verdict: "same" | Level;
  readonly changes: readonly Change[];
}

type Level = "compatible" | "additive" | "breaking";

/** One difference of the whole tool, of `input NAME`, of `variant TAG` or of `variant TAG port NAME`. */
interface Change {
  readonly kind: Level;
  readonly port?: string;
  readonly change: string;
}

/** The text of a `meta.json` and its name in messages. */
export interface NamedText {
  readonly name: string;
  readonly text: string;
}

/**
 * Compares two `meta.json` tool by tool.
 *
 * @throws InvalidDocument when one is not a meta.json
 */
export function diffDocuments(oldText: NamedText, newText: NamedText): Difference[] {
  const before = toolsOf(oldText);
  const after = toolsOf(newText);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.map((tool) => {
    const old = before.get(tool);
    const next = after.get(tool);
    if (old === undefined) return { tool, after: versionOf(next), verdict: "additive", changes: [NEW] };
    if (next === undefined) return { tool, before: versionOf(old), verdict: "breaking", changes: [GONE] };
    const sides = [sideOf(old, oldText.name), sideOf(next, newText.name)] as const;
    return { tool, before: versionOf(old), after: versionOf(next), ...compare(...sides) };
  });
}

const NEW: Change = { kind: "additive", change: "the tool is new" };
const GONE: Change = { kind: "breaking", change: "the tool is gone" };

/** Whether a contract has a breaking change under an unchanged version, or is gone. */
export function isBroken(differences: readonly Difference[]): boolean {
  return differences.some(
    ({ verdict, before, after }) => verdict === "breaking" && (after === undefined || before === after),
  );
}

/**
 * Prints differences as text: one line a tool, its changes below it.
 *
 * @param advice goes to the end of a tool's line
 */
export function formatDifferences(
  differences: readonly Difference[],
  advice: (difference: Difference) => string = () => "",
): string {
  const lines = differences.flatMap((difference) => {
    const { tool, before, after, verdict, changes } = difference;
    const version = before === after || after === undefined ? `@${before}` : `@${before ?? "-"} -> @${after}`;
    return [`${tool}${version}: ${verdict}${advice(difference)}`, ...changes.map(formatChange)];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function formatChange({ kind, port, change }: Change): string {
  return `  ${kind}: ${port === undefined ? "" : `${port}: `}${change}`;
}

/** The differences as data, with one entry a change. */
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

function toolsOf({ name, text }: NamedText): Map<string, JsonObject> {
  const all = orInvalidDocument(name, () => readJson(text));
  return new Map((Array.isArray(all) ? all : [all]).map((each) => [fqnOf(each, name).split("@")[0] ?? "", each]));
}

function fqnOf(document: Json, name: string): string {
  const fqn = document instanceof JsonObject ? document.get("fqn") : undefined;
  if (typeof fqn !== "string") throw new InvalidDocument(`${name} is no meta.json: a tool has no fqn`);
  return fqn;
}

function versionOf(document: JsonObject | undefined): string {
  return String(document?.get("fqn")).split("@")[1] ?? "";
}

/** Reports errors of {@link readJson} and {@link derivePorts} as faults of the named file. */
function orInvalidDocument<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof JsonError || error instanceof PortError) {
      throw new InvalidDocument(`${name} is no meta.json: ${error.message}`);
    }
    throw error;
  }
}

function sideOf(document: JsonObject, name: string): Side {
  const input = document.get("input_schema") ?? null;
  const output = document.get("output_schema") ?? null;
  return {
    document,
    input,
    output,
    ports: orInvalidDocument(name, () => derivePorts(printJson(input), printJson(output))),
  };
}

function compare(before: Side, after: Side): Pick<Difference, "verdict" | "changes"> {
  const found: Change[] = [];
  comparePorts("input", before.ports.inputPorts, after.ports.inputPorts, found);
  for (const { name, many } of before.ports.inputPorts) {
    const same = after.ports.inputPorts.find((port) => port.name === name);
    if (same?.many === many)
      compareSchemas(`input ${name}`, member(before.input, name), member(after.input, name), found);
  }
  for (const variant of before.ports.outputVariants) {
    const at = `variant ${variant.name}`;
    const other = after.ports.outputVariants.find(({ name }) => name === variant.name);
    if (other === undefined) {
      found.push({ kind: "breaking", port: at, change: "it is gone" });
      continue;
    }
    comparePorts(`${at} port`, variant.ports, other.ports, found);
    const payloads = [payload(before.output, variant.name), payload(after.output, variant.name)] as const;
    for (const { name, many } of variant.ports) {
      if (other.ports.find((port) => port.name === name)?.many !== many) continue;
      compareSchemas(`${at} port ${name}`, member(payloads[0], name), member(payloads[1], name), found);
    }
  }
  for (const { name } of after.ports.outputVariants) {
    const known = before.ports.outputVariants.some((variant) => variant.name === name);
    if (!known) found.push({ kind: "breaking", port: `variant ${name}`, change: "it is new: callers do not know it" });
  }
  for (const key of ["description", "timeout", "url"]) {
    if (textOf(before.document.get(key)) !== textOf(after.document.get(key)))
      found.push({ kind: "compatible", change: `${key} changed` });
  }
  const worst = (["breaking", "additive", "compatible"] as const).find((level) =>
    found.some(({ kind }) => kind === level),
  );
  return { verdict: worst ?? "same", changes: found };
}

interface Side {
  readonly document: JsonObject;
  readonly ports: ReturnType<typeof derivePorts>;
  readonly input: Json;
  readonly output: Json;
}

type PortList = ReturnType<typeof derivePorts>["inputPorts"];

function comparePorts(where: string, before: PortList, after: PortList, found: Change[]): void {
  const report = (name: string, change: string) => found.push({ kind: "breaking", port: `${where} ${name}`, change });
  for (const { name, many } of before) {
    const other = after.find((port) => port.name === name);
    if (other === undefined) report(name, "it is gone");
    else if (other.many !== many) report(name, `it is ${other.many ? "many" : "one"} now`);
  }
  for (const { name } of after) {
    if (before.some((port) => port.name === name)) continue;
    // A signed call has every port and hashes it in its place, so an old caller that lacks this one fails.
    report(name, `it is new: ${where === "input" ? "callers do not send it" : "the port schema differs"}`);
  }
  const shared = (list: PortList, other: PortList) =>
    list.map(({ name }) => name).filter((name) => other.some((port) => port.name === name));
  const [was, is] = [shared(before, after), shared(after, before)];
  const moved = was.find((name, index) => name !== is[index]);
  if (moved !== undefined) report(moved, "it moved: the order of the ports changed");
}

function compareSchemas(port: string, before: Json | undefined, after: Json | undefined, found: Change[]): void {
  if (textOf(before) === textOf(after)) return;
  const bare = [before, after].map((schema) => textOf(schema === undefined ? undefined : withoutAnnotations(schema)));
  if (bare[0] === bare[1]) found.push({ kind: "compatible", port, change: "its documentation changed" });
  else found.push({ kind: "breaking", port, change: "its type changed" });
}

function withoutAnnotations(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutAnnotations);
  if (!(schema instanceof JsonObject)) return schema;
  const kept = [...schema.members].filter(
    ([name, value]) => !ANNOTATIONS.includes(name) || value instanceof JsonObject,
  );
  return new JsonObject(new Map(kept.map(([name, value]) => [name, withoutAnnotations(value)])));
}

function member(schema: Json, name: string): Json | undefined {
  const properties = schema instanceof JsonObject ? schema.get("properties") : undefined;
  return properties instanceof JsonObject ? properties.get(name) : undefined;
}

function payload(output: Json, tag: string): Json {
  const variants = output instanceof JsonObject ? output.get("oneOf") : undefined;
  for (const variant of Array.isArray(variants) ? (variants as Json[]) : []) {
    const found = member(variant, tag);
    if (found !== undefined) return found;
  }
  return null;
}

function textOf(json: Json | undefined): string {
  return json === undefined ? "" : printJson(json);
}
