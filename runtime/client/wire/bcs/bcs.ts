/**
 * BCS layouts that a leader reads or derives nonces from (protocol.md section 3), declared with @mysten/bcs and
 * restricted to exact lengths and canonical form. Only this file may import @mysten/bcs; servers use bcs-writer.ts.
 */

import { bcs } from "@mysten/bcs";
import { Buffer } from "#platform/bytes";
import { asBuffer } from "../bytes.js";
import { MAX_U64 } from "../protocol.js";
import type { RawValue } from "./bcs-shapes.js";
import { exactBytes } from "./bcs-writer.js";

const Bytes = bcs.byteVector();
const Value = bcs.enum("NexusValue", {
  Object: bcs.fixedArray(32, bcs.u8()).transform({
    input: (id: Uint8Array) => [...id],
    output: (id) => Uint8Array.from(id),
  }),
  InlineData: Bytes,
  WalrusData: bcs.struct("WalrusData", { blob_id: Bytes, content_digest: Bytes }),
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

/** Validates a u64, because @mysten/bcs accepts `NaN`, `1.5` and `"7"`. */
function u64(name: string, value: bigint): bigint {
  if (typeof value !== "bigint" || value < 0n || value > MAX_U64) {
    throw new RangeError(`${name}: expected a bigint from 0 to 2^64-1`);
  }
  return value;
}

/** Fields from which an invocation nonce is derived (protocol.md section 4). */
export interface Invocation {
  /** 32 bytes. */
  readonly executionId: Uint8Array;
  readonly walkIndex: bigint;
  readonly vertexName: string;
  readonly iteration: bigint;
}

export function encodeNoncePreimage({ executionId, walkIndex, vertexName, iteration }: Invocation): Uint8Array {
  return NoncePreimage.serialize({
    execution_id: exactBytes("execution id", executionId, 32),
    walk_index: u64("walk index", walkIndex),
    vertex_name: Buffer.from(vertexName),
    iteration: u64("iteration", iteration),
  }).toBytes();
}

/**
 * Reads a result.
 *
 * @throws RangeError unless the bytes are exactly one result in canonical BCS
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
