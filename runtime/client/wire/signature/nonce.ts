import { Buffer } from "#platform/bytes";
import { sha256 } from "#platform/hash";
import { encodeNoncePreimage, type Invocation } from "../bcs/bcs.js";
import { DOMAINS } from "../protocol.js";

const INVOCATION_NONCE = Buffer.from(DOMAINS.invocationNonce);

/**
 * Nonce of one invocation (protocol.md section 4): SHA-256( invocation-nonce domain ‖ BCS of the nonce preimage ), 32
 * bytes.
 */
export function invocationNonce(invocation: Invocation): Uint8Array {
  return sha256(Buffer.concat([INVOCATION_NONCE, encodeNoncePreimage(invocation)]));
}
