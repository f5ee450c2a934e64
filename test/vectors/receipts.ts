/** Receipts of the calls in signing.json, whose signatures the Rust system made. */

import { derivePorts } from "#client/wire/codec/ports.js";
import { committedBytes } from "#client/wire/envelope/committed-texts.js";
import { EnvelopeReader } from "#client/wire/envelope/envelope.js";
import { commitmentsOf, createReceipt, type Receipt } from "#client/wire/receipt.js";
import { readVectors } from "./read.js";
import type { SigningCase } from "./wire-cases.js";

export interface RecordedReceipt {
  readonly receipt: Receipt;
  readonly leaderKey: string;
  readonly toolKey: string;
}

/** One receipt for each recorded call. */
export function recordedReceipts(withInputs = false): RecordedReceipt[] {
  return readVectors<{ cases: SigningCase[] }>("signing.json").cases.map((call, i) => {
    const { inputPorts: ports } = derivePorts(call.input_schema, call.output_schema);
    const inputHash = Buffer.from(call.input_hash, "hex");
    const matched = new EnvelopeReader(ports).read(Buffer.from(call.body)).match(inputHash);
    if (matched === undefined) throw new Error(`case ${i}: no form of the body has the input hash`);
    const texts = matched.map((values) => values.map(committedBytes));
    const header = (headers: Record<string, string>, name: string) => Buffer.from(headers[name] as string, "base64url");
    const receipt = createReceipt(
      {
        fqn: "xyz.recorded.call@1",
        time: new Date(Date.UTC(2026, 0, 1, 0, 0, i)),
        headerPrefix: "X-Svc-",
        leaderId: call.leader_id,
        leaderKeyId: call.leader_key_id,
        leaderPublicKey: Buffer.from(call.leader_public_key, "hex"),
        nonce: Buffer.from(call.nonce, "hex"),
        inputHash,
        leaderSignature: header(call.request_headers, "X-Svc-Leader-Signature"),
        ports,
        commitments: commitmentsOf(texts),
        bcs: Buffer.from(call.output_bcs, "hex"),
        toolSignature: header(call.response_headers, "X-Svc-Tool-Signature"),
        toolPublicKey: Buffer.from(call.tool_public_key, "hex"),
      },
      (port, value) => (withInputs ? texts[port]?.[value] : undefined),
    );
    return { receipt, leaderKey: call.leader_public_key, toolKey: call.tool_public_key };
  });
}
