/**
 * Reads metadata documents from `GET /meta` or a `meta.json`, of any toolkit (protocol.md, section 8). ajv validates
 * each document.
 */

import { createRequire } from "node:module";
import type { ErrorObject } from "ajv";
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

/** JSON Schema of a document. Each `description` completes "expected …" in messages. */
const DOCUMENT = {
  type: "object",
  description: "an object with fqn, input_schema and output_schema",
  required: ["fqn", "description", "input_schema", "output_schema"],
  properties: {
    fqn: { type: "string", description: "the name of a tool" },
    url: { type: "string", description: "a URL" },
    timeout: {
      type: "integer",
      minimum: 1,
      maximum: MAX_TIMEOUT_MS,
      description: `a timeout from 1 to ${MAX_TIMEOUT_MS} milliseconds`,
    },
    description: { type: "string", description: "a text" },
    input_schema: { type: "object", description: "a JSON Schema" },
    output_schema: { type: "object", description: "a JSON Schema" },
  },
} as const;

/** Schema of a server's answer, in which all members are required. */
const ANSWER = { ...DOCUMENT, required: Object.keys(DOCUMENT.properties) };

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
  if (documents.length === 0) throw refuse("the list is empty");
  const judge = openJudge(isAnswer ? ANSWER : DOCUMENT);
  const names = new Set<string>();
  return documents.map((document, at) => {
    try {
      const tool = readTool(document, isList ? `/${at}` : "", judge, refuse);
      if (names.has(tool.fqn)) throw new UnreadableMetadata(`${name} contains ${tool.fqn} twice`);
      names.add(tool.fqn);
      return tool;
    } catch (error) {
      if (error instanceof UnreadableMetadata) return error;
      throw error;
    }
  });
}

type Judge = (document: unknown) => ErrorObject | undefined;

function openJudge(schema: object): Judge {
  const { Ajv2020 } = createRequire(import.meta.url)("ajv/dist/2020") as typeof import("ajv/dist/2020.js");
  const validate = new Ajv2020({ strict: true, verbose: true, ownProperties: true }).compile(schema);
  return (document) => (validate(document) ? undefined : validate.errors?.[0]);
}

function readTool(document: Json, at: string, judge: Judge, refuse: (problem: string) => Error): JudgedMetadata {
  const fault = judge(plain(document));
  if (fault !== undefined) throw refuse(explain(fault, at));
  const { members } = document as JsonObject;
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
    document: document as JsonObject,
  };
}

/** Shallow copy of the document for ajv, which checks only its direct members. */
function plain(json: Json): unknown {
  const shallow = (value: Json) =>
    value instanceof JsonObject ? {} : Array.isArray(value) ? [] : typeof value === "bigint" ? Number(value) : value;
  if (!(json instanceof JsonObject)) return shallow(json);
  return Object.fromEntries(Array.from(json.members, ([name, member]) => [name, shallow(member)]));
}

function explain({ keyword, params, instancePath, data, parentSchema }: ErrorObject, at: string): string {
  const missing = keyword === "required" ? (params.missingProperty as keyof typeof DOCUMENT.properties) : undefined;
  const place = `${at}${instancePath}${missing === undefined ? "" : `/${missing}`}`;
  const expected = missing === undefined ? parentSchema?.description : DOCUMENT.properties[missing].description;
  return `${place === "" ? "" : `at ${place}: `}expected ${expected}, got ${missing === undefined ? jsonKind(data) : "nothing"}`;
}

function jsonKind(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "string") return "a text";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a number";
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : "a boolean";
}
