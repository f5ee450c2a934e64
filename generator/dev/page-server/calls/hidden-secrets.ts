/** Hides the secrets of a call in what the page shows of it. */

import type { Hidden } from "../page-api.js";

const HIDDEN: Hidden = "••••••••";

/** A shorter secret is hidden only where it is a whole JSON string: elsewhere it may be a part of any word. */
const MIN_LENGTH = 6;

/** A text without the secrets, however the tool repeats them. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const form of secrets.flatMap(formsOf))
    shown = shown.replaceAll(form, form.startsWith('"') ? `"${HIDDEN}"` : HIDDEN);
  return shown;
}

/** Whether bytes have one of the secrets. */
export function hasSecret(bytes: Buffer, secrets: readonly string[]): boolean {
  return secrets.flatMap(formsOf).some((form) => bytes.includes(form));
}

/** The forms of a secret in texts: as a JSON string, and a long one as it is and escaped. */
function formsOf(secret: string): string[] {
  const quoted = JSON.stringify(secret);
  if (secret === "" || secret === HIDDEN) return [];
  return secret.length < MIN_LENGTH ? [quoted] : [quoted, quoted.slice(1, -1), secret];
}
