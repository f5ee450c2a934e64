// Strict reader of an operator's JSON document. Every error has a position.
//
// Messages never contain values of the document, or member names that are not plain words: a private key may have been
// pasted anywhere, even as a name.

import { closest } from "svc-client/internal/did-you-mean";
import { parseFqn } from "svc-client/internal/fqn";
import {
  ARRAY,
  after,
  allMembers,
  DOUBLE,
  ESCAPED_STRING,
  firstIn,
  type JsonDocument,
  kindAt,
  LARGE_INTEGER,
  NULL,
  OBJECT,
  SMALL_INTEGER,
  STRING,
  startAt,
} from "svc-client/internal/wire/json/document";
import { JsonError, lineColumn } from "svc-client/internal/wire/json/error";
import { entryKind, scalarOf, stringOf } from "svc-client/internal/wire/json/read";
import { parseJson } from "svc-client/internal/wire/json/scan";
import { MAX_U64 } from "svc-client/internal/wire/protocol";
import { type JsonSlip, jsonSlip } from "../described-text.js";
import { hiddenPath } from "./operator-file.js";

export interface DocumentSource {
  readonly title: "configuration" | "allow-list";
  /** Path of the file, if there is one. */
  readonly file?: string;
  /** The setting that names the file, for messages that must not contain its path. */
  readonly setting?: string | undefined;
}

/** A position in a document. */
export interface DocumentPlace {
  /** JSON pointer; empty for the whole document. `(entry N)` replaces names that may be secret. */
  readonly pointer: string;
  /** Starts at 1. */
  readonly line: number;
  /** Starts at 1, in characters. */
  readonly column: number;
}

/**
 * An invalid configuration. The message has the file, the position, the expected value, the kind of the actual value
 * (never its text) and how to fix it.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** Path of the file, unless it may be a secret. */
  readonly file: string | undefined;
  readonly pointer: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;

  readonly title: DocumentSource["title"];

  /** @param fault predicate of the message: expected value, actual kind, remedy */
  constructor(fault: string, source: DocumentSource, place?: DocumentPlace) {
    const at = place && `, line ${place.line}, column ${place.column}: ${place.pointer || "the document"}`;
    super(`${titleOf(source)}${at ?? ""} ${fault}`);
    this.title = source.title;
    this.file = displayFile(source);
    this.pointer = place?.pointer;
    this.line = place?.line;
    this.column = place?.column;
  }
}

/** Name of a document in messages. */
export function titleOf(source: DocumentSource): string {
  const file = displayFile(source);
  if (file !== undefined) return `${source.title} ${JSON.stringify(file)}`;
  return source.setting === undefined ? source.title : `${source.title} ${source.setting}`;
}

/** Path for messages; undefined if a secret may have been given instead of a path. */
function displayFile({ file }: DocumentSource): string | undefined {
  return file === undefined || hiddenPath(file) !== undefined ? undefined : file;
}

/** Member names that messages may contain: words of letters. Never matches a key or a part of a key. */
const READABLE_NAME = /^(?=.{1,40}$)\$?[a-z]{1,20}(?:[_-][a-z]{2,20}|[A-Z][a-z]{2,20})*$/;
/** Maximum edit distance for "did you mean". */
const MAX_STEPS = 3;

/**
 * Collects errors of documents up to a limit. With limit 1, throws the first error. With a higher limit, reading
 * continues with the valid parts.
 */
export class Faults {
  readonly found: ConfigError[] = [];
  readonly #limit: number;

  constructor(limit = 1) {
    this.#limit = limit;
  }

  /** @throws the error, if the limit is reached */
  add(fault: ConfigError): void {
    this.collect(fault);
    if (this.found.length >= this.#limit) throw fault;
  }

  /** Adds an error without throwing it. */
  collect(fault: ConfigError): void {
    // A part that is read twice throws an equal error twice, which is listed once.
    if (!this.found.some(({ message }) => message === fault.message)) this.found.push(fault);
  }

  /**
   * Reads a part; undefined if it has an error.
   *
   * @throws the error, if the limit is reached
   */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.add(error);
      return undefined;
    }
  }
}

interface MemberSpec<R extends string, O extends string> {
  readonly required?: readonly R[];
  readonly optional?: readonly O[];
  /** For members that this object does not allow: the object that has such a member, by the name of the member. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** What to write instead of a value that is not an object. */
  readonly remedy?: string;
}

/** Parent of a node, and the node's segment in the JSON pointer. */
interface Above {
  readonly node: DocumentNode;
  readonly label: string | number;
}

/**
 * One value of a document, with its position. All accessors throw a ConfigError for another kind of value. Nodes are
 * created on access, and positions computed only for errors, because an allow-list may have hundreds of thousands of
 * values.
 */
export class DocumentNode {
  readonly faults: Faults;
  readonly #document: JsonDocument;
  readonly #source: DocumentSource;
  readonly #entry: number;
  readonly #above: Above | undefined;
  /** Error to throw if this node represents a missing member. */
  readonly #missing: ConfigError | undefined;

  private constructor(
    document: JsonDocument,
    source: DocumentSource,
    faults: Faults,
    entry = 0,
    above?: Above,
    missing?: ConfigError,
  ) {
    this.faults = faults;
    this.#document = document;
    this.#source = source;
    this.#entry = entry;
    this.#above = above;
    this.#missing = missing;
  }

  /**
   * Reads a document.
   *
   * @throws ConfigError unless the bytes are one JSON document
   */
  static read(bytes: Uint8Array, source: DocumentSource, faults = new Faults()): DocumentNode {
    try {
      return DocumentNode.of(parseJson(bytes), source, faults);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw notJson(error, bytes, source);
    }
  }

  /**
   * Root of a parsed document.
   *
   * @param document a `JsonDocument`; public types cannot refer to that type
   */
  static of(document: object, source: DocumentSource, faults = new Faults()): DocumentNode {
    return new DocumentNode(document as JsonDocument, source, faults);
  }

  /** Members of an object of known shape. Unknown, repeated and missing members are errors; `null` is a value. */
  members<R extends string = never, O extends string = never>(
    names: MemberSpec<R, O>,
  ): Record<R, DocumentNode> & Partial<Record<O, DocumentNode>> {
    const required: readonly string[] = names.required ?? [];
    const found: Record<string, DocumentNode> = {};
    for (const [name, { key, value }] of this.#members(names.remedy)) {
      if (!required.includes(name) && names.optional?.includes(name as O) !== true) {
        const known: readonly string[] = [...required, ...(names.optional ?? [])];
        const [nearest = known.find((each) => each.endsWith(`_${name}`))] = closest(name, known, MAX_STEPS);
        const place = Object.entries(names.elsewhere ?? {}).find(([each]) => each === name)?.[1];
        const got = `got another member${READABLE_NAME.test(name) ? `, ${name}` : ""}`;
        const remedy =
          place !== undefined
            ? `it belongs in ${place}`
            : nearest === undefined
              ? "remove it or correct its name"
              : `did you mean ${nearest}?`;
        this.faults.add(this.#fault(`must contain only ${known.join(", ")}, ${got}; ${remedy}`, key));
        continue;
      }
      found[name] = this.#below(value, name);
    }
    for (const name of required) {
      if (found[name] !== undefined) continue;
      const fault = this.fault(`an object with the member ${name}`, "one without it", "add it");
      this.faults.add(fault);
      found[name] = this.#below(this.#entry, name, fault);
    }
    return found as Record<R, DocumentNode> & Partial<Record<O, DocumentNode>>;
  }

  /** Members of an object with arbitrary names, in order. */
  entries(): [name: string, node: DocumentNode][] {
    return [...this.#members()].map(([name, { value }], i) => {
      return [name, this.#below(value, parseFqn(name) === undefined ? `(entry ${i + 1})` : name)];
    });
  }

  /** Items of an array; each node is created on access. */
  items(): Iterable<DocumentNode> {
    if (this.#kind !== ARRAY) throw this.#otherKind("an array", "write one in brackets");
    return this.#items();
  }

  *#items(): Generator<DocumentNode> {
    const document = this.#document;
    const end = after(document, this.#entry);
    for (let [i, item] = [0, firstIn(this.#entry)]; item < end; i++) {
      yield this.#below(item, i);
      item = after(document, item);
    }
  }

  text(): string {
    const kind = this.#kind;
    if (kind !== STRING && kind !== ESCAPED_STRING) throw this.#otherKind("a string", "write it in quotes");
    return stringOf(this.#document, this.#entry);
  }

  /** Exact integer from 0 to 2^64 − 1. */
  u64(remedy?: string): bigint {
    return this.integer(0n, MAX_U64, remedy);
  }

  /** Exact integer within bounds; `1.0` and `1e3` are not integers. */
  integer(min: bigint, max: bigint, remedy = "write it in plain digits, without a point, exponent or quotes"): bigint {
    const value = this.#kind < DOUBLE ? scalarOf(this.#document, this.#entry) : undefined;
    const wanted = `an integer from ${min} to ${max}`;
    if (typeof value !== "bigint" && typeof value !== "number") {
      throw this.#otherKind(wanted, remedy);
    }
    const integer = BigInt(value);
    if (integer < min) throw this.fault(wanted, "a smaller one", "correct it");
    if (integer > max) throw this.fault(wanted, "a larger one", "correct it");
    return integer;
  }

  /** This node, or undefined for `null`; for members where `null` means absent. */
  orAbsent(): DocumentNode | undefined {
    return this.#kind === NULL ? undefined : this;
  }

  /** The fault of a value of another kind. */
  #otherKind(wanted: string, remedy: string): ConfigError {
    const kind = this.#kind;
    const integer = kind === SMALL_INTEGER || kind === LARGE_INTEGER;
    const number = kind === DOUBLE ? "a number that is not a 64-bit integer" : undefined;
    return this.fault(wanted, integer ? "an integer" : (number ?? entryKind(this.#document, this.#entry)), remedy);
  }

  /** Creates the error `must be WANTED, got GOT; REMEDY` for this value, from three fixed texts. */
  fault(wanted: string, got: string, remedy: string): ConfigError {
    return this.#fault(`must be ${wanted}, got ${got}; ${remedy}`, this.#entry);
  }

  /** Error of this value, located at an entry of the document. */
  #fault(text: string, entry: number): ConfigError {
    const place = lineColumn(this.#document.bytes, startAt(this.#document, entry));
    return new ConfigError(text, this.#source, { pointer: this.#pointer, ...place });
  }

  get #pointer(): string {
    let pointer = "";
    for (let above = this.#above; above !== undefined; above = above.node.#above) pointer = `/${above.label}${pointer}`;
    return pointer;
  }

  #below(entry: number, label: string | number, missing?: ConfigError): DocumentNode {
    return new DocumentNode(this.#document, this.#source, this.faults, entry, { node: this, label }, missing);
  }

  /** @throws the error of a missing member */
  get #kind(): number {
    if (this.#missing !== undefined) throw this.#missing;
    return kindAt(this.#document, this.#entry);
  }

  /** Key and value by name. A repeated member keeps its first position and its last key and value. */
  #members(remedy = "write one in braces"): Map<string, { readonly key: number; readonly value: number }> {
    if (this.#kind !== OBJECT) throw this.#otherKind("an object", remedy);
    const members = new Map<string, { readonly key: number; readonly value: number }>();
    const repeated = new Set<string>();
    for (const [key, value] of allMembers(this.#document, this.#entry)) {
      const name = stringOf(this.#document, key);
      if (members.has(name)) repeated.add(name);
      members.set(name, { key, value });
    }
    for (const name of repeated) {
      const { key } = members.get(name) as { key: number };
      const got = READABLE_NAME.test(name) || parseFqn(name) !== undefined ? `${name} again` : "a repeated member";
      this.faults.add(this.#fault(`must contain each member once, got ${got}; remove one of the two`, key));
    }
    return members;
  }
}

export function notJson(error: JsonError, bytes: Uint8Array, source: DocumentSource): ConfigError {
  const place = { pointer: "", ...lineColumn(bytes, error.offset) };
  const slip = jsonSlip(bytes, error.offset);
  const [reason, remedy] = slip === undefined ? [error.reason, "correct the text at this position"] : SLIPS[slip];
  return new ConfigError(`must be JSON: ${reason}; ${remedy}`, source, place);
}

/** Reason of each mistake and how to fix it. */
const SLIPS: Readonly<Record<JsonSlip, readonly [reason: string, remedy: string]>> = {
  "byte order mark": ["it begins with a byte order mark", "save it as UTF-8 without byte order mark"],
  "UTF-16": ["it is UTF-16", "save it as UTF-8"],
  empty: ["it is empty", "write the document"],
  comment: ["a comment, which JSON does not allow", "remove it"],
  "single quotes": ["a string in single quotes", "use double quotes"],
  comma: ["a comma before the end", "remove the comma"],
};
