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
  return { text: key.toString("hex"), publicKey: publicKeyText(key) };
}

/** Private key in a file of `nexus tool auth keygen`; undefined for other texts, or if the two keys are not a pair. */
export function keyInKeygenFile(text: string): string | undefined {
  const digits = (name: string) => new RegExp(`"${name}"\\s*:\\s*"([0-9a-f]{64})"`).exec(text)?.[1];
  const privateKey = text.trimStart().startsWith("{") ? digits("private_key_hex") : undefined;
  if (privateKey === undefined) return undefined;
  return digits("public_key_hex") === publicKeyText(Buffer.from(privateKey, "hex")) ? privateKey : undefined;
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
