/** Quotation of user input in messages. */

const MAX_LENGTH = 60;

/** The text as a JSON string in printable ASCII, cut to {@link MAX_LENGTH} characters. */
export function quoted(text: string): string {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  return JSON.stringify(cut).replace(
    /[^\u0020-\u007e…]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
