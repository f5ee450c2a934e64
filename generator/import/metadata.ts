/** Metadata documents of any tool, as `GET /meta` or a `meta.json` holds them (protocol.md, sections 1, 2 and 8). */

import { derivePorts, fqnProblem, JsonError, MAX_TIMEOUT_MS, PortError, parseFqn } from "svc-runtime/generator";
import { quoted } from "../diagnostics/quote.js";
import { type Json, JsonObject, printJson, readJson } from "../json.js";

/** Greatest size of the metadata of all tools together, in bytes. */
export const MAX_METADATA_BYTES = 4 * 1024 * 1024;
const MAX_TOOLS = 1000;

/** The metadata cannot be imported. The message names the tool and the part. */
export class UnreadableMetadata extends Error {}

/** One tool. Its schemas give ports that the network accepts. */
export interface ToolMetadata {
  /** In its shortest form. */
  readonly fqn: string;
  readonly description: string;
  /** Milliseconds; undefined when the document names none. */
  readonly timeout: number | undefined;
  /** Without empty segments; undefined when the URL has no path that a tool can be served under. */
  readonly path: string | undefined;
  readonly input: JsonObject;
  readonly output: JsonObject;
  readonly ports: ReturnType<typeof derivePorts>;
  /** The document as it came. */
  readonly document: JsonObject;
}

/**
 * Reads one document, or a list of them.
 *
 * @param name of the source, in messages
 * @throws UnreadableMetadata
 */
export function readMetadata(bytes: Uint8Array, name: string): ToolMetadata[] {
  if (bytes.length > MAX_METADATA_BYTES) {
    throw new UnreadableMetadata(`${name} has ${bytes.length} bytes, of at most ${MAX_METADATA_BYTES}`);
  }
  let all: Json;
  try {
    all = readJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    const reason = error instanceof JsonError ? error.message : "it is not UTF-8";
    throw new UnreadableMetadata(`${name} is no metadata: expected JSON: ${reason}`);
  }
  const documents: readonly Json[] = Array.isArray(all) ? all : [all as Json];
  if (documents.length === 0) throw new UnreadableMetadata(`${name} is no metadata: the list has no tool`);
  if (documents.length > MAX_TOOLS) {
    throw new UnreadableMetadata(`${name} has ${documents.length} tools, of at most ${MAX_TOOLS}`);
  }
  const tools = documents.map((document) => readTool(document, name));
  const twice = tools.find(({ fqn }, at) => tools.findIndex((other) => other.fqn === fqn) < at);
  if (twice !== undefined) throw new UnreadableMetadata(`${name} has ${twice.fqn} twice`);
  return tools;
}

function readTool(document: Json, name: string): ToolMetadata {
  if (!(document instanceof JsonObject)) {
    throw new UnreadableMetadata(`${name} is no metadata: expected an object with fqn, input_schema and output_schema`);
  }
  const given = document.get("fqn");
  if (typeof given !== "string") throw new UnreadableMetadata(`${name} is no metadata: a tool has no fqn`);
  const fqn = parseFqn(given)?.text;
  if (fqn === undefined) {
    throw new UnreadableMetadata(`${name}: ${quoted(given)} is no name of a tool: ${fqnProblem(given)}`);
  }
  const fail = (problem: string) => new UnreadableMetadata(`${fqn} in ${name} cannot be imported: ${problem}`);
  const description = document.get("description");
  if (typeof description !== "string" || description.trim() === "") throw fail("its description is missing or blank");
  const timeout = document.get("timeout");
  const isTimeout = typeof timeout === "number" && Number.isInteger(timeout);
  if (timeout !== undefined && !(isTimeout && timeout >= 1 && timeout <= MAX_TIMEOUT_MS)) {
    throw fail(`expected a timeout from 1 to ${MAX_TIMEOUT_MS} milliseconds`);
  }
  const [input, output] = [document.get("input_schema"), document.get("output_schema")];
  if (!(input instanceof JsonObject)) throw fail("input_schema is missing, or no object");
  if (!(output instanceof JsonObject)) throw fail("output_schema is missing, or no object");
  try {
    const ports = derivePorts(printJson(input), printJson(output));
    const path = pathOf(document.get("url"));
    return { fqn, description, timeout: timeout as number | undefined, path, input, output, ports, document };
  } catch (error) {
    if (error instanceof PortError || error instanceof JsonError) throw fail(error.message);
    throw error;
  }
}

function pathOf(url: Json | undefined): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const path = new URL(url).pathname.split("/").filter(Boolean).join("/");
  return /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/.test(path) ? path : undefined;
}
