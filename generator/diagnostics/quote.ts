/** Quotation of what a user has given, for messages. */

const MAX_LENGTH = 60;

/** A text as JSON: control characters and what is not ASCII escaped, long texts cut. */
export function quoted(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return JSON.stringify(cut).replace(
    /[^\u0020-\u007e…]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
