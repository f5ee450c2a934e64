/** The output hash and the message that a tool signs (protocol.md section 4). */

import { Buffer } from "#platform/bytes";
import { sha256 } from "#platform/hash";
import { exactBytes } from "../bcs/bcs-writer.js";
import { DOMAINS } from "../protocol.js";

const RAW_OUTPUT = Buffer.from(DOMAINS.rawOutput);
const TOOL_RESPONSE = Buffer.from(DOMAINS.toolResponse);

/** SHA-256( raw-output domain ‖ BCS of the result ): 32 bytes. */
export function outputHash(resultBcs: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([RAW_OUTPUT, resultBcs]));
}

/**
 * The message that a tool signs: tool-response domain ‖ leader signature ‖ nonce ‖ output hash.
 *
 * @throws RangeError if a part has the wrong length
 */
export function toolSignatureMessage(leaderSignature: Uint8Array, nonce: Uint8Array, output: Uint8Array): Buffer {
  const message = Buffer.allocUnsafe(TOOL_RESPONSE.length + 128);
  message.set(TOOL_RESPONSE);
  message.set(exactBytes("leader signature", leaderSignature, 64), TOOL_RESPONSE.length);
  message.set(exactBytes("nonce", nonce, 32), TOOL_RESPONSE.length + 64);
  message.set(exactBytes("output hash", output, 32), TOOL_RESPONSE.length + 96);
  return message;
}
