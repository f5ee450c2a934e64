/** Names of classes in sources that svc-gen writes for authors. */

import { capitalised } from "./sentences.js";

/** Names that the file of a class imports or declares. */
const TAKEN = ["Input", "Output", "SvcTool", "StatusCode", "DataRef"];

/** Joins the words of a text: `UnitPrice` for `unit-price`. */
export function joinedWords(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map(capitalised)
    .join("");
}

/** Name of a tool class, from the name of its file. */
export function className(file: string): string {
  const name = joinedWords(file);
  // A class named `Promise`, for example, would hide the global one.
  return TAKEN.includes(name) || name in globalThis ? `${name}Tool` : name;
}
