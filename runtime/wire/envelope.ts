/**
 * The body of a signed request: from bytes to the texts that the leader's hash commits to (protocol.md section 5).
 *
 * What is hashed and what is decoded are the same bytes: {@link SignedInput.match} gives the texts whose hash matched,
 * and nothing else of the body can be reached from them.
 */

import { decodeBase64 } from "./base64.js";
import type { PortShape } from "./bcs.js";
import { MAX_VALUES } from "./data.js";
import { WireFault } from "./fault.js";
import { sha256 } from "./hash.js";
import {
  ARRAY,
  ESCAPED_STRING,
  type Form,
  itemsOf,
  type JsonDocument,
  JsonError,
  OBJECT,
  parseJson,
  STRING,
  stringOf,
  textOf,
  uniqueMembers,
} from "./json.js";
import { InputHasher } from "./signature.js";

/** Bytes of all ports and values of a signed call (protocol.md section 1). */
export const INPUT_BUDGET = 8 * 1024 * 1024;

const fault = (details: string) => new WireFault("input_deserialization_error", details);

/** One committed text: an entry of a checked document, or bytes that are still to be read. */
export type CommittedText =
  | { readonly document: JsonDocument; readonly entry: number }
  | { readonly document: undefined; readonly bytes: Buffer };

/** One value of a port as it came: the entry of its `data`, or its decoded `bytes`. */
type Item = { readonly entry: number } | { readonly entry: undefined; readonly bytes: Buffer };

/** Reads the envelopes of one tool. */
export class EnvelopeReader {
  private readonly index: ReadonlyMap<string, number>;
  private readonly hasher: InputHasher;

  /** @param ports the tool's input ports, in schema order */
  constructor(private readonly ports: readonly PortShape[]) {
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
    const [list] = members(document, 0, "body", ["ports"]);
    if (list === undefined || document.tape[list] !== ARRAY) throw fault("ports: expected an array");
    const values = new Array<Item[] | undefined>(this.ports.length).fill(undefined);
    const budget = { left: INPUT_BUDGET };
    let place = 0;
    for (const entry of itemsOf(document, list)) {
      const at = `ports[${place++}]`;
      const [nameEntry, valueEntry] = members(document, entry, at, ["port_name", "value"]);
      const name = text(document, nameEntry);
      if (name === undefined) throw fault(`${at}.port_name: expected a string`);
      const port = this.index.get(name);
      if (port === undefined) throw fault(`${at}.port_name: the tool has no such input port`);
      const { many } = this.ports[port] as PortShape;
      if (values[port] !== undefined) throw fault(`${at}: port ${this.label(port)} is given twice`);
      if (valueEntry === undefined) throw fault(`${at}.value: missing`);
      values[port] = readValue(document, valueEntry, many, `${at}.value`, budget);
    }
    for (let port = 0; port < values.length; port++) {
      if (values[port] === undefined) throw fault(`ports: port ${this.label(port)} is missing`);
    }
    return new SignedInput(document, values as Item[][], this.hasher);
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
    if (this.hash("sent").equals(inputHash)) {
      return this.values.map((items) =>
        items.map(
          (item): CommittedText =>
            item.entry === undefined
              ? { document: undefined, bytes: item.bytes }
              : { document: this.document, entry: item.entry },
        ),
      );
    }
    const forms: Form[] = this.document.doubles ? ["canonical", "legacy"] : ["canonical"];
    for (const form of forms) {
      if (this.hash(form).equals(inputHash)) {
        return this.values.map((items) =>
          items.map((item) => ({ document: undefined, bytes: this.textOf(item, form) })),
        );
      }
    }
    return undefined;
  }

  private hash(form: Form): Buffer {
    return this.hasher.hash(this.values.map((items) => items.map((item) => sha256(this.textOf(item, form)))));
  }

  private textOf(item: Item, form: Form): Buffer {
    return item.entry === undefined ? item.bytes : textOf(this.document, item.entry, form);
  }
}

/** The entries of the members with these names, in this order; any other member is a fault. */
function members(document: JsonDocument, entry: number, at: string, names: readonly string[]): (number | undefined)[] {
  if (document.tape[entry] !== OBJECT) throw fault(`${at}: expected an object`);
  const found = new Array<number | undefined>(names.length).fill(undefined);
  for (const [key, value] of uniqueMembers(document, entry)) {
    const place = names.indexOf(stringOf(document, key));
    if (place === -1) throw fault(`${at}: expected only the members ${names.join(", ")}`);
    found[place] = value;
  }
  return found;
}

function text(document: JsonDocument, entry: number | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const kind = document.tape[entry];
  return kind === STRING || kind === ESCAPED_STRING ? stringOf(document, entry) : undefined;
}

function readValue(
  document: JsonDocument,
  entry: number,
  isMany: boolean,
  at: string,
  budget: { left: number },
): Item[] {
  const [one, many] = members(document, entry, at, ["one", "many"]);
  if (one !== undefined && many !== undefined) throw fault(`${at}: expected one of the members one, many, got both`);
  if (!isMany) {
    if (one === undefined) throw fault(`${at}: expected the member one`);
    return [readItem(document, one, `${at}.one`, budget)];
  }
  if (many === undefined) throw fault(`${at}: expected the member many`);
  if (document.tape[many] !== ARRAY) throw fault(`${at}.many: expected an array`);
  const entries = itemsOf(document, many);
  if (entries.length < 1 || entries.length > MAX_VALUES) {
    throw fault(`${at}.many: expected 1 to ${MAX_VALUES} values, got ${entries.length}`);
  }
  return entries.map((item, i) => readItem(document, item, `${at}.many[${i}]`, budget));
}

function readItem(document: JsonDocument, entry: number, at: string, budget: { left: number }): Item {
  const [kindEntry, data, base64, id] = members(document, entry, at, ["kind", "data", "bytes", "id"]);
  const kind = text(document, kindEntry);
  if (kind === "object") throw fault(`${at}: expected data, got an object id`);
  if (kind !== "data") throw fault(`${at}.kind: expected "data"`);
  if (id !== undefined || (data === undefined) === (base64 === undefined)) {
    throw fault(`${at}: expected one of the members data, bytes`);
  }
  let item: Item;
  let size: number;
  if (data !== undefined) {
    item = { entry: data };
    const { tape, spaced } = document;
    size = spaced ? textOf(document, data, "sent").length : (tape[data + 2] as number) - (tape[data + 1] as number);
  } else {
    const encoded = text(document, base64);
    const bytes = encoded === undefined ? undefined : decodeBase64(encoded);
    if (bytes === undefined) throw fault(`${at}.bytes: expected a string of standard base64 with padding`);
    item = { entry: undefined, bytes };
    size = bytes.length;
  }
  budget.left -= size;
  if (budget.left < 0) throw fault(`${at}: the input is over the budget of ${INPUT_BUDGET} bytes`);
  return item;
}
