/**
 * Port values: object ids, inline data and references to stored data (protocol.md section 3).
 *
 * Every instance is valid: constructors throw an error that names the violated rule.
 */

import { Buffer } from "#platform/bytes";
import { decodeBase64, decodeBase64url } from "../base64.js";
import { shareBrand } from "../brand.js";
import { ARRAY, itemsOf, type JsonDocument, kindAt, OBJECT } from "../json/document.js";
import { JsonError } from "../json/error.js";
import { textOf } from "../json/print.js";
import { membersByName, stringValueOf } from "../json/read.js";
import { parseJson } from "../json/scan.js";
import { kindOf } from "../kinds.js";
import { MAX_INLINE_BYTES, MAX_PORT_BYTES, MAX_VALUES } from "../protocol.js";
import type { Receipt } from "../receipt.js";
import type { ValueKind } from "./bcs-shapes.js";
import { encodeNexusData, nexusDataSize } from "./bcs-writer.js";

/** A value that violates the protocol. The message names the rule, never the value. */
export class NexusDataError extends RangeError {
  override readonly name = "NexusDataError";
}

/** One value of a port. */
export type NexusValue = ObjectValue | InlineValue | WalrusValue;

/** Key of a type-only member, which never exists at run time. */
export declare const content: unique symbol;

/**
 * In an output, a reference to data of type T: a stored blob or one protocol value. T is checked only by the compiler;
 * a reference without a type is assignable for every T.
 */
export interface DataReference<out T> {
  /** The value of the port: inline data, or a reference to a blob. */
  nexusValue(): NexusValue;
  readonly [content]?: T;
}

/**
 * Type of an output port that accepts stored data: either the value itself, which is sent inline, or a reference to it.
 * `DataRef<T>[]` is a `many` port of such values. The schema contains only T, the type that a downstream tool receives.
 */
export type DataRef<T> = T | DataReference<T>;

/** Reference types of a port, or `never`. */
export type ReferenceOf<Port> = Extract<Port, DataReference<unknown>>;

/** JSON text of a T, as bytes. Untyped bytes are assignable to every `Encoded<T>`. */
export type Encoded<T> = Uint8Array & { readonly [content]?: T };

/** The id of an on-chain object: 32 bytes. */
export class ObjectValue {
  readonly kind = "object";
  constructor(readonly id: Uint8Array) {
    requireLength("object id", id, 32);
  }
}

/** Inline JSON text of at most 61,440 bytes. */
export class InlineValue {
  readonly kind = "inline";
  /** Makes `plainText` reject an instance: a port value cannot be part of JSON. */
  get [Symbol.toStringTag]() {
    return "InlineValue";
  }
  constructor(readonly bytes: Uint8Array) {
    if (bytes.length > MAX_INLINE_BYTES) {
      throw new NexusDataError(
        `inline value: at most ${MAX_INLINE_BYTES} bytes, got ${bytes.length}: store it and return a reference`,
      );
    }
  }

  nexusValue(): this {
    return this;
  }
}

/** A reference to a blob in Walrus: the id as 43 ASCII bytes of base64url, and the SHA-256 of the content. */
export class WalrusValue {
  readonly kind = "walrus";
  /** Makes `plainText` reject an instance: a reference cannot be part of JSON. */
  get [Symbol.toStringTag]() {
    return "WalrusValue";
  }
  /**
   * @param size bytes of the blob, if known; counts towards the resolved output budget and is not sent
   * @param returned called after a result with this value was sent; gets the receipt of the call if the tool signed the
   * result and its `Output` has a `DataRef`
   */
  constructor(
    readonly blobId: Uint8Array,
    readonly contentDigest: Uint8Array,
    readonly size?: number,
    readonly returned?: (receipt?: Receipt) => void | Promise<void>,
  ) {
    requireLength("Walrus blob id", blobId, 43);
    if (!isBlobId(Buffer.from(blobId).toString("latin1"))) {
      throw new NexusDataError("Walrus blob id: expected canonical base64url of 32 bytes without padding");
    }
    requireLength("Walrus content digest", contentDigest, 32);
  }

  nexusValue(): this {
    return this;
  }
}

shareBrand(ObjectValue, "ObjectValue");
shareBrand(InlineValue, "InlineValue");
shareBrand(WalrusValue, "WalrusValue");

/** Whether a text is a blob id: 32 bytes as base64url without padding. */
export function isBlobId(text: string): boolean {
  return decodeBase64url(text)?.length === 32;
}

function requireLength(what: string, bytes: Uint8Array, length: number): void {
  const got = bytes instanceof Uint8Array ? bytes.length : kindOf(bytes);
  if (got !== length) throw new NexusDataError(`${what}: expected ${length} bytes, got ${got}`);
}

export const NexusValue = {
  /**
   * An object id.
   *
   * @param id 32 bytes, or 1 to 64 hex digits, `0x` optional, padded on the left
   * @throws {@link NexusDataError}
   */
  object(id: string | Uint8Array): ObjectValue {
    return new ObjectValue(typeof id === "string" ? parseObjectId(id) : Uint8Array.from(id));
  },
  /**
   * Inline data.
   *
   * @param text one JSON document, converted to its canonical form
   * @throws {@link NexusDataError}, {@link JsonError}
   */
  json(text: string | Uint8Array): InlineValue {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    if (!(bytes instanceof Uint8Array)) throw new NexusDataError(`expected JSON text, got ${kindOf(text)}`);
    return new InlineValue(textOf(parseJson(bytes), 0, "canonical"));
  },
  /**
   * A reference to a stored blob.
   *
   * @param blobId 43 characters of base64url, or their ASCII bytes
   * @param contentDigest 32 bytes, the SHA-256 of the content
   * @param size bytes of the content, if known
   * @param returned called after a result with this value was sent; gets the receipt of the call if the tool signed the
   * result and its `Output` has a `DataRef`
   * @throws {@link NexusDataError}
   */
  walrus(
    blobId: string | Uint8Array,
    contentDigest: Uint8Array,
    size?: number,
    returned?: (receipt?: Receipt) => void | Promise<void>,
  ): WalrusValue {
    return new WalrusValue(typeof blobId === "string" ? Buffer.from(blobId) : blobId, contentDigest, size, returned);
  },
};

/**
 * Parses an object id: 1 to 64 hex digits, `0x` optional, padded on the left to 32 bytes.
 *
 * @throws {@link NexusDataError}
 */
export function parseObjectId(text: string): Uint8Array {
  const digits = text.startsWith("0x") ? text.slice(2) : text;
  if (!/^[0-9a-fA-F]{1,64}$/.test(digits)) {
    throw new NexusDataError("object id: expected 1 to 64 hex digits, `0x` before them optional");
  }
  return Buffer.from(digits.padStart(64, "0"), "hex");
}

/** Content of one port: one value, or 1 to 256 values that are all objects or all data. */
export class NexusData {
  private constructor(
    readonly values: readonly NexusValue[],
    readonly isMany: boolean,
  ) {
    const size = nexusDataSize(values, isMany);
    if (size > MAX_PORT_BYTES) {
      throw new NexusDataError(`NexusData: at most ${MAX_PORT_BYTES} bytes of BCS, got ${size}`);
    }
  }

  static one(value: NexusValue): NexusData {
    requireValue(value);
    return new NexusData([value], false);
  }

  /** @throws {@link NexusDataError} for no values, more than 256, or a mix of objects and data */
  static many(values: readonly NexusValue[]): NexusData {
    const got = Array.isArray(values) ? values.length : `${kindOf(values)} in place of a list`;
    if (typeof got === "string" || got < 1 || got > MAX_VALUES) {
      throw new NexusDataError(`many: expected 1 to ${MAX_VALUES} values, got ${got}`);
    }
    values.forEach(requireValue);
    if (values.some((value) => valueKind(value) !== valueKind(values[0] as NexusValue))) {
      throw new NexusDataError("many: expected all objects or all data, got both");
    }
    return new NexusData([...values], true);
  }

  /**
   * The single value, as a {@link DataRef}.
   *
   * @throws {@link NexusDataError} if there are several
   */
  nexusValue(): NexusValue {
    const [value, ...more] = this.values;
    if (more.length > 0) throw new NexusDataError(`NexusData: expected one value, got ${this.values.length}`);
    return value as NexusValue;
  }

  /** Kind of the values: objects, or data (inline or stored). */
  get kind(): ValueKind {
    return valueKind(this.values[0] as NexusValue);
  }

  /**
   * Parses the JSON form: `{"one":ITEM}` or `{"many":[ITEM,…]}`.
   *
   * @throws {@link NexusDataError}, {@link JsonError}
   */
  static fromJson(text: string | Uint8Array): NexusData {
    const document = parseJson(typeof text === "string" ? Buffer.from(text) : text);
    const members = membersOf(document, 0, "NexusData");
    const one = members.get("one");
    const many = members.get("many");
    if (members.size !== 1 || (one ?? many) === undefined) {
      throw new NexusDataError("NexusData: expected exactly one member, `one` or `many`");
    }
    if (one !== undefined) return NexusData.one(valueFrom(document, one));
    if (many === undefined || kindAt(document, many) !== ARRAY) throw new NexusDataError("many: expected an array");
    return NexusData.many(itemsOf(document, many).map((item) => valueFrom(document, item)));
  }

  /** The JSON form, with members in the order of the protocol and data as canonical text. */
  toJson(): string {
    const items = this.values.map(valueJson);
    return this.isMany ? `{"many":[${items.join(",")}]}` : `{"one":${items[0]}}`;
  }

  /** BCS(NexusData). */
  toBcs(): Uint8Array {
    return encodeNexusData(this.values, this.isMany);
  }
}

/**
 * Whether a value is an instance of a value class. Object literals of the same shape are not, because they are
 * unchecked.
 */
export function isNexusValue(value: unknown): value is NexusValue {
  return value instanceof InlineValue || value instanceof ObjectValue || value instanceof WalrusValue;
}

function requireValue(value: unknown): void {
  if (!isNexusValue(value)) throw new NexusDataError(`value: expected NexusValue.json(…), got ${kindOf(value)}`);
}

function valueKind(value: NexusValue): ValueKind {
  return value.kind === "object" ? "object" : "data";
}

/** The JSON form of a value, as an item of {@link NexusData}. */
export function valueJson(value: NexusValue): string {
  switch (value.kind) {
    case "object":
      return `{"kind":"object","id":"0x${Buffer.from(value.id).toString("hex")}"}`;
    case "inline":
      return `{"kind":"data","data":${Buffer.from(value.bytes).toString("utf8")}}`;
    case "walrus": {
      const blobId = Buffer.from(value.blobId).toString("base64");
      return `{"kind":"walrus","blob_id":"${blobId}","content_digest":"${Buffer.from(value.contentDigest).toString("base64")}"}`;
    }
  }
}

/** Tape indexes of the values of an object entry, by name. */
function membersOf(document: JsonDocument, entry: number, what: string): Map<string, number> {
  if (kindAt(document, entry) !== OBJECT) throw new NexusDataError(`${what}: expected an object`);
  return membersByName(document, entry);
}

function valueFrom(document: JsonDocument, entry: number): NexusValue {
  const members = membersOf(document, entry, "value");
  const text = (name: string): string => {
    const found = stringValueOf(document, members.get(name));
    if (found === undefined) throw new NexusDataError(`value: expected a string member \`${name}\``);
    return found;
  };
  const exactly = (...names: string[]) => {
    if (members.size !== names.length || names.some((name) => !members.has(name))) {
      throw new NexusDataError(`value: expected exactly the members ${names.join(", ")}`);
    }
  };
  const base64 = (name: string) => {
    const bytes = decodeBase64(text(name));
    if (bytes === undefined) throw new NexusDataError(`${name}: expected standard base64 with padding`);
    return bytes;
  };
  switch (text("kind")) {
    case "data":
      exactly("kind", "data");
      return new InlineValue(Uint8Array.from(textOf(document, members.get("data") as number, "canonical")));
    case "object":
      exactly("kind", "id");
      return NexusValue.object(text("id"));
    case "walrus":
      exactly("kind", "blob_id", "content_digest");
      return new WalrusValue(base64("blob_id"), base64("content_digest"));
    default:
      throw new NexusDataError("kind: expected `data`, `object` or `walrus`");
  }
}

/**
 * A result with explicit ports, for an override of `encodeOutput`. When it is returned, it is checked against the
 * contract: names, order, one or many values, kinds, sizes and the types of inline values.
 */
export class OffchainToolOutput {
  private constructor(
    readonly tag: string,
    readonly ports: readonly (readonly [name: string, data: NexusData])[],
  ) {}

  /**
   * @param tag the variant, as text or as UTF-8 bytes
   * @param ports in the order of the tool's metadata
   * @throws {@link NexusDataError} if the tag's bytes are not UTF-8
   */
  static fromPorts(
    tag: string | Uint8Array,
    ports: readonly (readonly [name: string, data: NexusData])[],
  ): OffchainToolOutput {
    return new OffchainToolOutput(
      typeof tag === "string" ? tag : tagText(tag),
      ports.map(([name, data]) => [name, data]),
    );
  }

  /**
   * A copy with other data in one port.
   *
   * @throws {@link NexusDataError} if the result has no such port
   */
  withPort(name: string, data: NexusData): OffchainToolOutput {
    if (!this.ports.some(([known]) => known === name)) {
      throw new NexusDataError(`withPort: expected one of the ports of ${JSON.stringify(this.tag)}, got another`);
    }
    return new OffchainToolOutput(
      this.tag,
      this.ports.map((port) => (port[0] === name ? [name, data] : port)),
    );
  }
}

function tagText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new NexusDataError("fromPorts: expected the tag as text or as UTF-8 bytes");
  }
}
