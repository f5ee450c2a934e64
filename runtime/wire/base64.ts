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

/** Whole groups of digits, then one of three or two digits whose last has no bits but those of its byte. */
const BASE64URL = /^(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]|[\w-][AQgw])?$/;

/** Decodes base64url without padding and no stray bits; undefined for anything else. */
export function decodeBase64url(text: string): Buffer | undefined {
  return BASE64URL.test(text) ? Buffer.from(text, "base64url") : undefined;
}
