/** Files of receipts (docs/receipts.md), and the inputs that they enclose. */

import type { Receipt } from "svc-runtime/leader";
import { DEFINITIONS, keyword, namedSchemas } from "../contract/schema-reader.js";
import { replaceFiles } from "../files/atomic-write.js";
import { type Json, printJson, readJson } from "../text/json.js";

/** @throws UnwritableError */
export function writeReceipt(target: string, receipt: Receipt): void {
  replaceFiles([{ target, content: `${JSON.stringify(receipt)}\n`, mode: 0o600 }]);
}

/** Input ports of which no part is a secret. */
export function openPorts(inputSchema: string): string[] {
  const schema = readJson(inputSchema);
  const isMarked = (part: Json | undefined) => part !== undefined && /"writeOnly":true/.test(printJson(part));
  // A port that refers to any definition counts as marked if any definition is.
  const isShared = DEFINITIONS.some((name) => isMarked(keyword(schema, name)));
  return [...namedSchemas(schema, "properties")]
    .filter(([, port]) => !isMarked(port) && !(isShared && printJson(port).includes('"$ref":')))
    .map(([name]) => name);
}
