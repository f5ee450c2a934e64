/** Quotation of user input in messages and in what a terminal shows. */

/** Most paths fit. */
const MAX_LENGTH = 256;

/** The text as a JSON string in printable ASCII, cut to {@link MAX_LENGTH} characters. */
export function quoted(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return JSON.stringify(cut).replace(
    /[^\u0020-\u007e…]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A word of a command that a person copies into a shell. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) && !text.startsWith("-") ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The text with the characters escaped that a terminal obeys or that turn its direction; tabs and line ends stay. In
 * JSON such characters stand in texts only, so the value is the same.
 */
export function escapeControls(text: string): string {
  return text.replace(
    /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
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
