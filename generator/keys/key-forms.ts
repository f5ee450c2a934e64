/** Text formats of private keys that a configuration accepts (protocol section 10). */

import { randomBytes } from "node:crypto";
import { publicKeyOf } from "svc-runtime/leader";

/** Public key of a private key as 64 hex digits, as in configurations and clients. */
export function publicKeyText(key: Uint8Array): string {
  return Buffer.from(publicKeyOf(key)).toString("hex");
}

/** A private key in the format of new keys, and its public key as {@link publicKeyText}. */
export interface KeyTexts {
  readonly text: string;
  readonly publicKey: string;
}

export function newKey(): KeyTexts {
  return keyTexts(randomBytes(32));
}

export function keyTexts(key: Buffer): KeyTexts {
  return { text: hex(key), publicKey: publicKeyText(key) };
}

/** Text format: the encoding, and whether a zero byte precedes the 32 bytes. */
export interface KeyForm {
  readonly name: string;
  readonly summary: string;
  readonly print: (key: Buffer) => string;
}

const flagged = (key: Buffer) => Buffer.concat([Buffer.of(0), key]);
const hex = (key: Buffer) => key.toString("hex");
const base64 = (key: Buffer) => key.toString("base64");
const base64url = (key: Buffer) => key.toString("base64url");

/** All formats. New keys are written in the first one. */
export const KEY_FORMS: readonly KeyForm[] = [
  { name: "hex", summary: "64 hex digits", print: hex },
  { name: "0x-hex", summary: "0x and 64 hex digits", print: (key) => `0x${hex(key)}` },
  { name: "base64", summary: "base64 of 32 bytes", print: base64 },
  { name: "base64url", summary: "base64url of 32 bytes", print: base64url },
  { name: "flagged-hex", summary: "66 hex digits: a zero byte and the key", print: (key) => hex(flagged(key)) },
  {
    name: "flagged-0x-hex",
    summary: "0x and 66 hex digits: a zero byte and the key",
    print: (key) => `0x${hex(flagged(key))}`,
  },
  { name: "flagged-base64", summary: "base64 of a zero byte and the key", print: (key) => base64(flagged(key)) },
  {
    name: "flagged-base64url",
    summary: "base64url of a zero byte and the key",
    print: (key) => base64url(flagged(key)),
  },
];

/** File of `nexus tool auth keygen`. Accepted as a key file, but not in a configuration. */
export const KEYGEN_FORM: KeyForm = {
  name: "keygen",
  summary: "JSON of `nexus tool auth keygen`; for a configuration, extract the private key with svc-gen keys convert",
  print: hex,
};

/** Private key in a file of `nexus tool auth keygen`; undefined for other texts, or if the two keys are not a pair. */
export function keyInKeygenFile(text: string): string | undefined {
  const digits = (name: string) => new RegExp(`"${name}"\\s*:\\s*"([0-9a-f]{64})"`).exec(text)?.[1];
  const privateKey = text.trimStart().startsWith("{") ? digits("private_key_hex") : undefined;
  if (privateKey === undefined) return undefined;
  return digits("public_key_hex") === publicKeyText(Buffer.from(privateKey, "hex")) ? privateKey : undefined;
}

/** Format of a valid, trimmed text. If base64 and base64url differ only in padding, the padding decides. */
export function formOf(text: string, key: Buffer): KeyForm {
  const plain = (form: KeyForm) => form.print(key).toLowerCase() === text.toLowerCase() && /hex$/.test(form.name);
  const unpadded = (form: KeyForm) => form.print(key).replace(/=+$/, "") === text.replace(/=+$/, "");
  const written = KEY_FORMS.find((form) => plain(form) || form.print(key) === text) ?? KEY_FORMS.find(unpadded);
  if (written === undefined) throw new Error("the text does not encode this key");
  return written;
}

/** Describes an invalid text by its format, if that is more helpful than its length. */
export function looksLike(text: string): string | undefined {
  if (text.startsWith('"') || text.startsWith("'")) return "a text in quotes";
  if (text.startsWith("{") && text.includes('"private_key_hex"'))
    return "JSON whose private and public key do not match";
  if (/^[{[]/.test(text)) return "JSON";
  if (text.startsWith("ssh-")) return "an SSH key";
  const [, digits] = /^(?:0x)?([0-9a-f]*)$/i.exec(text) ?? [];
  return digits ? `${digits.length} hex digits` : undefined;
}
