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
