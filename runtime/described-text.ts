/** Describes a setting or argument for messages that must not repeat it, because a secret may be in the wrong place. */

/** Longest text shown as a path. */
const MAX_PATH = 512;

/** Kind of a text that was given as a path but is the content of a file; undefined if it may be a path. */
export function contentKind(text: string): string | undefined {
  if (text.includes("-----")) return "PEM text";
  if (/[{[]\s*["{]/.test(text)) return "JSON text";
  if (/[\r\n]./.test(text)) return "several lines of text";
  return text.length > MAX_PATH ? `${text.length} characters` : undefined;
}

/** Kind of an unexpected text: a common mistake in shells and env files, else {@link contentKind}, else `otherwise`. */
export function textKind(text: string, otherwise = "another value"): string {
  if (text === "") return "an empty string";
  if (text.endsWith("\r")) return "a value that ends in a carriage return (Windows line ends in its file?)";
  if (text !== text.trim()) return "a value with white space around it; remove that";
  if (/^(["']).*\1$/.test(text)) return "a value in quotes; remove them";
  return contentKind(text) ?? otherwise;
}

/** A common mistake of editors and JSON dialects. */
export type JsonSlip = "byte order mark" | "UTF-16" | "empty" | "comment" | "single quotes" | "comma";

/** Mistake at the byte where a text stops being JSON; undefined if it is another one. */
export function jsonSlip(bytes: Uint8Array, offset: number): JsonSlip | undefined {
  const [first = 0, second = 0] = bytes.subarray(0, 2);
  if (offset === 0 && first === 0xef) return "byte order mark";
  if (offset === 0 && first + second === 0xfe + 0xff) return "UTF-16";
  if (offset === bytes.length && Buffer.from(bytes).toString("latin1").trim() === "") return "empty";
  const text = Buffer.from(bytes.subarray(offset, offset + 2)).toString("latin1");
  if (/^(?:\/[/*]|#)/.test(text)) return "comment";
  if (text.startsWith("'")) return "single quotes";
  const before = Buffer.from(bytes.subarray(Math.max(0, offset - MAX_LOOK_BACK), offset)).toString("latin1");
  return /^[}\]]/.test(text) && /,\s*$/.test(before) ? "comma" : undefined;
}

/** Maximum number of bytes before a closing bracket, such as line ends, in which a comma is looked for. */
const MAX_LOOK_BACK = 200;
