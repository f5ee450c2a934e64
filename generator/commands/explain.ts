/** `svc-gen explain [CODE]`. */

import { unknownName } from "../cli/arguments.js";
import { asJson, defineCommand, EXIT, JSON_OPTION, UsageError } from "../cli/command.js";
import { CODES, type Code, explain } from "../compile/diagnostics/diagnostics.js";
import { quoted } from "../compile/diagnostics/quote.js";

export const explainCommand = defineCommand({
  name: "explain",
  arguments: "[CODE]",
  summary: "what a diagnostic means; without a code, the list of all",
  options: { json: JSON_OPTION },
  examples: [
    ["svc-gen explain SVC112", "the page of one diagnostic"],
    ["svc-gen explain", "all codes, one line each"],
  ],
  run: ({ args, json, print }) => {
    print(args.length === 0 ? listCodes(json) : explainCode(args, json));
    return EXIT.done;
  },
});

function listCodes(json: boolean): string {
  const entries = Object.entries(CODES);
  if (json) return asJson(entries.map(([code, entry]) => ({ code, ...entry })));
  return entries.map(([code, { severity, title }]) => `${code} ${severity.padEnd(7)} ${title}\n`).join("");
}

/** The page of a code, as text or as JSON. */
function explainCode([text = "", ...more]: readonly string[], json: boolean): string {
  if (more.length > 0) throw new UsageError("explain expects one code, such as SVC112");
  const code = /^\d+$/.test(text) ? `SVC${text}` : text.toUpperCase();
  if (!Object.hasOwn(CODES, code)) throw unknownCode(text);
  return json ? asJson({ code, ...CODES[code as Code] }) : explain(code as Code);
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
