/** Reads the body of a signed request (protocol.md section 5). */

import { decodeBase64 } from "../base64.js";
import type { PortShape } from "../bcs/bcs-shapes.js";
import { MemberNames } from "../codec/member-names.js";
import { inputFault, type Path, pathText, type WireFault } from "../fault.js";
import {
  ARRAY,
  after,
  endAt,
  firstIn,
  itemsOf,
  type JsonDocument,
  kindAt,
  OBJECT,
  startAt,
  valueOfKey,
} from "../json/document.js";
import { JsonError } from "../json/error.js";
import { textOf } from "../json/print.js";
import { stringValueOf } from "../json/read.js";
import { INPUT_BUDGET, MAX_VALUES } from "../protocol.js";
import { InputHasher } from "../signature/input-hash.js";
import { type Item, SignedInput } from "./committed-texts.js";
import { InputValues } from "./input-values.js";

/** Bytes that the values may still take, and whether an item so far had `bytes`. */
interface Budget {
  left: number;
  isEncoded: boolean;
}

/** Maximum number of input ports that a message names. */
const MAX_NAMED_PORTS = 8;

/** Reads the envelopes of one tool. */
export class EnvelopeReader {
  readonly #names: MemberNames;
  readonly #hasher: InputHasher;

  readonly #ports: readonly PortShape[];

  /** @param ports the tool's input ports, in schema order */
  constructor(ports: readonly PortShape[]) {
    this.#ports = ports;
    this.#names = new MemberNames(ports.map(({ name }) => name));
    this.#hasher = new InputHasher(ports);
  }

  /**
   * Reads a body that has every port exactly once, within the budget. Locates values without decoding them.
   *
   * @param counted counts the values of the body, and later those of the texts in it
   * @throws {@link WireFault} `input_deserialization_error` with a path; `payload_too_large`
   */
  read(body: Uint8Array, counted = new InputValues()): SignedInput {
    let document: JsonDocument;
    try {
      document = counted.parse(body);
    } catch (error) {
      if (error instanceof JsonError) throw inputFault(`body: ${error.message}`);
      throw error;
    }
    const [list] = BODY.find(document, 0, []);
    if (list === undefined || kindAt(document, list) !== ARRAY) throw inputFault("ports: expected an array");
    const values: (Item[] | undefined)[] = this.#ports.map(() => undefined);
    const budget: Budget = { left: INPUT_BUDGET, isEncoded: false };
    const end = after(document, list);
    for (let entry = firstIn(list), i = 0; entry < end; entry = after(document, entry), i++) {
      const at = ["ports", i];
      const [nameEntry, valueEntry] = PORT.find(document, entry, at);
      const port = this.#portOf(document, nameEntry, i, at);
      const { many } = this.#ports[port] as PortShape;
      if (values[port] !== undefined) throw faultAt(at, `: port ${this.#label(port)} is given twice`);
      if (valueEntry === undefined) throw faultAt(at, ".value: missing");
      values[port] = readValue(document, valueEntry, many, [...at, "value"], budget);
    }
    for (let port = 0; port < values.length; port++) {
      if (values[port] === undefined) throw inputFault(`ports: port ${this.#label(port)} is missing`);
    }
    return new SignedInput(document, values as Item[][], this.#hasher, budget.isEncoded ? counted : undefined);
  }

  /** Index of the named port. Most leaders send ports in schema order, so the expected name is compared first. */
  #portOf(document: JsonDocument, entry: number | undefined, i: number, at: Path): number {
    const port = entry === undefined ? -1 : this.#names.indexOf(document, entry, i);
    if (port >= 0) return port;
    const isString = stringValueOf(document, entry) !== undefined;
    throw faultAt(at, `.port_name: ${isString ? this.#undeclared() : "expected a string"}`);
  }

  #undeclared(): string {
    if (this.#ports.length === 0) return "the tool has no input ports";
    const names = this.#ports.slice(0, MAX_NAMED_PORTS).map((_, i) => this.#label(i));
    const more = this.#ports.length > MAX_NAMED_PORTS ? ", …" : "";
    return `the tool has no such input port (the input ports are: ${names.join(", ")}${more})`;
  }

  #label(port: number): string {
    return JSON.stringify(this.#ports[port]?.name);
  }
}

/** Fault at a place of the body. */
const faultAt = (path: Path, what: string): WireFault => inputFault(`${pathText(path) || "body"}${what}`);

/** Allowed members of an envelope object. */
class AllowedMembers {
  readonly #names: MemberNames;
  readonly #all: string;

  constructor(...names: readonly string[]) {
    this.#names = new MemberNames(names);
    this.#all = names.join(", ");
  }

  /**
   * Entries of the members, in the order of the allowed names. A repeated member has its last entry.
   *
   * @throws {@link WireFault} for an unknown member, or if the entry is not an object
   */
  find(document: JsonDocument, entry: number, at: Path): (number | undefined)[] {
    if (kindAt(document, entry) !== OBJECT) throw faultAt(at, ": expected an object");
    const found: (number | undefined)[] = [undefined, undefined, undefined, undefined];
    const end = after(document, entry);
    for (let key = firstIn(entry), next = 0; key < end; next++) {
      const value = valueOfKey(key);
      const name = this.#names.indexOf(document, key, next);
      if (name === -1) throw faultAt(at, `: expected only the members ${this.#all}`);
      found[name] = value;
      key = after(document, value);
    }
    return found;
  }
}

const BODY = new AllowedMembers("ports");
const PORT = new AllowedMembers("port_name", "value");
const VALUE = new AllowedMembers("one", "many");
const ITEM = new AllowedMembers("kind", "data", "bytes", "id");

function readValue(document: JsonDocument, entry: number, isMany: boolean, at: Path, budget: Budget): Item[] {
  const [one, many] = VALUE.find(document, entry, at);
  if (one !== undefined && many !== undefined) {
    throw faultAt(at, ": expected one of the members one, many, got both");
  }
  if (!isMany) {
    if (one === undefined) throw faultAt(at, ": expected the member one");
    return [readItem(document, one, [...at, "one"], budget)];
  }
  if (many === undefined) throw faultAt(at, ": expected the member many");
  const list = [...at, "many"];
  if (kindAt(document, many) !== ARRAY) throw faultAt(list, ": expected an array");
  const entries = itemsOf(document, many);
  if (entries.length < 1 || entries.length > MAX_VALUES) {
    throw faultAt(list, `: expected 1 to ${MAX_VALUES} values, got ${entries.length}`);
  }
  return entries.map((item, i) => readItem(document, item, [...list, i], budget));
}

function readItem(document: JsonDocument, entry: number, at: Path, budget: Budget): Item {
  const [kindEntry, data, base64, id] = ITEM.find(document, entry, at);
  const kind = stringValueOf(document, kindEntry);
  if (kind === "object") throw faultAt(at, ": expected data, got an object id");
  if (kind !== "data") throw faultAt(at, '.kind: expected "data"');
  if (id !== undefined || (data === undefined) === (base64 === undefined)) {
    throw faultAt(at, ": expected one of the members data, bytes");
  }
  let item: Item;
  let size: number;
  if (data !== undefined) {
    item = { entry: data };
    const { spaced } = document;
    size = spaced ? textOf(document, data, "sent").length : endAt(document, data) - startAt(document, data);
  } else {
    const encoded = stringValueOf(document, base64);
    const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
    if (bytes === undefined) throw faultAt(at, ".bytes: expected a string of standard base64 with padding");
    item = { entry: undefined, bytes };
    budget.isEncoded = true;
    size = bytes.length;
  }
  budget.left -= size;
  if (budget.left < 0) throw faultAt(at, `: the input is over the budget of ${INPUT_BUDGET} bytes`);
  return item;
}
