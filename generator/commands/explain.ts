/** `svc-gen explain CODE`. */

import { CODES, type Code, explain } from "../diagnostics.js";

/** The page of a code; undefined when there is no such code. */
export function explainCode(text: string): string | undefined {
  const code = text.toUpperCase();
  return Object.hasOwn(CODES, code) ? explain(code as Code) : undefined;
}
