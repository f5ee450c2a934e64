/** The input of a call as it was typed, split into the texts of its ports. What does not fit is sent as it is. */

import { itemsOf, JsonError, membersByName, parseJson, textOf } from "svc-runtime/internal/generator";
import { JsonText, type PortShape } from "svc-runtime/leader";
import { PageFault } from "../page-fault.js";

export type PortTexts = Record<string, JsonText | JsonText[]>;

/**
 * The values by port; an array of a `many` port by its items.
 *
 * @throws PageFault for a text that is no JSON object
 */
export function portTexts(input: string, ports: readonly PortShape[]): PortTexts {
  const document = parsed(input);
  const sent = (entry: number) => textOf(document, entry, "sent");
  const isA = (entry: number, first: string) => sent(entry).toString("latin1", 0, 1) === first;
  if (!isA(0, "{")) throw new PageFault("the input is not a JSON object");
  const text = (entry: number) => new JsonText(sent(entry));
  const texts: PortTexts = Object.create(null) as PortTexts;
  for (const [name, entry] of membersByName(document, 0)) {
    const many = ports.find((port) => port.name === name)?.many === true;
    texts[name] = many && isA(entry, "[") ? itemsOf(document, entry).map(text) : text(entry);
  }
  return texts;
}

function parsed(input: string) {
  try {
    return parseJson(Buffer.from(input));
  } catch (error) {
    if (error instanceof JsonError) throw new PageFault(`the input is not JSON: ${error.message}`);
    throw error;
  }
}

/** The same values with another first one, as a proxy on the way might leave them; undefined without any. */
export function otherTexts(texts: PortTexts): PortTexts | undefined {
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
