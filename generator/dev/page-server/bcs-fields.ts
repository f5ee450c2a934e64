/** Marks the fields of BCS (protocol.md section 3), also of bytes that are no valid result: as far as they can be read. */

import type { FieldView } from "./page-api.js";

/** The fields of an OffchainToolOutput. */
export function resultFields(bytes: Uint8Array): FieldView[] {
  return marked(bytes, (reader) => {
    reader.text("tag", 0);
    reader.list("ports", 0, () => {
      reader.text("port_name", 1);
      reader.list("values", 1, () => value(reader, 2));
    });
  });
}

/** The fields of the hashed input: the domain, then the commitments of the ports. */
export function hashedFields(bytes: Uint8Array, domain: string): FieldView[] {
  return marked(bytes, (reader) => {
    reader.fixed("domain", domain.length, 0, (part) => part.toString("latin1"));
    reader.list("ports", 0, () => {
      reader.text("port_name", 1);
      const many = reader.choice("commitment", 1, ["One", "Many"]) === 1;
      reader.choice("kind", 2, ["Object", "Data"]);
      if (many) reader.list("commitments", 2, () => reader.bytes("commitment", 3));
      else reader.bytes("commitment", 2);
    });
  });
}

function value(reader: Reader, depth: number): void {
  switch (reader.choice("value", depth, ["Object", "InlineData", "WalrusData"])) {
    case 0:
      reader.fixed("id", 32, depth + 1, hex);
      return;
    case 1:
      reader.text("bytes", depth + 1);
      return;
    default:
      reader.text("blob_id", depth + 1);
      reader.bytes("content_digest", depth + 1);
  }
}

function marked(bytes: Uint8Array, read: (reader: Reader) => void): FieldView[] {
  const reader = new Reader(Buffer.from(bytes));
  try {
    read(reader);
    reader.rest("beyond the end");
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    reader.rest("not readable");
  }
  return reader.fields;
}

/** Characters of a value that are shown. */
const MAX_SHOWN = 400;

function hex(part: Buffer): string {
  return part.toString("hex");
}

function utf8(part: Buffer): string {
  return part.length > MAX_SHOWN ? `${part.toString("utf8", 0, MAX_SHOWN)}…` : part.toString("utf8");
}

class Reader {
  readonly fields: FieldView[] = [];
  private at = 0;

  constructor(private readonly source: Buffer) {}

  list(name: string, depth: number, item: () => void): void {
    const from = this.at;
    const count = this.uleb();
    this.mark(from, name, `${count} item${count === 1 ? "" : "s"}`, depth);
    for (let i = 0; i < count; i++) item();
  }

  text(name: string, depth: number): void {
    this.prefixed(name, depth, utf8);
  }

  bytes(name: string, depth: number): void {
    this.prefixed(name, depth, hex);
  }

  fixed(name: string, length: number, depth: number, show: (part: Buffer) => string): void {
    const from = this.at;
    this.mark(from, name, show(this.take(length)), depth);
  }

  /** The number of an enum's variant. */
  choice(name: string, depth: number, variants: readonly string[]): number {
    const from = this.at;
    const index = this.uleb();
    const variant = variants[index];
    if (variant === undefined) throw new RangeError("no such variant");
    this.mark(from, name, `${index} ${variant}`, depth);
    return index;
  }

  rest(name: string): void {
    // A field that was read in part is not marked.
    const last = this.fields.at(-1);
    const from = last === undefined ? 0 : last.at + last.length;
    if (from >= this.source.length) return;
    this.at = this.source.length;
    this.mark(from, name, `${this.source.length - from} bytes`, 0);
  }

  private prefixed(name: string, depth: number, show: (part: Buffer) => string): void {
    const from = this.at;
    const part = this.take(this.uleb());
    this.mark(from, name, show(part), depth);
  }

  private mark(from: number, name: string, value: string, depth: number): void {
    this.fields.push({ at: from, length: this.at - from, name, value, depth });
  }

  private take(length: number): Buffer {
    if (this.at + length > this.source.length) throw new RangeError("too short");
    this.at += length;
    return this.source.subarray(this.at - length, this.at);
  }

  private uleb(): number {
    let value = 0;
    for (let shift = 0; shift <= 28; shift += 7) {
      const byte = this.take(1)[0] as number;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError("too long a number");
  }
}
