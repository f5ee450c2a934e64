/** The headers that announce the body of a call (protocol.md section 7, step 1). */

import { RequestError } from "../errors/request-error.js";
import type { RequestHeaders } from "./messages.js";

/**
 * Length of the body by its `Content-Length` header.
 *
 * @throws {@link RequestError} 411 without the length or with a transfer encoding, 413 if the length is over the limit,
 * 415 if the body is compressed
 */
export function announcedLength({ headers }: RequestHeaders, maxBytes: bigint): number {
  const announced = headers["content-length"];
  if (typeof announced !== "string" || headers["transfer-encoding"] !== undefined || !/^\d+$/.test(announced)) {
    throw new RequestError("length_required", "Content-Length: required, chunked bodies are not accepted");
  }
  const length = Number(announced);
  // A number with more digits than a u64 exceeds any limit. `>` compares a number with a bigint exactly.
  if (announced.length > 20 || length > maxBytes) {
    throw new RequestError("payload_too_large", `the body is limited to ${maxBytes} bytes`);
  }
  const encoding = headers["content-encoding"];
  if (encoding !== undefined && String(encoding).trim().toLowerCase() !== "identity") {
    throw new RequestError("unsupported_content_encoding", "Content-Encoding: only identity is accepted");
  }
  return length;
}
