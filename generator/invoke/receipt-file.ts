/** Files of receipts (docs/receipts.md), and the inputs that they enclose. */

import type { Receipt } from "svc-runtime/leader";
import { namedSchemas } from "../contract/schema-reader.js";
import { replaceFiles } from "../files/atomic-write.js";
import { type Json, printJson, readJson } from "../text/json.js";

/** @throws UnwritableError */
export function writeReceipt(target: string, receipt: Receipt): void {
  replaceFiles([{ target, content: `${JSON.stringify(receipt)}\n`, mode: 0o600 }]);
}

/** Input ports of which no part is a secret. */
export function openPorts(inputSchema: string): string[] {
  const schema = readJson(inputSchema);
  const isMarked = (part: Json) => /"writeOnly":true/.test(printJson(part));
  // A reference may lead to any part of the schema.
  const mayReferToSecret = isMarked(schema);
  return [...namedSchemas(schema, "properties")]
    .filter(([, port]) => !isMarked(port) && !(mayReferToSecret && printJson(port).includes('"$ref":')))
    .map(([name]) => name);
}
