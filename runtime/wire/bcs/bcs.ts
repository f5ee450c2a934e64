/**
 * The BCS layouts of the protocol (protocol.md section 3), declared with @mysten/bcs and restricted to exact lengths
 * and canonical form. No other file imports @mysten/bcs: a server uses the hand-written bcs-writer.ts.
 */

import { bcs } from "@mysten/bcs";
import { Buffer } from "#platform/bytes";
import { asBuffer } from "../bytes.js";
import { MAX_U64 } from "../decode/integer-bounds.js";
import type { MetaSchema, PortCommitment, PortShape, RawOutput, RawValue, ValueKind } from "./bcs-shapes.js";
import { exactBytes } from "./bcs-writer.js";

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

/** Checks a u64: @mysten/bcs accepts `NaN`, `1.5` and `"7"`. */
function u64(name: string, value: bigint): bigint {
  if (typeof value !== "bigint" || value < 0n || value > MAX_U64) {
    throw new RangeError(`${name}: expected a bigint from 0 to 2^64-1`);
  }
  return value;
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

/** BCS of one NexusData by the declared layout. */
export function encodeNexusDataDeclared(values: readonly RawValue[], many: boolean): Uint8Array {
  const inputs = values.map(valueInput);
  const [first] = inputs;
  if (many) return Data.serialize({ Many: inputs }).toBytes();
  if (first === undefined || inputs.length !== 1) throw new RangeError(`one: expected one value, got ${inputs.length}`);
  return Data.serialize({ One: first }).toBytes();
}

function commitmentInput({ many, kind, commitments }: PortCommitment) {
  const [commitment] = commitments;
  if (many) return { Many: { kind, commitments: [...commitments] } };
  if (commitment === undefined || commitments.length !== 1) {
    throw new RangeError(`one: expected one commitment, got ${commitments.length}`);
  }
  return { One: { kind, commitment } };
}

/** BCS of one port commitment by the declared layout. */
export function encodePortCommitmentDeclared(commitment: PortCommitment): Uint8Array {
  return Commitment.serialize(commitmentInput(commitment)).toBytes();
}

/** BCS of the commitments of all input ports, in port order, by the declared layout: the preimage of the input hash. */
export function encodeInputPreimage(ports: readonly { name: string; commitment: PortCommitment }[]): Uint8Array {
  return InputPreimage.serialize(
    ports.map(({ name, commitment }) => ({ port_name: ascii(name), commitment: commitmentInput(commitment) })),
  ).toBytes();
}

/** The fields that an invocation nonce is derived from (protocol.md section 4). */
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

/** BCS of a result by the declared layout. */
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
    if (!Buffer.from(Output.serialize(parsed).toBytes()).equals(asBuffer(bytes))) throw new RangeError("not canonical");
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
