/**
 * The BCS layouts of the protocol (protocol.md section 3). The only file that sees @mysten/bcs.
 *
 * Layouts that are read, or written once in a while, are declared with @mysten/bcs and wrapped: exact length, canonical
 * form. The two that every call writes have a writer by hand, proved equal to the declared layout in the tests.
 */

import { bcs } from "@mysten/bcs";

/** What the values of a port are: object ids, or data. */
export type ValueKind = "object" | "data";

const VALUE_KIND = { object: 0, data: 1 } as const;

const Bytes = bcs.byteVector();
const Kind = bcs.u8().transform({
  input: (kind: ValueKind) => VALUE_KIND[kind],
  output: (index): ValueKind => {
    if (index > 1) throw new RangeError("value kind: expected 0 or 1");
    return index === 0 ? "object" : "data";
  },
});

const Value = bcs.enum("NexusValue", {
  Object: bcs.fixedArray(32, bcs.u8()).transform({
    input: (id: Uint8Array) => [...id],
    output: (id) => Uint8Array.from(id),
  }),
  InlineData: Bytes,
  WalrusData: bcs.struct("WalrusData", { blob_id: Bytes, content_digest: Bytes }),
});

const Data = bcs.enum("NexusData", { One: Value, Many: bcs.vector(Value) });

const Commitment = bcs.enum("PortCommitment", {
  One: bcs.struct("One", { kind: Kind, commitment: Bytes }),
  Many: bcs.struct("Many", { kind: Kind, commitments: bcs.vector(Bytes) }),
});

const InputPreimage = bcs.vector(bcs.struct("PortInput", { port_name: Bytes, commitment: Commitment }));

const SchemaPort = bcs.struct("PortSchema", { port_name: Bytes, is_many: bcs.bool(), value_kind: Kind });

const Schema = bcs.struct("MetaSchema", {
  input_ports: bcs.vector(SchemaPort),
  output_variants: bcs.vector(bcs.struct("OutputVariant", { variant_name: Bytes, ports: bcs.vector(SchemaPort) })),
});

const Output = bcs.struct("OffchainToolOutput", {
  tag: Bytes,
  ports: bcs.vector(bcs.struct("PortOutput", { port_name: Bytes, values: bcs.vector(Value) })),
});

const NoncePreimage = bcs.struct("NoncePreimage", {
  execution_id: bcs.bytes(32),
  walk_index: bcs.u64(),
  vertex_name: Bytes,
  iteration: bcs.u64(),
});

const U64_MAX = 2n ** 64n - 1n;

/** A u64 that is one: @mysten/bcs would take `NaN`, `1.5` and `"7"`. */
function u64(name: string, value: bigint): bigint {
  if (typeof value !== "bigint" || value < 0n || value > U64_MAX) {
    throw new RangeError(`${name}: expected a bigint from 0 to 2^64-1`);
  }
  return value;
}

/** Bytes of an exact length. */
export function exactBytes(name: string, value: Uint8Array, length: number): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length !== length) {
    const got = value instanceof Uint8Array ? `${value.length}` : typeof value;
    throw new RangeError(`${name}: expected ${length} bytes, got ${got}`);
  }
  return value;
}

/** One port as the chain sees it. */
export interface PortShape {
  readonly name: string;
  readonly many: boolean;
}

/** One output variant as the chain sees it. */
export interface VariantShape {
  readonly name: string;
  readonly ports: readonly PortShape[];
}

/** The ports of a tool, in schema order; svc-gen makes data ports only. */
export interface MetaSchema {
  readonly inputPorts: readonly PortShape[];
  readonly outputVariants: readonly VariantShape[];
}

const ascii = (text: string) => Buffer.from(text, "latin1");

/** BCS of the port schema of a tool. */
export function encodeMetaSchema({ inputPorts, outputVariants }: MetaSchema): Uint8Array {
  const port = ({ name, many }: PortShape) => ({ port_name: ascii(name), is_many: many, value_kind: "data" as const });
  return Schema.serialize({
    input_ports: inputPorts.map(port),
    output_variants: outputVariants.map(({ name, ports }) => ({ variant_name: ascii(name), ports: ports.map(port) })),
  }).toBytes();
}

/** One value by its fields; whether they are allowed is checked where values are made (data.ts). */
export type RawValue =
  | { readonly kind: "object"; readonly id: Uint8Array }
  | { readonly kind: "inline"; readonly bytes: Uint8Array }
  | { readonly kind: "walrus"; readonly blobId: Uint8Array; readonly contentDigest: Uint8Array };

function valueInput(value: RawValue) {
  switch (value.kind) {
    case "object":
      return { Object: value.id };
    case "inline":
      return { InlineData: value.bytes };
    case "walrus":
      return { WalrusData: { blob_id: value.blobId, content_digest: value.contentDigest } };
  }
}

/** BCS of one NexusData, its variant byte counted. */
export function encodeNexusData(values: readonly RawValue[], many: boolean): Uint8Array {
  const inputs = values.map(valueInput);
  const [first] = inputs;
  if (many) return Data.serialize({ Many: inputs }).toBytes();
  if (first === undefined || inputs.length !== 1) throw new RangeError(`one: expected one value, got ${inputs.length}`);
  return Data.serialize({ One: first }).toBytes();
}

/** The commitment of one port: a 32-byte hash for each of its values. */
export interface PortCommitment {
  readonly many: boolean;
  readonly kind: ValueKind;
  readonly commitments: readonly Uint8Array[];
}

function commitmentInput({ many, kind, commitments }: PortCommitment) {
  const [commitment] = commitments;
  if (many) return { Many: { kind, commitments: [...commitments] } };
  if (commitment === undefined || commitments.length !== 1) {
    throw new RangeError(`one: expected one commitment, got ${commitments.length}`);
  }
  return { One: { kind, commitment } };
}

/** BCS of one port commitment. */
export function encodePortCommitment(commitment: PortCommitment): Uint8Array {
  return Commitment.serialize(commitmentInput(commitment)).toBytes();
}

/** BCS of the commitments of all input ports, in port order: what the input hash is made of. The declared layout. */
export function encodeInputPreimage(ports: readonly { name: string; commitment: PortCommitment }[]): Uint8Array {
  return InputPreimage.serialize(
    ports.map(({ name, commitment }) => ({ port_name: ascii(name), commitment: commitmentInput(commitment) })),
  ).toBytes();
}

/** What an invocation nonce is made of (protocol.md section 4). */
export interface Invocation {
  /** 32 bytes. */
  readonly executionId: Uint8Array;
  readonly walkIndex: bigint;
  readonly vertexName: string;
  readonly iteration: bigint;
}

/** BCS of the nonce preimage. */
export function encodeNoncePreimage({ executionId, walkIndex, vertexName, iteration }: Invocation): Uint8Array {
  return NoncePreimage.serialize({
    execution_id: exactBytes("execution id", executionId, 32),
    walk_index: u64("walk index", walkIndex),
    vertex_name: Buffer.from(vertexName),
    iteration: u64("iteration", iteration),
  }).toBytes();
}

/** A result as it goes over the wire: names and values in order. */
export interface RawOutput {
  readonly tag: string;
  readonly ports: readonly { readonly name: string; readonly values: readonly RawValue[] }[];
}

/** BCS of a result by the declared layout; {@link encodeOutput} gives the same bytes faster. */
export function encodeOutputDeclared({ tag, ports }: RawOutput): Uint8Array {
  return Output.serialize({
    tag: ascii(tag),
    ports: ports.map(({ name, values }) => ({ port_name: ascii(name), values: values.map(valueInput) })),
  }).toBytes();
}

/**
 * Reads a result.
 *
 * @throws RangeError when the bytes are not exactly one result in canonical BCS
 */
export function decodeOutput(bytes: Uint8Array): {
  tag: string;
  ports: { name: string; values: RawValue[] }[];
} {
  let parsed: ReturnType<typeof Output.parse>;
  try {
    parsed = Output.parse(bytes);
    if (!Buffer.from(Output.serialize(parsed).toBytes()).equals(bytes)) throw new RangeError("not canonical");
  } catch {
    throw new RangeError("result: expected exactly one OffchainToolOutput in canonical BCS");
  }
  const text = (name: ArrayLike<number>) => Buffer.from(name).toString("latin1");
  return {
    tag: text(parsed.tag),
    ports: parsed.ports.map(({ port_name, values }) => ({
      name: text(port_name),
      values: values.map((value): RawValue => {
        if (value.Object) return { kind: "object", id: value.Object };
        if (value.InlineData) return { kind: "inline", bytes: Uint8Array.from(value.InlineData) };
        return {
          kind: "walrus",
          blobId: Uint8Array.from(value.WalrusData?.blob_id ?? []),
          contentDigest: Uint8Array.from(value.WalrusData?.content_digest ?? []),
        };
      }),
    })),
  };
}

/** Bytes that {@link writeLength} needs for a length. */
export function lengthSize(length: number): number {
  return length < 0x80 ? 1 : length < 0x4000 ? 2 : length < 0x20_0000 ? 3 : length < 0x1000_0000 ? 4 : 5;
}

/** Writes a length as ULEB128; gives the position after it. */
export function writeLength(target: Buffer, at: number, length: number): number {
  let rest = length;
  let position = at;
  while (rest >= 0x80) {
    target[position++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[position++] = rest;
  return position;
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

/** Bytes of BCS(NexusData) of a port's values. */
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

function writeText(target: Buffer, at: number, text: string): number {
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

/** BCS of a result, written into one buffer of its exact size. Names are ASCII. */
export function encodeOutput({ tag, ports }: RawOutput): Buffer {
  let size = lengthSize(tag.length) + tag.length + lengthSize(ports.length);
  for (const { name, values } of ports) {
    size += lengthSize(name.length) + name.length + lengthSize(values.length);
    for (const value of values) size += valueSize(value);
  }
  const target = Buffer.allocUnsafeSlow(size);
  let at = writeLength(target, writeText(target, 0, tag), ports.length);
  for (const { name, values } of ports) {
    at = writeLength(target, writeText(target, at, name), values.length);
    for (const value of values) at = writeValue(target, at, value);
  }
  return target;
}
