/** Values of a call by port, as JSON text, so that numbers are sent as written. */

import { itemsOf, membersByName, type parseJson, textOf } from "svc-runtime/internal/generator";
import { JsonText, type PortShape } from "svc-runtime/leader";

export type PortTexts = Record<string, JsonText | JsonText[]>;

/** A parsed input. */
export type InputDocument = ReturnType<typeof parseJson>;

/** Whether the text of an entry begins with `first`: `{` for an object, `[` for an array. */
export function isKind(document: InputDocument, entry: number, first: "{" | "["): boolean {
  return textOf(document, entry, "sent")[0] === first.charCodeAt(0);
}

/** Value of each port; for a `many` port, the items of the array. Does not check values against the ports. */
export function portTexts(document: InputDocument, ports: readonly PortShape[]): PortTexts {
  const text = (entry: number) => new JsonText(textOf(document, entry, "sent"));
  const texts: PortTexts = Object.create(null) as PortTexts;
  for (const [name, entry] of membersByName(document, 0)) {
    const many = ports.find((port) => port.name === name)?.many === true;
    texts[name] = many && isKind(document, entry, "[") ? itemsOf(document, entry).map(text) : text(entry);
  }
  return texts;
}

/** Copy of the values with the first one changed, as a proxy might do; undefined if there are no values. */
export function tampered(texts: PortTexts): PortTexts | undefined {
  const [name, value] = Object.entries(texts)[0] ?? [];
  if (name === undefined || value === undefined) return undefined;
  if (!Array.isArray(value)) return { ...texts, [name]: other(value) };
  const [first, ...rest] = value;
  return first && { ...texts, [name]: [other(first), ...rest] };
}

function other({ bytes }: JsonText): JsonText {
  const text = Buffer.from(bytes).toString("utf8");
  if (/^-?\d/.test(text)) return new JsonText(text === "1" ? "2" : "1");
  if (text.startsWith('"')) return new JsonText(text === '""' ? '"x"' : '""');
  return new JsonText(text === "null" ? "0" : "null");
}
