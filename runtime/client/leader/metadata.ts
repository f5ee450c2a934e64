import { Buffer } from "#platform/bytes";
import { parseFqn } from "../fqn.js";
import { ARRAY, itemsOf, type JsonDocument, kindAt, OBJECT } from "../wire/json/document.js";
import { JsonError } from "../wire/json/error.js";
import { textOf } from "../wire/json/print.js";
import { membersByName } from "../wire/json/read.js";
import { parseJson } from "../wire/json/scan.js";
import { plainValueOf } from "../wire/json/untyped-json.js";
import { MAX_TIMEOUT_MS } from "../wire/protocol.js";
import { LeaderError } from "./error.js";

/** A tool's metadata document (protocol.md section 9). */
export interface ToolMetadata {
  /** The version is in its shortest form. */
  readonly fqn: string;
  /** Tool's address in the document. A client uses it only if no other address is given. */
  readonly url: string;
  /** Time limit of a call, in milliseconds. */
  readonly timeout: number;
  readonly description: string;
  /** Schema as text, because the order of its members is the order of the ports. */
  readonly inputSchema: string;
  readonly outputSchema: string;
}

/**
 * Reads a metadata document: the answer of `/meta`, or the list in `meta.json`.
 *
 * @param fqn FQN of the expected tool, by which a document is selected from a list
 * @throws {@link LeaderError} `invalid_metadata`; TypeError for a parsed document
 */
export function readMetadata(text: string | Uint8Array, fqn?: string): ToolMetadata {
  if (typeof text !== "string" && !(text instanceof Uint8Array)) {
    throw new TypeError("metadata: expected the text or bytes of the document, got another value; pass it unparsed");
  }
  const wanted = fqn === undefined ? undefined : (parseFqn(fqn)?.text ?? fqn);
  const document = parse(typeof text === "string" ? Buffer.from(text) : text);
  if (kindAt(document, 0) !== ARRAY) {
    const metadata = readOne(document, 0);
    if (wanted === undefined || metadata.fqn === wanted) return metadata;
    return refuse(`fqn: expected ${wanted}, got ${metadata.fqn}`);
  }
  const listed = itemsOf(document, 0).map((entry) => readOne(document, entry));
  const [found, ...others] = listed.filter((metadata) => wanted === undefined || metadata.fqn === wanted);
  if (found !== undefined && others.length === 0) return found;
  const got = found === undefined ? "none" : `${1 + others.length}: name the tool`;
  return refuse(`list: expected ${wanted ?? "one tool"}, got ${got}`);
}

function parse(bytes: Uint8Array): JsonDocument {
  try {
    return parseJson(bytes);
  } catch (error) {
    if (error instanceof JsonError) return refuse(`not JSON: ${error.message}`);
    throw error;
  }
}

function readOne(document: JsonDocument, entry: number): ToolMetadata {
  if (kindAt(document, entry) !== OBJECT) refuse("expected an object");
  const members = membersByName(document, entry);
  const required = (name: string): number => members.get(name) ?? refuse(`${name}: missing`);
  const string = (name: string): string => {
    const value = plainValueOf(document, required(name));
    return typeof value === "string" ? value : refuse(`${name}: expected a string`);
  };
  const fqn = parseFqn(string("fqn")) ?? refuse("fqn: expected domain.name@version");
  const timeout = plainValueOf(document, required("timeout"));
  if (typeof timeout !== "number" || !Number.isInteger(timeout) || timeout < 1 || timeout > MAX_TIMEOUT_MS) {
    return refuse(`timeout: expected milliseconds from 1 to ${MAX_TIMEOUT_MS}`);
  }
  const schema = (name: string) => textOf(document, required(name), "sent").toString("utf8");
  return {
    fqn: fqn.text,
    url: string("url"),
    timeout,
    description: string("description"),
    inputSchema: schema("input_schema"),
    outputSchema: schema("output_schema"),
  };
}

function refuse(details: string): never {
  throw new LeaderError("invalid_metadata", details);
}
