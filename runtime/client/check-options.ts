/** Checks options at run time, because a misspelt or mistyped option could silently disable a check. */

import { didYouMean } from "./did-you-mean.js";
import { kindOf } from "./wire/kinds.js";

/** Test of a value, and a description of the values that pass it. */
type Check = readonly [isValid: (value: unknown) => boolean, expected: string];

/** Checks of all options of a type; `true` if the code that uses the option checks its value. */
export type Checks<Options> = Readonly<Record<keyof Options, true | Check>>;

export const BOOLEAN: Check = [(value) => typeof value === "boolean", "true or false"];
export const FUNCTION: Check = [(value) => typeof value === "function", "a function"];
export const STRING: Check = [(value) => typeof value === "string", "a string"];

/** Check for an object with a method. */
export function having(method: string, expected: string): Check {
  return [(value) => typeof Object(value)[method] === "function", expected];
}

/**
 * Rejects unknown names and invalid values. An undefined option is not set.
 *
 * @param what name of the options in the message
 * @throws TypeError; its message contains no value
 */
export function checkOptions(what: string, options: unknown, known: Readonly<Record<string, true | Check>>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new TypeError(`${what}: expected an object, got ${kindOf(options)}`);
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(known, name) ? known[name] : undefined;
    if (check === undefined) {
      const names = Object.keys(known);
      const nearest = didYouMean(name, names) || `; it has ${names.join(", ")}`;
      throw new TypeError(`${what}: no option ${JSON.stringify(name)}${nearest}`);
    }
    if (check === true || value === undefined || check[0](value)) continue;
    throw new TypeError(`${what}: ${name}: expected ${check[1]}, got ${kindOf(value)}`);
  }
}
