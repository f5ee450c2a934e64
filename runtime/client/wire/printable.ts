/** Makes foreign text safe for messages, logs, terminals and generated files. */

/** Whether a character code is ASCII white space. */
export function isAsciiSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** Truncates a text; `…` replaces the rest. */
export function truncated(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Truncates a text and escapes characters that are not printable ASCII. */
export function escaped(text: string, most: number): string {
  return truncated(text, most).replace(/[^\x20-\x7e…]/g, unicodeEscapes);
}

/** Truncates a text and formats it as a JSON string in printable ASCII. The default length suits most paths. */
export function quoted(text: string, most = 256): string {
  return escaped(JSON.stringify(truncated(text, most)), Number.POSITIVE_INFINITY);
}

/** Escapes every character as `\uXXXX`. */
export function unicodeEscapes(text: string): string {
  return Array.from({ length: text.length }, (_, at) => unicodeEscape(text.charCodeAt(at))).join("");
}

function unicodeEscape(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** Truncates a text and replaces lone surrogates and terminal control characters. */
export function withoutControls(text: string, most = text.length, substitute = "\ufffd"): string {
  return text
    .slice(0, most)
    .toWellFormed()
    .replace(/\p{Cc}/gu, substitute);
}

/** Truncates a text and replaces all characters except printable ASCII by `?`. */
export function asciiText(text: string, most: number): string {
  return text.slice(0, most).replace(/[^\x20-\x7e]/g, "?");
}
