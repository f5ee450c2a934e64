/**
 * Strict base64 (RFC 4648): each byte string has exactly one valid text. `Buffer.from` would ignore invalid characters.
 */

import { Buffer } from "#platform/bytes";

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

const SHARED_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const STANDARD = valuesOf(`${SHARED_DIGITS}+/`);
const URL_SAFE = valuesOf(`${SHARED_DIGITS}-_`);

/** Values of digits, by character code; −1 for other characters. */
function valuesOf(digits: string): readonly number[] {
  return Array.from({ length: 128 }, (_, code) => digits.indexOf(String.fromCharCode(code)));
}

/** Maximum length of a text that is decoded digit by digit. */
const MAX_SHORT_LENGTH = 64;

/** Like {@link decodeBase64}, but into an `ArrayBuffer` that is not shared: small Buffers use a pool of the process. */
export function decodeOwnBase64(text: string): Uint8Array | undefined {
  const { length } = text;
  if (length > MAX_SHORT_LENGTH) {
    const bytes = decodeBase64(text);
    if (bytes === undefined) return undefined;
    return bytes.buffer.byteLength === bytes.length ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
  }
  if (length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return decodeDigits(text, length - padding, STANDARD, new Uint8Array((length / 4) * 3 - padding));
}

/**
 * Decodes base64url without padding; unused bits must be zero; undefined for anything else. For short texts such as
 * headers, several times as fast as a regular expression and `Buffer.from`.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  return decodeDigits(text, text.length, URL_SAFE, Buffer.allocUnsafe((text.length * 3) >> 2));
}

function decodeDigits<Bytes extends Uint8Array>(
  text: string,
  length: number,
  values: readonly number[],
  bytes: Bytes,
): Bytes | undefined {
  let at = 0;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < length; i++) {
    const digit = values[text.charCodeAt(i)] ?? -1;
    if (digit === -1) return undefined;
    held = ((held << 6) | digit) & 0xfff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
    }
  }
  // A single digit encodes no byte; the unused bits of two or three digits must be zero.
  return bits < 6 && (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
