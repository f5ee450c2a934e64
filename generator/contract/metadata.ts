/** Reads metadata documents from `GET /meta` or a `meta.json`, of any toolkit (protocol.md, section 8). */

import { fqnProblem, JsonError, MAX_TIMEOUT_MS, parseFqn } from "svc-runtime/internal/generator";
import { quoted } from "../compile/diagnostics/quote.js";
import { type Json, JsonObject, readJson } from "../text/json.js";

/** Thrown for invalid metadata. The message has the position. */
export class UnreadableMetadata extends Error {}

export interface JudgedMetadata {
  /** In canonical form. */
  readonly fqn: string;
  readonly url: string | undefined;
  readonly description: string;
  /** Milliseconds; undefined if the document has none. */
  readonly timeout: number | undefined;
  readonly input: JsonObject;
  readonly output: JsonObject;
  /** The document, unchanged. */
  readonly document: JsonObject;
}

interface Rule {
  /** Completes "expected …" in messages. */
  readonly expected: string;
  readonly fits: (value: Json | undefined) => boolean;
  /** Whether only the answer of a server must have the member. */
  readonly ofAnswers?: true;
}

const isText = (value: Json | undefined) => typeof value === "string";
const isSchema = (value: Json | undefined) => value instanceof JsonObject;

/** Rules for the members of a document. */
const RULES: Readonly<Record<string, Rule>> = {
  fqn: { expected: "the name of a tool", fits: isText },
  description: { expected: "a text", fits: isText },
  input_schema: { expected: "a JSON Schema", fits: isSchema },
  output_schema: { expected: "a JSON Schema", fits: isSchema },
  url: { expected: "a URL", fits: isText, ofAnswers: true },
  timeout: {
    expected: `a timeout from 1 to ${MAX_TIMEOUT_MS} milliseconds`,
    fits: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_TIMEOUT_MS,
    ofAnswers: true,
  },
};

/**
 * Reads one document, or a list of them.
 *
 * @param name name of the source, for messages
 * @param isAnswer whether a server sent it: then it must be a single document with `url` and `timeout`
 * @throws UnreadableMetadata
 */
export function readMetadata(bytes: Uint8Array, name: string, isAnswer = false): JudgedMetadata[] {
  return readListing(bytes, name, isAnswer).map((each) => {
    if (each instanceof UnreadableMetadata) throw each;
    return each;
  });
}

/**
 * Like {@link readMetadata}, but an invalid document does not affect the others.
 *
 * @returns for each document, the tool or the reason why it is invalid
 * @throws UnreadableMetadata if the bytes are not a list of documents
 */
export function readListing(
  bytes: Uint8Array,
  name: string,
  isAnswer = false,
): (JudgedMetadata | UnreadableMetadata)[] {
  const refuse = (problem: string) => new UnreadableMetadata(`${name} is not metadata: ${problem}`);
  let all: Json;
  try {
    all = readJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    throw refuse(`expected JSON: ${error instanceof JsonError ? error.message : "it is not UTF-8"}`);
  }
  const isList = !isAnswer && Array.isArray(all);
  const documents = isList ? (all as readonly Json[]) : [all];
  const names = new Set<string>();
  return documents.map((document, at) => {
    try {
      const tool = readTool(document, isList ? `/${at}` : "", isAnswer, refuse);
      if (names.has(tool.fqn)) throw new UnreadableMetadata(`${name} contains ${tool.fqn} twice`);
      names.add(tool.fqn);
      return tool;
    } catch (error) {
      if (error instanceof UnreadableMetadata) return error;
      throw error;
    }
  });
}

function readTool(
  document: Json,
  at: string,
  isAnswer: boolean,
  refuse: (problem: string) => UnreadableMetadata,
): JudgedMetadata {
  const fault = (place: string, expected: string, got: Json | undefined) =>
    refuse(`${place === "" ? "" : `at ${place}: `}expected ${expected}, got ${kindOf(got)}`);
  if (!(document instanceof JsonObject)) {
    throw fault(at, "an object with fqn, input_schema and output_schema", document);
  }
  const { members } = document;
  for (const [name, { expected, fits, ofAnswers }] of Object.entries(RULES)) {
    const value = members.get(name);
    if (value === undefined ? isAnswer || !ofAnswers : !fits(value)) throw fault(`${at}/${name}`, expected, value);
  }
  const given = members.get("fqn") as string;
  const fqn = parseFqn(given)?.text;
  if (fqn === undefined) throw refuse(`at ${at}/fqn: ${quoted(given)} is not the name of a tool: ${fqnProblem(given)}`);
  return {
    fqn,
    url: members.get("url") as string | undefined,
    description: members.get("description") as string,
    timeout: members.get("timeout") as number | undefined,
    input: members.get("input_schema") as JsonObject,
    output: members.get("output_schema") as JsonObject,
    document,
  };
}

function kindOf(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return "a text";
  if (typeof value === "bigint" || Number.isInteger(value)) return "an integer";
  if (typeof value === "number") return "a number";
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : "a boolean";
}
