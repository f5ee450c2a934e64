/** Hides the secrets of a call in texts for the page. */

import type { Hidden } from "../page-api.js";

const HIDDEN: Hidden = "••••••••";

/** A shorter secret is hidden only if it is a whole JSON string, because elsewhere it may be part of a word. */
const MIN_LENGTH = 6;

export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const form of secrets.flatMap(formsOf))
    shown = shown.replaceAll(form, form.startsWith('"') ? `"${HIDDEN}"` : HIDDEN);
  return shown;
}

export function hasSecret(bytes: Buffer, secrets: readonly string[]): boolean {
  return secrets.flatMap(formsOf).some((form) => bytes.includes(form));
}

/** Texts to search for: the secret as a JSON string; for a long secret also without quotes, raw and escaped. */
function formsOf(secret: string): string[] {
  const quoted = JSON.stringify(secret);
  if (secret === "" || secret === HIDDEN) return [];
  return secret.length < MIN_LENGTH ? [quoted] : [quoted, quoted.slice(1, -1), secret];
}
