/** Receipts of calls: what their signatures cover, in one JSON document that is verified offline (docs/receipts.md). */

import { sha256 } from "#platform/hash";
import type { PortShape } from "./bcs/bcs-shapes.js";
import { asBuffer } from "./bytes.js";

/** Version of the format. */
export const RECEIPT_VERSION = 1;

/** Commitment of one input value in base64 and, if the value is enclosed, the JSON text that was committed to. */
export interface ReceiptValue {
  readonly commitment: string;
  readonly text?: string;
}

/** One input port, in schema order. */
export type ReceiptPort =
  | { readonly name: string; readonly one: ReceiptValue }
  | { readonly name: string; readonly many: readonly ReceiptValue[] };

/**
 * Receipt of a call. `JSON.stringify` prints the file; `readReceipt` verifies it. Bytes are base64 with padding, public
 * keys 64 lower-case hex digits. No signature covers `tool`, `time`, `header_prefix`, and the `id` and `key_id` of the
 * leader.
 */
export interface Receipt {
  readonly receipt: typeof RECEIPT_VERSION;
  /** FQN. */
  readonly tool: string;
  /** Time at which the result was received, RFC 3339 in UTC with milliseconds. */
  readonly time: string;
  readonly header_prefix: string;
  readonly leader: { readonly id: string; readonly key_id: string; readonly public_key: string };
  readonly request: {
    readonly nonce: string;
    readonly input_hash: string;
    readonly signature: string;
    readonly ports: readonly ReceiptPort[];
  };
  /** `bcs` is the canonical result (protocol.md section 3). */
  readonly result: { readonly bcs: string; readonly signature: string; readonly public_key: string };
}

/** Commitments of the values of each port: 32 bytes each. */
export type Commitments = readonly (readonly Uint8Array[])[];

/** Everything that a receipt states. */
export interface ReceiptFacts {
  readonly fqn: string;
  readonly time: Date;
  readonly headerPrefix: string;
  readonly leaderId: string;
  readonly leaderKeyId: bigint | number | string;
  readonly leaderPublicKey: Uint8Array;
  readonly nonce: Uint8Array;
  readonly inputHash: Uint8Array;
  readonly leaderSignature: Uint8Array;
  /** Input ports in schema order. */
  readonly ports: readonly PortShape[];
  readonly commitments: Commitments;
  readonly bcs: Uint8Array;
  readonly toolSignature: Uint8Array;
  readonly toolPublicKey: Uint8Array;
}

/** Commitments of texts. */
export function commitmentsOf(texts: readonly (readonly Uint8Array[])[]): Commitments {
  return texts.map((values) => values.map((text) => sha256(text)));
}

/**
 * Creates the receipt of a call.
 *
 * @param enclosed returns the text of a value that the receipt encloses; undefined for the others
 */
export function createReceipt(
  facts: ReceiptFacts,
  enclosed: (port: number, value: number) => Uint8Array | undefined = () => undefined,
): Receipt {
  const { ports, commitments } = facts;
  return {
    receipt: RECEIPT_VERSION,
    tool: facts.fqn,
    time: facts.time.toISOString(),
    header_prefix: facts.headerPrefix,
    leader: { id: facts.leaderId, key_id: String(facts.leaderKeyId), public_key: hex(facts.leaderPublicKey) },
    request: {
      nonce: base64(facts.nonce),
      input_hash: base64(facts.inputHash),
      signature: base64(facts.leaderSignature),
      ports: ports.map(({ name, many }, i) => {
        const values = (commitments[i] ?? []).map((commitment, value) => {
          const text = enclosed(i, value);
          return { commitment: base64(commitment), ...(text && { text: asBuffer(text).toString("utf8") }) };
        });
        return many ? { name, many: values } : { name, one: values[0] as ReceiptValue };
      }),
    },
    result: {
      bcs: base64(facts.bcs),
      signature: base64(facts.toolSignature),
      public_key: hex(facts.toolPublicKey),
    },
  };
}

const base64 = (bytes: Uint8Array) => asBuffer(bytes).toString("base64");
export const hex = (bytes: Uint8Array) => asBuffer(bytes).toString("hex");
