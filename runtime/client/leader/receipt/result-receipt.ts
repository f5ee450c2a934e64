/** The receipt of a verified result, from the request that was sent. */

import { type Checks, checkOptions } from "../../check-options.js";
import type { MetaSchema } from "../../wire/bcs/bcs-shapes.js";
import { committedBytes } from "../../wire/envelope/committed-texts.js";
import { EnvelopeReader } from "../../wire/envelope/envelope.js";
import { SignatureHeaders } from "../../wire/protocol.js";
import { commitmentsOf, createReceipt, type Receipt } from "../../wire/receipt.js";
import type { VerifyKey } from "../../wire/signature/ed25519-keys.js";
import { engine } from "../engine.js";
import type { PreparedLeader } from "../request/request.js";
import type { SignedRequest } from "../request/signed-request.js";
import { type PublicKey, publicKey } from "../result/result.js";

export interface ReceiptOptions {
  /**
   * Encloses the input values, which the receipt otherwise only commits to: all of them, or those of the named ports.
   * None by default.
   */
  readonly withInputs?: boolean | readonly string[];
  /** Public key of the leader; needed only if another client signed the request with another key. */
  readonly leaderKey?: PublicKey;
}

const OPTIONS = { withInputs: true, leaderKey: true } as const satisfies Checks<ReceiptOptions>;

/** A verified result and its request. */
export interface ReceiptSource {
  readonly fqn: string;
  readonly headerPrefix: string;
  readonly ports: MetaSchema["inputPorts"];
  readonly request: SignedRequest;
  /** Leader of the client, which may have read the request from a store. */
  readonly leader: PreparedLeader | undefined;
  readonly bcs: Uint8Array;
  readonly toolSignature: Uint8Array;
  /** Key that verified the signature. */
  readonly toolKey: VerifyKey;
}

/**
 * Creates a function that returns the receipt of a result. The time of the receipt is the time of this call.
 *
 * @returns a function that throws TypeError if the leader's public key is unknown, RangeError for names of unknown ports
 */
export function receiptMaker(source: ReceiptSource): (options?: ReceiptOptions) => Receipt {
  const time = new Date();
  return (options = {}) => {
    checkOptions("receipt", options, OPTIONS);
    const { withInputs = false } = options;
    const { fqn, headerPrefix, ports, request, bcs, toolSignature, toolKey } = source;
    const names = typeof withInputs === "boolean" ? [] : withInputs;
    if (names.some((name) => !ports.some((port) => port.name === name))) {
      throw new RangeError(`withInputs: expected names of input ports: ${ports.map(({ name }) => name).join(", ")}`);
    }
    const isEnclosed = (port: number) => withInputs === true || names.includes(ports[port]?.name as string);
    const headers = new SignatureHeaders(headerPrefix);
    const matched = new EnvelopeReader(ports).read(request.body).match(request.inputHash);
    if (matched === undefined) throw new TypeError("receipt: the input hash of the request is not that of its body");
    const texts = matched.map((values) => values.map(committedBytes));
    const facts = {
      ...request,
      fqn,
      time,
      headerPrefix,
      leaderId: request.headers[headers.leaderId] as string,
      leaderKeyId: request.headers[headers.leaderKeyId] as string,
      leaderPublicKey: leaderKeyOf(source, options.leaderKey),
      ports,
      commitments: commitmentsOf(texts),
      bcs,
      toolSignature,
      toolPublicKey: toolKey.bytes,
    };
    return createReceipt(facts, (port, value) => (isEnclosed(port) ? texts[port]?.[value] : undefined));
  };
}

function leaderKeyOf({ leader, request }: ReceiptSource, given: PublicKey | undefined): Uint8Array {
  const key = given === undefined ? leader?.key.publicKey : publicKey(given, "leader key").bytes;
  if (key !== undefined && engine().verify(key, request.inputHash, request.leaderSignature)) return key;
  throw new TypeError("receipt: the request was signed with another key: pass its public key as `leaderKey`");
}
