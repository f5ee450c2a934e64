/** `svc-gen explain CODE`. */

import { CODES, type Code, explain } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import { UsageError, unknownName } from "./arguments.js";

/**
 * The page of a code, as text or as JSON.
 *
 * @throws UsageError when there is no such code
 */
export function explainCode(given: readonly string[], json: boolean): string {
  const [text, ...more] = given;
  if (text === undefined || more.length > 0) throw new UsageError("explain wants one code, such as SVC112");
  const code = text.toUpperCase();
  if (!Object.hasOwn(CODES, code)) throw unknownCode(text);
  if (!json) return explain(code as Code);
  return `${JSON.stringify({ code, ...CODES[code as Code] }, undefined, 2)}\n`;
}

/**
 * Suggests the codes with the nearest numbers; digits alone count as a code. TypeScript's codes are documented
 * elsewhere.
 */
function unknownCode(given: string): UsageError {
  if (/^ts\d+$/i.test(given))
    return new UsageError(`${quoted(given)} is TypeScript's; explain knows the codes of svc-gen`);
  const known = Object.keys(CODES);
  const [, digits] = /^(?:svc)?(\d+)$/i.exec(given) ?? [];
  if (digits === undefined) return unknownName("code", given, known);
  const away = (code: string) => Math.abs(Number(code.slice(3)) - Number(digits));
  const near = known.toSorted((one, other) => away(one) - away(other)).slice(0, 3);
  return unknownName("code", given, known, near);
}
