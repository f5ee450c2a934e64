// Text formats of Ed25519 keys in configurations (protocol section 10). Messages never contain any part of a key.

import { Buffer } from "#platform/bytes";
import { isValidPublicKey, prepareSigningKey } from "#platform/ed25519";
import { isAsciiSpace } from "./wire/printable.js";
import { type SigningKey, VerifyKey } from "./wire/signature/ed25519-keys.js";

/** A key, or a description of the invalid text: a fixed phrase or a length. */
export type KeyReading<K> = { readonly key: K } | { readonly got: string };

/**
 * Reads a private key: 64 or 66 hex digits with or without `0x`, otherwise base64 or base64url (not mixed) with or
 * without padding. The key has 32 bytes, or 33 if it starts with a zero byte. Ignores ASCII white space around it.
 */
export function readSigningKey(text: string): KeyReading<SigningKey> {
  const reading = readPrivateKey(text);
  return "got" in reading ? reading : { key: prepareSigningKey(reading.key) };
}

/** Reads a private key's text, in any format that a configuration allows, as 32 bytes. */
export function readPrivateKey(text: string): KeyReading<Uint8Array> {
  const seed = decodeSeed(trimAscii(text));
  return typeof seed === "string" ? { got: seed } : { key: seed };
}

/**
 * Reads a public key: 64 hex digits in either case, with or without `0x`. Rejects keys that no signature can verify
 * against.
 *
 * @param known a key that was checked before; returned if the text is its encoding
 */
export function readPublicKey(text: string, known?: VerifyKey): KeyReading<VerifyKey> {
  if (isPem(text)) return { got: pemOf(text, /BEGIN PUBLIC/.test(text) ? "-pubin " : "-pubout ") };
  const digits = text.startsWith("0x") ? text.slice(2) : text;
  if (/[^0-9a-fA-F]/.test(digits)) return { got: notHex(text) };
  if (digits.length !== 64) return { got: `${digits.length} hex digits` };
  const bytes = Buffer.from(digits, "hex");
  if (known !== undefined && bytes.equals(known.bytes)) return { key: known };
  if (!isValidPublicKey(bytes)) return { got: "bytes that are not a valid public key" };
  // Not copied, because a separate buffer of 32 bytes takes ten times as much memory.
  return { key: new VerifyKey(bytes) };
}

/** Whether a text may be a private or public key, which no message may contain. */
export function looksLikeKey(text: string): boolean {
  return "key" in readPrivateKey(text);
}

/** The 32 bytes of a private key's text, or a description of an invalid text. */
function decodeSeed(text: string): Uint8Array | string {
  const hex = /^(?:0x)?([0-9a-fA-F]{64}|[0-9a-fA-F]{66})$/.exec(text)?.[1];
  const bytes = hex === undefined ? decodeAnyBase64(text) : Buffer.from(hex, "hex");
  if (bytes?.length === 32) return bytes;
  if (bytes?.length === 33) return bytes[0] === 0 ? bytes.subarray(1) : "33 bytes whose first byte is not zero";
  if (text === "") return "an empty string";
  if (isPem(text)) return /BEGIN PUBLIC/.test(text) ? "a public key in PEM" : pemOf(text, "");
  // Truncated hex is usually valid base64, but of other bytes.
  const digits = /^(?:0x)?([0-9a-fA-F]+)$/.exec(text)?.[1];
  if (digits !== undefined) return `${digits.length} hex digits`;
  if (/^(?:0x)?[0-9a-z]{64}(?:[0-9a-z]{2})?$/i.test(text) || looksLikePath(text)) return notHex(text);
  return bytes === undefined ? `${text.length} characters in none of these formats` : `${bytes.length} bytes`;
}

function notHex(text: string): string {
  if (decodeAnyBase64(trimAscii(text))?.length === 32) return "32 bytes in base64";
  if (looksLikePath(text)) return "a path in place of the content of the file";
  if (text !== trimAscii(text)) return "white space around the key: trim the text";
  return `${text.length} characters, some of which are not hex digits`;
}

/** Whether a text ends in the extension of a file. */
const looksLikePath = (text: string) => /\.[a-z]{3,4}$/i.test(text);

const isPem = (text: string) => text.trimStart().startsWith("-----BEGIN");

/** Beginnings of the base64 of an Ed25519 key in PKCS #8 and in SPKI (RFC 8410). */
const ED25519_PEM = /-----\s+(?:MC4CAQAwBQYDK2Vw|MCowBQYDK2Vw)/;

/** Describes PEM text. For an Ed25519 key, includes the command that prints the 32 bytes of the key in hex. */
const pemOf = (text: string, options: string) =>
  ED25519_PEM.test(text)
    ? `PEM; "openssl pkey ${options}-in FILE -outform DER | tail -c 32 | od -An -vtx1 | tr -d ' \\n'" prints the key in hex`
    : "PEM that is not an unencrypted Ed25519 key in PKCS #8 or SPKI";

/** Decodes base64 or base64url with or without padding. Unlike `Buffer.from`, rejects invalid characters. */
function decodeAnyBase64(text: string): Buffer | undefined {
  if (/[-_]/.test(text) && /[+/]/.test(text)) return undefined;
  const standard = text.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Buffer.from(standard, "base64");
  const padded = bytes.toString("base64");
  const unpadded = padded.slice(0, Math.ceil((bytes.length * 4) / 3));
  return standard === padded || standard === unpadded ? bytes : undefined;
}

function trimAscii(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isAsciiSpace(text.charCodeAt(start))) start++;
  while (end > start && isAsciiSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}
