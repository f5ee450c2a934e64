import { quoted, unicodeEscapes } from "svc-runtime/internal/generator";

export { contentKind, quoted } from "svc-runtime/internal/generator";

/** Quotes a URL, which may be malformed, without its user and password. */
export function quotedUrl(text: string): string {
  return quoted(text.replace(/^(\w+:[\\/]*)?.*@/s, "$1…@"));
}

/** Quotes a word for a shell command that the user may copy. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Escapes characters that control a terminal or change the writing direction, except tabs and line ends. In JSON they
 * occur only inside strings, so the value stays the same.
 */
export function escapeControls(text: string): string {
  return text.replace(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, unicodeEscapes);
}

/** Colour sequences that svc-gen prints. A text that contains them can only change its own colour. */
const COLOUR = new RegExp(`(${"\u001b"}\\[(?:[02]|3[1-6])m)`);

/** Like {@link escapeControls}, for a terminal with colours. */
export function escapeAllButColours(text: string): string {
  return text
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 ? part : escapeControls(part)))
    .join("");
}
