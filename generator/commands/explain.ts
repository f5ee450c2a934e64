/** `svc-gen explain [CODE]`: explains diagnostics. */

import { asJson, defineCommand, EXIT, JSON_OPTION, UsageError } from "../cli/command.js";
import { CODES, type Code, explain } from "../compile/diagnostics/diagnostics.js";
import { quoted } from "../compile/diagnostics/quote.js";

export const command = defineCommand({
  options: { json: JSON_OPTION },
  examples: [
    ["svc-gen explain SVC112", "explains one diagnostic"],
    ["svc-gen explain", "lists all codes, one per line"],
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

function explainCode([text = ""]: readonly string[], json: boolean): string {
  const code = /^\d+$/.test(text) ? `SVC${text}` : text.toUpperCase();
  if (!Object.hasOwn(CODES, code)) throw unknownCode(text);
  return json ? asJson({ code, ...CODES[code as Code] }) : explain(code as Code);
}

/** Error for an unknown code. Suggests no other code, because near numbers have unrelated meanings. */
function unknownCode(given: string): UsageError {
  if (/^ts\d+$/i.test(given))
    return new UsageError(`${quoted(given)} is a code of TypeScript; explain knows only the codes of svc-gen`);
  return new UsageError(`unknown code ${quoted(given)}; svc-gen explain lists all codes, such as SVC112`);
}
