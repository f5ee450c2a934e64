// A strict reader of an operator's JSON document. Every fault names its position.
//
// Messages never contain values of the document, nor names of members that are not plain words: a key may be misplaced,
// even as a name.

import { parseFqn } from "../fqn.js";
import { MAX_U64 } from "../wire/integer-bounds.js";
import { lineColumn, locate } from "../wire/json.js";
import { JsonError } from "../wire/json-error.js";
import { JsonDouble, JsonObject, type JsonValue, readJson } from "../wire/json-value.js";
import { looksLikeKey } from "./keys.js";
import { closest } from "./nearest.js";

/** The origin of a document. */
export interface DocumentSource {
  readonly title: "configuration" | "allow-list";
  /** The file, when there is one. */
  readonly file?: string;
}

/** A position in a document. */
export interface DocumentPlace {
  /** JSON pointer; empty for the whole document. Names that may be secret are replaced by `(entry N)`. */
  readonly pointer: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
}

/**
 * An invalid configuration. The message names the file, the position, the expected value, the kind of the actual value
 * (never its text) and the remedy.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  /** The path of the file, unless it looks like a key. */
  readonly file: string | undefined;
  readonly pointer: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;

  /** The kind of document. */
  readonly title: DocumentSource["title"];

  /** @param fault the predicate of the message: expected value, actual kind, remedy */
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

/** The name of a document in messages. */
export function titleOf(source: DocumentSource): string {
  const file = displayFile(source);
  return file === undefined ? source.title : `${source.title} ${JSON.stringify(file)}`;
}

/** The path for messages; undefined for a key that was given instead of a path. */
function displayFile({ file }: DocumentSource): string | undefined {
  return file === undefined || looksLikeKey(file) ? undefined : file;
}

/** A member's name that is shown: words of letters. No key, nor a part of one, looks like that. */
const READABLE_NAME = /^(?=.{1,40}$)\$?[a-z]{1,20}(?:[_-][a-z]{2,20}|[A-Z][a-z]{2,20})*$/;
/** Edit steps within which a member was probably meant. */
const MAX_STEPS = 3;

/**
 * The faults of documents as they are found, up to a limit. With the limit 1 the first fault is thrown where it is
 * found; with more, a reading goes on with the parts that are good.
 */
export class Faults {
  readonly found: ConfigError[] = [];
  readonly #limit: number;

  constructor(limit = 1) {
    this.#limit = limit;
  }

  /** @throws the fault, once the limit is reached */
  add(fault: ConfigError): void {
    this.collect(fault);
    if (this.found.length >= this.#limit) throw fault;
  }

  /** Adds a fault that ended the reading. */
  collect(fault: ConfigError): void {
    // A part that is read twice has the same fault twice.
    if (!this.found.some(({ message }) => message === fault.message)) this.found.push(fault);
  }

  /**
   * Reads a part that may be left out: undefined when it has a fault.
   *
   * @throws the fault, once the limit is reached
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

/** The allowed members of an object. */
interface MemberSpec<R extends string, O extends string> {
  readonly required?: readonly R[];
  readonly optional?: readonly O[];
}

/** One value of a document, with its position. Every accessor throws a ConfigError for another kind of value. */
export class DocumentNode {
  readonly faults: Faults;
  readonly #bytes: Uint8Array;
  readonly #source: DocumentSource;
  readonly #path: readonly (string | number)[];
  readonly #pointer: string;
  readonly #given: JsonValue;
  /** The fault of a member that is missing. */
  readonly #missing: ConfigError | undefined;

  private constructor(
    bytes: Uint8Array,
    source: DocumentSource,
    value: JsonValue,
    path: readonly (string | number)[],
    pointer: string,
    faults: Faults,
    missing?: ConfigError,
  ) {
    this.faults = faults;
    this.#missing = missing;
    this.#bytes = bytes;
    this.#source = source;
    this.#given = value;
    this.#path = path;
    this.#pointer = pointer;
  }

  /**
   * Reads a document.
   *
   * @throws ConfigError when the bytes are not one JSON document
   */
  static read(bytes: Uint8Array, source: DocumentSource, faults = new Faults()): DocumentNode {
    try {
      return new DocumentNode(bytes, source, readJson(bytes), [], "", faults);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      const place = { pointer: "", ...lineColumn(bytes, error.offset) };
      throw new ConfigError(`must be JSON: ${error.reason}; correct the text at this place`, source, place);
    }
  }

  /** The members of an object of known shape. Unknown, repeated and missing members are faults; `null` is a value. */
  members<R extends string = never, O extends string = never>(
    names: MemberSpec<R, O>,
  ): Record<R, DocumentNode> & Partial<Record<O, DocumentNode>> {
    const object = this.#object();
    const known: readonly string[] = [...(names.required ?? []), ...(names.optional ?? [])];
    const found: Record<string, DocumentNode> = {};
    for (const [name, value] of object.members) {
      if (!known.includes(name)) {
        const [nearest] = closest(name, known, MAX_STEPS);
        const got = `got another member${READABLE_NAME.test(name) ? `, ${name}` : ""}`;
        const remedy = nearest === undefined ? "remove it or correct its name" : `did you mean ${nearest}?`;
        const wanted = `must hold only ${known.join(", ")}, ${got}; ${remedy}`;
        this.faults.add(this.#fault(wanted, [...this.#path, name], "repeat"));
        continue;
      }
      found[name] = this.#below(name, value, name);
    }
    for (const name of names.required ?? []) {
      if (found[name] !== undefined) continue;
      const fault = this.fault(`an object with the member ${name}`, "one without it", "add it");
      this.faults.add(fault);
      found[name] = this.#below(name, null, name, fault);
    }
    return found as Record<R, DocumentNode> & Partial<Record<O, DocumentNode>>;
  }

  /** The members of an object with arbitrary names, in order. */
  entries(): [name: string, node: DocumentNode][] {
    return [...this.#object().members].map(([name, value], i) => {
      return [name, this.#below(name, value, parseFqn(name) === undefined ? `(entry ${i + 1})` : name)];
    });
  }

  /** The items of an array. */
  items(): DocumentNode[] {
    if (!Array.isArray(this.#value)) throw this.fault("an array", this.kind(), "write one in brackets");
    return this.#value.map((item, i) => this.#below(i, item, String(i)));
  }

  /** A string. */
  text(): string {
    if (typeof this.#value !== "string") throw this.fault("a text", this.kind(), "write it in quotes");
    return this.#value;
  }

  /** An exact integer from 0 to 2^64 − 1. */
  u64(): bigint {
    return this.integer(0n, MAX_U64);
  }

  /** An exact integer within bounds; `1.0` and `1e3` are not integers. */
  integer(min: bigint, max: bigint): bigint {
    const value = this.#value;
    const wanted = `an integer from ${min} to ${max}`;
    if (typeof value !== "bigint" && !Number.isSafeInteger(value)) {
      throw this.fault(wanted, this.kind(), "write it in plain digits, without a point, exponent or quotes");
    }
    const integer = BigInt(value as number | bigint);
    if (integer < min) throw this.fault(wanted, "a smaller one", "correct it");
    if (integer > max) throw this.fault(wanted, "a larger one", "correct it");
    return integer;
  }

  /** This node, or undefined for `null`, for members where `null` means absent. */
  orAbsent(): DocumentNode | undefined {
    return this.#value === null ? undefined : this;
  }

  /** The kind of this value, for messages. */
  kind(): string {
    const value = this.#value;
    if (value === null) return "null";
    if (typeof value === "string") return "a text";
    if (typeof value === "boolean") return "a boolean";
    if (Array.isArray(value)) return "an array";
    if (value instanceof JsonObject) return "an object";
    return value instanceof JsonDouble || (typeof value === "number" && !Number.isInteger(value))
      ? "a number that is no integer of 64 bits"
      : "an integer";
  }

  /** Makes the error `must be WANTED, got GOT; REMEDY` at this value. All three are fixed texts. */
  fault(wanted: string, got: string, remedy: string): ConfigError {
    return this.#fault(`must be ${wanted}, got ${got}; ${remedy}`, this.#path, "value");
  }

  #fault(text: string, path: readonly (string | number)[], occurrence: "value" | "repeat"): ConfigError {
    const place = lineColumn(this.#bytes, locate(this.#bytes, path, occurrence));
    return new ConfigError(text, this.#source, { pointer: this.#pointer, ...place });
  }

  #below(step: string | number, value: JsonValue, label: string, missing?: ConfigError): DocumentNode {
    const path = [...this.#path, step];
    return new DocumentNode(this.#bytes, this.#source, value, path, `${this.#pointer}/${label}`, this.faults, missing);
  }

  get #value(): JsonValue {
    if (this.#missing !== undefined) throw this.#missing;
    return this.#given;
  }

  #object(): JsonObject {
    if (!(this.#value instanceof JsonObject)) throw this.fault("an object", this.kind(), "write one in braces");
    for (const repeated of this.#value.repeated) {
      const text = "must hold each member once, got a repeated one; remove it";
      this.faults.add(this.#fault(text, [...this.#path, repeated], "repeat"));
    }
    return this.#value;
  }
}
