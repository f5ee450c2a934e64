/** Quotation of user input in messages and in what a terminal shows. */

import { unicodeEscapes } from "svc-runtime/internal/generator";

export { quoted } from "svc-runtime/internal/generator";

/** A word of a command that a person copies into a shell. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The text with the characters escaped that a terminal obeys or that turn its direction; tabs and line ends stay. In
 * JSON such characters stand in texts only, so the value is the same.
 */
export function escapeControls(text: string): string {
  return text.replace(/(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, unicodeEscapes);
}

/** The colours that svc-gen uses: a text that contains them can change its own colour, and hide nothing. */
const COLOUR = new RegExp(`(${"\u001b"}\\[(?:[02]|3[1-6])m)`);

/** {@link escapeControls} for a terminal that shows colours. */
export function escapeAllButColours(text: string): string {
  return text
    .split(COLOUR)
    .map((part, at) => (at % 2 === 1 ? part : escapeControls(part)))
    .join("");
}
