/** Checks names of options at run time, because a misspelt option could silently disable a check. */

import { didYouMean } from "./did-you-mean.js";

/** Names of all options of a type. */
export type Names<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Rejects unknown names.
 *
 * @param what name of the options in the message
 * @throws TypeError
 */
export function checkNames(what: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`${what}: expected an object, got another value`);
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const nearest = didYouMean(unknown, names) || `; it has ${names.join(", ")}`;
  throw new TypeError(`${what}: no option ${JSON.stringify(unknown)}${nearest}`);
}
