/** Encoders by the layouts of protocol.md section 3, declared with @mysten/bcs: the reference for bcs-writer.ts. */

import { bcs } from "@mysten/bcs";
import { sha256 } from "@noble/hashes/sha2.js";
import type { MetaSchema, PortShape, RawOutput, RawValue, ValueKind } from "#client/wire/bcs/bcs-shapes.js";
import type { NexusData, NexusValue } from "#client/wire/bcs/data.js";
import { DOMAINS } from "#client/wire/protocol.js";

const Bytes = bcs.byteVector();
const Kind = bcs.u8().transform({ input: (kind: ValueKind) => (kind === "object" ? 0 : 1) });
const Value = bcs.enum("NexusValue", {
  Object: bcs.fixedArray(32, bcs.u8()).transform({ input: (id: Uint8Array) => [...id] }),
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

const ascii = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** BCS of the port schema of a tool. */
export function encodeMetaSchema({ inputPorts, outputVariants }: MetaSchema): Uint8Array {
  const port = ({ name, many }: PortShape) => ({ port_name: ascii(name), is_many: many, value_kind: "data" as const });
  return Schema.serialize({
    input_ports: inputPorts.map(port),
    output_variants: outputVariants.map(({ name, ports }) => ({ variant_name: ascii(name), ports: ports.map(port) })),
  }).toBytes();
}

function valueInput(value: RawValue) {
  if (value.kind === "object") return { Object: value.id };
  if (value.kind === "inline") return { InlineData: value.bytes };
  return { WalrusData: { blob_id: value.blobId, content_digest: value.contentDigest } };
}

/** BCS of one NexusData. */
export function encodeNexusDataDeclared(values: readonly RawValue[], many: boolean): Uint8Array {
  const inputs = values.map(valueInput);
  return Data.serialize(many ? { Many: inputs } : { One: only(inputs) }).toBytes();
}

/** The commitment of one port: 32 bytes for each of its values. */
export interface PortCommitment {
  readonly many: boolean;
  readonly kind: ValueKind;
  readonly commitments: readonly Uint8Array[];
}

/** The commitment of a port with this content. */
export function commitmentOf({ values, isMany, kind }: NexusData): PortCommitment {
  return { many: isMany, kind, commitments: values.map(valueCommitment) };
}

function valueCommitment(value: NexusValue): Uint8Array {
  if (value.kind === "object") return value.id;
  return value.kind === "inline" ? sha256(value.bytes) : value.contentDigest;
}

function commitmentInput({ many, kind, commitments }: PortCommitment) {
  if (many) return { Many: { kind, commitments: [...commitments] } };
  return { One: { kind, commitment: only(commitments) } };
}

/** BCS of one port commitment. */
export function encodePortCommitment(commitment: PortCommitment): Uint8Array {
  return Commitment.serialize(commitmentInput(commitment)).toBytes();
}

/** BCS of the commitments of all input ports, in port order: the preimage of the input hash. */
export function encodeInputPreimage(ports: readonly { name: string; commitment: PortCommitment }[]): Uint8Array {
  return InputPreimage.serialize(
    ports.map(({ name, commitment }) => ({ port_name: ascii(name), commitment: commitmentInput(commitment) })),
  ).toBytes();
}

/** SHA-256( resolved-input domain ‖ BCS of the port commitments ). */
export function inputHashOf(preimage: Uint8Array): Buffer {
  return Buffer.from(sha256(Buffer.concat([Buffer.from(DOMAINS.resolvedInput), preimage])));
}

/** BCS of a result. */
export function encodeOutputDeclared({ tag, ports }: RawOutput): Uint8Array {
  return Output.serialize({
    tag: ascii(tag),
    ports: ports.map(({ name, values }) => ({ port_name: ascii(name), values: values.map(valueInput) })),
  }).toBytes();
}

function only<T>([value]: readonly T[]): T {
  return value as T;
}
