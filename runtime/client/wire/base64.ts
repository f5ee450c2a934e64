/**
 * Strict base64 (RFC 4648): each byte string has exactly one valid text. `Buffer.from` would ignore invalid characters.
 */

import { Buffer, base64url } from "#platform/bytes";

/** Decodes standard base64. Padding is required and unused bits must be zero; undefined for anything else. */
export function decodeBase64(text: string): Buffer | undefined {
  const { length } = text;
  // `Buffer.from` reads only the low byte of a non-ASCII character, which may look like a digit.
  if (length % 4 !== 0 || Buffer.byteLength(text) !== length) return undefined;
  const bytes = Buffer.from(text, "base64");
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // `Buffer.from` skips invalid characters and stops at the first `=`, so the expected length proves that all are
  // digits.
  if (bytes.length !== (length / 4) * 3 - padding || text.includes("-") || text.includes("_")) return undefined;
  // Unused bits are in the last digit: compare it with its canonical form.
  return bytes.toString("base64", bytes.length - (3 - padding)) === text.slice(-4) ? bytes : undefined;
}

/** Like {@link decodeBase64}, but into an `ArrayBuffer` that is not shared: small Buffers use a pool of the process. */
export function decodeOwnBase64(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes && new Uint8Array(bytes);
}

/** Decodes base64url without padding; unused bits must be zero; undefined for anything else. */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return base64url(bytes) === text ? bytes : undefined;
}
