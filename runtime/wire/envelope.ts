/**
 * The body of a signed request: from bytes to the texts that the leader's hash commits to (protocol.md section 5).
 *
 * What is hashed and what is decoded are the same bytes: {@link SignedInput.match} gives the texts whose hash matched,
 * and nothing else of the body can be reached from them.
 */

import { decodeBase64 } from "./base64.js";
import type { PortShape } from "./bcs-shapes.js";
import { MAX_VALUES } from "./data.js";
import { pathText, WireFault } from "./fault.js";
import { passingSha256 } from "./hash.js";
import {
  ARRAY,
  ESCAPED_STRING,
  type Form,
  isStringOf,
  itemsOf,
  type JsonDocument,
  OBJECT,
  parseJson,
  STRIDE,
  STRING,
  stringOf,
  textOf,
} from "./json.js";
import { JsonError } from "./json-error.js";
import { InputHasher } from "./signature.js";

/** Bytes of all ports and values of a signed call (protocol.md section 1). */
export const INPUT_BUDGET = 8 * 1024 * 1024;

const fault = (details: string) => new WireFault("input_deserialization_error", details);

/** One committed text: an entry of a checked document, or bytes that are still to be read. */
export type CommittedText =
  | { readonly document: JsonDocument; readonly entry: number }
  | { readonly document: undefined; readonly bytes: Buffer };

/** The bytes of a committed text: what an input decoder reads from them is what it reads from the text itself. */
export function committedBytes(text: CommittedText): Buffer {
  return text.document === undefined ? text.bytes : textOf(text.document, text.entry, "sent");
}

/** One value of a port as it came: the entry of its `data`, or its decoded `bytes`. */
type Item = { readonly entry: number } | { readonly entry: undefined; readonly bytes: Buffer };

/** Reads the envelopes of one tool. */
export class EnvelopeReader {
  private readonly names: readonly Buffer[];
  private readonly index: ReadonlyMap<string, number>;
  private readonly hasher: InputHasher;

  /** @param ports the tool's input ports, in schema order */
  constructor(private readonly ports: readonly PortShape[]) {
    this.names = ports.map(({ name }) => Buffer.from(name));
    this.index = new Map(ports.map(({ name }, i) => [name, i]));
    this.hasher = new InputHasher(ports);
  }

  /**
   * Reads a body: every port once, its values in place, within the budget. Values are not decoded yet.
   *
   * @throws {@link WireFault} `input_deserialization_error`, with the place of the fault
   */
  read(body: Uint8Array): SignedInput {
    let document: JsonDocument;
    try {
      document = parseJson(body);
    } catch (error) {
      if (error instanceof JsonError) throw fault(`body: ${error.message}`);
      throw error;
    }
    const [list] = BODY.find(document, 0, undefined);
    if (list === undefined || document.tape[list] !== ARRAY) throw fault("ports: expected an array");
    const { tape } = document;
    const values: (Item[] | undefined)[] = this.ports.map(() => undefined);
    const budget = { left: INPUT_BUDGET };
    const ports: Place = { up: undefined, step: "ports" };
    const end = tape[list + 3] as number;
    for (let entry = list + STRIDE, i = 0; entry < end; entry = tape[entry + 3] as number, i++) {
      const at: Place = { up: ports, step: i };
      const [nameEntry, valueEntry] = PORT.find(document, entry, at);
      const port = this.portOf(document, nameEntry, i, at);
      if (port === undefined) throw fault(`${placeText(at)}.port_name: the tool has no such input port`);
      const { many } = this.ports[port] as PortShape;
      if (values[port] !== undefined) throw fault(`${placeText(at)}: port ${this.label(port)} is given twice`);
      if (valueEntry === undefined) throw fault(`${placeText(at)}.value: missing`);
      values[port] = readValue(document, valueEntry, many, { up: at, step: "value" }, budget);
    }
    for (let port = 0; port < values.length; port++) {
      if (values[port] === undefined) throw fault(`ports: port ${this.label(port)} is missing`);
    }
    return new SignedInput(document, values as Item[][], this.hasher);
  }

  /** The port that an entry names. Most leaders send them in schema order: then comparing bytes is enough. */
  private portOf(document: JsonDocument, entry: number | undefined, i: number, at: Place): number | undefined {
    const next = this.names[i];
    if (next !== undefined && entry !== undefined && isStringOf(document, entry, next)) return i;
    const name = text(document, entry);
    if (name === undefined) throw fault(`${placeText(at)}.port_name: expected a string`);
    return this.index.get(name);
  }

  private label(port: number): string {
    return JSON.stringify(this.ports[port]?.name);
  }
}

/** The values of a body, in port order. */
export class SignedInput {
  constructor(
    private readonly document: JsonDocument,
    private readonly values: readonly (readonly Item[])[],
    private readonly hasher: InputHasher,
  ) {}

  /**
   * Compares the hash of the values with the one that the leader signed: as sent, canonical, and canonical with the
   * numbers of older leaders; each time one form for all values.
   *
   * @param inputHash 32 bytes
   * @returns the texts whose hash it is, in port order; undefined when it is none of them
   */
  match(inputHash: Uint8Array): readonly (readonly CommittedText[])[] | undefined {
    const sent = (item: Item) => passingSha256(this.textOf(item, "sent"));
    if (this.hasher.hashOf(this.values, sent).equals(inputHash)) {
      return this.values.map((items) =>
        items.map(
          (item): CommittedText =>
            item.entry === undefined
              ? { document: undefined, bytes: item.bytes }
              : { document: this.document, entry: item.entry },
        ),
      );
    }
    for (const form of ["canonical", "legacy"] as const) {
      const texts = this.values.map((items) =>
        items.map((item) => ({ document: undefined, bytes: this.textOf(item, form) })),
      );
      if (this.hasher.hashOf(texts, ({ bytes }) => passingSha256(bytes)).equals(inputHash)) return texts;
      // Without an exponent of this kind the older spelling is the same.
      if (!texts.some((items) => items.some(({ bytes }) => bytes.includes("e+")))) break;
    }
    return undefined;
  }

  private textOf(item: Item, form: Form): Buffer {
    return item.entry === undefined ? item.bytes : textOf(this.document, item.entry, form);
  }
}

/** A place in the body, written out only for a fault. */
interface Place {
  readonly up: Place | undefined;
  readonly step: string | number;
}

function placeText(place: Place | undefined): string {
  if (place === undefined) return "body";
  const steps: (string | number)[] = [];
  for (let at: Place | undefined = place; at !== undefined; at = at.up) steps.unshift(at.step);
  return pathText(steps);
}

/** The members that an object of the envelope may have. Names are compared as bytes: a text is made of an odd one only. */
class Members {
  private readonly bytes: readonly Buffer[];

  constructor(private readonly names: readonly string[]) {
    this.bytes = names.map((name) => Buffer.from(name));
  }

  /**
   * The entries of the members, in the order of the names; the last of a repeated one.
   *
   * @throws {@link WireFault} for another member, and for what is no object
   */
  find(document: JsonDocument, entry: number, at: Place | undefined): (number | undefined)[] {
    const { tape } = document;
    if (tape[entry] !== OBJECT) throw fault(`${placeText(at)}: expected an object`);
    const found: (number | undefined)[] = [undefined, undefined, undefined, undefined];
    const end = tape[entry + 3] as number;
    for (let key = entry + STRIDE; key < end; ) {
      const value = key + STRIDE;
      const name = this.indexOf(document, key);
      if (name === -1) throw fault(`${placeText(at)}: expected only the members ${this.names.join(", ")}`);
      found[name] = value;
      key = tape[value + 3] as number;
    }
    return found;
  }

  private indexOf(document: JsonDocument, key: number): number {
    if (document.tape[key] === ESCAPED_STRING) return this.names.indexOf(stringOf(document, key));
    for (let i = 0; i < this.bytes.length; i++) if (isStringOf(document, key, this.bytes[i] as Buffer)) return i;
    return -1;
  }
}

const BODY = new Members(["ports"]);
const PORT = new Members(["port_name", "value"]);
const VALUE = new Members(["one", "many"]);
const ITEM = new Members(["kind", "data", "bytes", "id"]);
const DATA = Buffer.from("data");

function text(document: JsonDocument, entry: number | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const kind = document.tape[entry];
  return kind === STRING || kind === ESCAPED_STRING ? stringOf(document, entry) : undefined;
}

/** The bytes of a string entry of base64. */
function decoded(document: JsonDocument, entry: number | undefined): Buffer | undefined {
  const { bytes, tape } = document;
  // Byte for byte, which is faster: what is not ASCII is no base64 this way either.
  const encoded =
    entry !== undefined && tape[entry] === STRING
      ? bytes.toString("latin1", (tape[entry + 1] as number) + 1, (tape[entry + 2] as number) - 1)
      : text(document, entry);
  return encoded === undefined ? undefined : decodeBase64(encoded);
}

function readValue(
  document: JsonDocument,
  entry: number,
  isMany: boolean,
  at: Place,
  budget: { left: number },
): Item[] {
  const [one, many] = VALUE.find(document, entry, at);
  if (one !== undefined && many !== undefined) {
    throw fault(`${placeText(at)}: expected one of the members one, many, got both`);
  }
  if (!isMany) {
    if (one === undefined) throw fault(`${placeText(at)}: expected the member one`);
    return [readItem(document, one, { up: at, step: "one" }, budget)];
  }
  if (many === undefined) throw fault(`${placeText(at)}: expected the member many`);
  const list: Place = { up: at, step: "many" };
  if (document.tape[many] !== ARRAY) throw fault(`${placeText(list)}: expected an array`);
  const entries = itemsOf(document, many);
  if (entries.length < 1 || entries.length > MAX_VALUES) {
    throw fault(`${placeText(list)}: expected 1 to ${MAX_VALUES} values, got ${entries.length}`);
  }
  return entries.map((item, i) => readItem(document, item, { up: list, step: i }, budget));
}

function readItem(document: JsonDocument, entry: number, at: Place, budget: { left: number }): Item {
  const [kindEntry, data, base64, id] = ITEM.find(document, entry, at);
  if (kindEntry === undefined || !isStringOf(document, kindEntry, DATA)) {
    const kind = text(document, kindEntry);
    if (kind === "object") throw fault(`${placeText(at)}: expected data, got an object id`);
    if (kind !== "data") throw fault(`${placeText(at)}.kind: expected "data"`);
  }
  if (id !== undefined || (data === undefined) === (base64 === undefined)) {
    throw fault(`${placeText(at)}: expected one of the members data, bytes`);
  }
  let item: Item;
  let size: number;
  if (data !== undefined) {
    item = { entry: data };
    const { tape, spaced } = document;
    size = spaced ? textOf(document, data, "sent").length : (tape[data + 2] as number) - (tape[data + 1] as number);
  } else {
    const bytes = decoded(document, base64);
    if (bytes === undefined) throw fault(`${placeText(at)}.bytes: expected a string of standard base64 with padding`);
    item = { entry: undefined, bytes };
    size = bytes.length;
  }
  budget.left -= size;
  if (budget.left < 0) throw fault(`${placeText(at)}: the input is over the budget of ${INPUT_BUDGET} bytes`);
  return item;
}
