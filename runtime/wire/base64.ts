/** Strict base64 (RFC 4648): one text for each byte string, everything else refused. `Buffer.from` accepts rubbish. */

/** Decodes standard base64 with canonical padding and no stray bits; undefined for anything else. */
export function decodeBase64(text: string): Buffer | undefined {
  if (text.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}

/** Decodes base64url without padding and no stray bits; undefined for anything else. */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}
