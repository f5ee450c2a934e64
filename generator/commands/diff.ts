/**
 * `svc-gen diff`: is a contract still the one that callers know? Port by port: removing or retyping is breaking, adding
 * something that no caller has to send or understand is additive.
 */

import { type Json, JsonObject, printJson, readJson } from "../json.js";
import { derivePorts } from "../ports.js";

export interface Difference {
  /** Without the version, which is `before` and `after`. */
  readonly tool: string;
  readonly before?: string;
  readonly after?: string;
  readonly verdict: "same" | "compatible" | "additive" | "breaking";
  readonly changes: readonly string[];
}

/** Compares two `meta.json` texts tool by tool. */
export function diffDocuments(oldText: string, newText: string): Difference[] {
  const before = toolsOf(oldText);
  const after = toolsOf(newText);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.map((tool) => {
    const old = before.get(tool);
    const next = after.get(tool);
    if (old === undefined) return { tool, after: versionOf(next), verdict: "additive", changes: ["the tool is new"] };
    if (next === undefined) return { tool, before: versionOf(old), verdict: "breaking", changes: ["the tool is gone"] };
    return { tool, before: versionOf(old), after: versionOf(next), ...compare(old, next) };
  });
}

/** Whether a contract changed for the worse under an unchanged version. */
export function isBroken(differences: readonly Difference[]): boolean {
  return differences.some(
    ({ verdict, before, after }) => verdict === "breaking" && (after === undefined || before === after),
  );
}

/** For people: one line a tool, its changes below it. */
export function formatDifferences(differences: readonly Difference[]): string {
  const lines = differences.flatMap(({ tool, before, after, verdict, changes }) => {
    const version = before === after || after === undefined ? `@${before}` : `@${before ?? "-"} -> @${after}`;
    return [`${tool}${version}: ${verdict}`, ...changes.map((change) => `  ${change}`)];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function toolsOf(text: string): Map<string, JsonObject> {
  const all = readJson(text);
  const documents = (Array.isArray(all) ? all : [all]).filter((each) => each instanceof JsonObject);
  return new Map(documents.map((each) => [String(each.get("fqn")).split("@")[0] ?? "", each]));
}

function versionOf(document: JsonObject | undefined): string {
  return String(document?.get("fqn")).split("@")[1] ?? "";
}

type Level = "compatible" | "additive" | "breaking";

function compare(old: JsonObject, next: JsonObject): Pick<Difference, "verdict" | "changes"> {
  const found: [Level, string][] = [];
  const [before, after] = [old, next].map((document) => ({
    ports: derivePorts(textOf(document.get("input_schema")), textOf(document.get("output_schema"))),
    input: document.get("input_schema") ?? null,
    output: document.get("output_schema") ?? null,
  })) as [Side, Side];
  comparePorts("input", before.ports.inputPorts, after.ports.inputPorts, true, found);
  for (const { name, many } of before.ports.inputPorts) {
    const same = after.ports.inputPorts.find((port) => port.name === name);
    if (same?.many === many)
      compareSchemas(`input ${name}`, member(before.input, name), member(after.input, name), found);
  }
  for (const variant of before.ports.outputVariants) {
    const other = after.ports.outputVariants.find(({ name }) => name === variant.name);
    if (other === undefined) {
      found.push(["breaking", `variant ${variant.name} is gone`]);
      continue;
    }
    comparePorts(`variant ${variant.name}`, variant.ports, other.ports, false, found);
    const payloads = [payload(before.output, variant.name), payload(after.output, variant.name)] as const;
    for (const { name, many } of variant.ports) {
      if (other.ports.find((port) => port.name === name)?.many !== many) continue;
      compareSchemas(
        `variant ${variant.name} port ${name}`,
        member(payloads[0], name),
        member(payloads[1], name),
        found,
      );
    }
  }
  for (const { name } of after.ports.outputVariants) {
    const known = before.ports.outputVariants.some((variant) => variant.name === name);
    if (!known) found.push(["breaking", `variant ${name} is new: callers do not know it`]);
  }
  for (const key of ["description", "timeout", "url"]) {
    if (textOf(old.get(key)) !== textOf(next.get(key))) found.push(["compatible", `${key} changed`]);
  }
  const worst = (["breaking", "additive", "compatible"] as const).find((level) =>
    found.some(([each]) => each === level),
  );
  return { verdict: worst ?? "same", changes: found.map(([level, text]) => `${level}: ${text}`) };
}

interface Side {
  readonly ports: ReturnType<typeof derivePorts>;
  readonly input: Json;
  readonly output: Json;
}

type PortList = ReturnType<typeof derivePorts>["inputPorts"];

function comparePorts(
  what: string,
  before: PortList,
  after: PortList,
  isInput: boolean,
  found: [Level, string][],
): void {
  for (const { name, many } of before) {
    const other = after.find((port) => port.name === name);
    if (other === undefined) found.push(["breaking", `${what} port ${name} is gone`]);
    else if (other.many !== many)
      found.push(["breaking", `${what} port ${name} is ${other.many ? "many" : "one"} now`]);
  }
  for (const { name } of after) {
    if (before.some((port) => port.name === name)) continue;
    // Every port is present in a signed call and hashed in its place: a new one breaks whoever does not send it.
    found.push([
      "breaking",
      `${what} port ${name} is new${isInput ? ": callers do not send it" : ": the port schema differs"}`,
    ]);
  }
  const shared = (list: PortList, other: PortList) =>
    list
      .map(({ name }) => name)
      .filter((name) => other.some((port) => port.name === name))
      .join();
  if (shared(before, after) !== shared(after, before))
    found.push(["breaking", `the order of the ${what} ports changed`]);
}

const TEXTS = new Set(["description", "title", "examples", "default", "deprecated"]);

function compareSchemas(
  what: string,
  before: Json | undefined,
  after: Json | undefined,
  found: [Level, string][],
): void {
  if (textOf(before) === textOf(after)) return;
  const bare = [before, after].map((schema) => textOf(schema === undefined ? undefined : withoutTexts(schema)));
  if (bare[0] === bare[1]) found.push(["compatible", `the documentation of ${what} changed`]);
  else found.push(["breaking", `the type of ${what} changed`]);
}

function withoutTexts(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutTexts);
  if (!(schema instanceof JsonObject)) return schema;
  const kept = [...schema.members].filter(([name, value]) => !TEXTS.has(name) || value instanceof JsonObject);
  return new JsonObject(new Map(kept.map(([name, value]) => [name, withoutTexts(value)])));
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
