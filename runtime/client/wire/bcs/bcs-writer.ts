/**
 * Hand-written BCS encoders for servers (protocol.md section 3), which then need not load @mysten/bcs. Tests compare
 * each encoder with the layout declared in bcs.ts.
 */

import { Buffer } from "#platform/bytes";
import type { RawOutput, RawValue } from "./bcs-shapes.js";

/**
 * Returns the bytes if they have this length.
 *
 * @throws RangeError for another length
 */
export function exactBytes(name: string, value: Uint8Array, length: number): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length !== length) {
    const got = value instanceof Uint8Array ? `${value.length}` : typeof value;
    throw new RangeError(`${name}: expected ${length} bytes, got ${got}`);
  }
  return value;
}

/** Encoded size of a length, in bytes. */
function lengthSize(length: number): number {
  return length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : length < 0x1000_0000 ? 4 : 5;
}

/** Writes a length as ULEB128 and returns the position after it. */
function writeLength(target: Buffer, at: number, length: number): number {
  let rest = length;
  let position = at;
  while (rest >= 0x80) {
    target[position++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[position++] = rest;
  return position;
}

/** A length as ULEB128. */
export function lengthBytes(length: number): Buffer {
  const bytes = Buffer.alloc(lengthSize(length));
  writeLength(bytes, 0, length);
  return bytes;
}

function valueSize(value: RawValue): number {
  switch (value.kind) {
    case "object":
      return 33;
    case "inline":
      return 1 + lengthSize(value.bytes.length) + value.bytes.length;
    case "walrus":
      return 1 + 1 + value.blobId.length + 1 + value.contentDigest.length;
  }
}

/** Size, in bytes, of BCS(NexusData) of a port's values. */
export function nexusDataSize(values: readonly RawValue[], many: boolean): number {
  let size = many ? 1 + lengthSize(values.length) : 1;
  for (const value of values) size += valueSize(value);
  return size;
}

function writeBytes(target: Buffer, at: number, bytes: Uint8Array): number {
  const position = writeLength(target, at, bytes.length);
  target.set(bytes, position);
  return position + bytes.length;
}

/** Writes a name, which is ASCII. */
function writeName(target: Buffer, at: number, text: string): number {
  const position = writeLength(target, at, text.length);
  return position + target.write(text, position, "latin1");
}

function writeValue(target: Buffer, at: number, value: RawValue): number {
  switch (value.kind) {
    case "object":
      target[at] = 0;
      target.set(value.id, at + 1);
      return at + 33;
    case "inline":
      target[at] = 1;
      return writeBytes(target, at + 1, value.bytes);
    case "walrus":
      target[at] = 2;
      return writeBytes(target, writeBytes(target, at + 1, value.blobId), value.contentDigest);
  }
}

/** BCS of a result. Names are ASCII. */
export function encodeOutput({ tag, ports }: RawOutput): Buffer {
  let size = lengthSize(tag.length) + tag.length + lengthSize(ports.length);
  for (const { name, values } of ports) {
    size += lengthSize(name.length) + name.length + lengthSize(values.length);
    for (const value of values) size += valueSize(value);
  }
  const target = Buffer.allocUnsafe(size);
  let at = writeLength(target, writeName(target, 0, tag), ports.length);
  for (const { name, values } of ports) {
    at = writeLength(target, writeName(target, at, name), values.length);
    for (const value of values) at = writeValue(target, at, value);
  }
  return target;
}

/** BCS of one NexusData, including the variant byte. */
export function encodeNexusData(values: readonly RawValue[], many: boolean): Uint8Array {
  if (!many && values.length !== 1) throw new RangeError(`one: expected one value, got ${values.length}`);
  const target = Buffer.allocUnsafeSlow(nexusDataSize(values, many));
  target[0] = many ? 1 : 0;
  let at = many ? writeLength(target, 1, values.length) : 1;
  for (const value of values) at = writeValue(target, at, value);
  return new Uint8Array(target.buffer);
}
