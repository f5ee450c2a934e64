/** Foreign text made safe for messages, logs, terminals and generated files. */

/** The first characters of a text, with `…` in place of the rest. */
export function truncated(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** The text truncated and in printable ASCII; other characters are escaped. */
export function escaped(text: string, most: number): string {
  return truncated(text, most).replace(/[^\x20-\x7e…]/g, unicodeEscapes);
}

/** The text truncated, as a JSON string in printable ASCII. Most paths fit into the default length. */
export function quoted(text: string, most = 256): string {
  return escaped(JSON.stringify(truncated(text, most)), Number.POSITIVE_INFINITY);
}

/** All characters as `\uXXXX`. */
export function unicodeEscapes(text: string): string {
  return Array.from({ length: text.length }, (_, at) => unicodeEscape(text.charCodeAt(at))).join("");
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** The first characters of a text, well formed and without terminal control characters. */
export function withoutControls(text: string, most = text.length, substitute = "\ufffd"): string {
  return text
    .slice(0, most)
    .toWellFormed()
    .replace(/\p{Cc}/gu, substitute);
}

/** The first characters of a text, with `?` in place of anything except printable ASCII. */
export function asciiText(text: string, most: number): string {
  return text.slice(0, most).replace(/[^\x20-\x7e]/g, "?");
}
