/** Strict base64 (RFC 4648): one text for each byte string, everything else refused. `Buffer.from` accepts rubbish. */

/** Decodes standard base64 with canonical padding and no stray bits; undefined for anything else. */
export function decodeBase64(text: string): Buffer | undefined {
  const { length } = text;
  // Of a character that is not ASCII `Buffer.from` reads the lower byte, which may be a digit.
  if (length % 4 !== 0 || Buffer.byteLength(text) !== length) return undefined;
  const bytes = Buffer.from(text, "base64");
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  // It leaves out what is no digit and ends at the first `=`: as many bytes as there should be came of digits alone.
  if (bytes.length !== (length / 4) * 3 - padding || text.includes("-") || text.includes("_")) return undefined;
  // Bits that belong to no byte are those of the last digit.
  return bytes.toString("base64", bytes.length - (3 - padding)) === text.slice(-4) ? bytes : undefined;
}

/** The values of the digits of base64url by their codes. */
const DIGITS: readonly number[] = Array.from({ length: 128 }, (_, code) =>
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".indexOf(String.fromCharCode(code)),
);

/**
 * Decodes base64url without padding and no stray bits; undefined for anything else. For short texts, as headers have them:
 * one pass that checks and decodes takes a fraction of what a pattern and `Buffer.from` take.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.allocUnsafe((text.length * 3) >> 2);
  let at = 0;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = DIGITS[text.charCodeAt(i)] ?? -1;
    if (digit === -1) return undefined;
    held = ((held << 6) | digit) & 0xfff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = held >> bits;
    }
  }
  // A single digit is no byte; what is left of two or three must be zero.
  return bits < 6 && (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
