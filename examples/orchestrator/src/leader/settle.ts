/**
 * Settles an account from receipts alone: what the tool `total` charged this leader, as both keys prove. Calls no server.
 *
 *     LEADER_PUBLIC_KEY=HEX TOOL_KEY=HEX node dist/leader/settle.js receipts.jsonl
 */

import { readFileSync } from "node:fs";
import { ReceiptError, readReceipt } from "svc-runtime/leader";
import { contracts } from "../generated/contracts.js";
import type { Total } from "../steps.js";

const [file] = process.argv.slice(2);
const { LEADER_PUBLIC_KEY: leaderKey, TOOL_KEY: toolKey } = process.env;
if (!(file && leaderKey && toolKey)) {
  throw new Error("usage: LEADER_PUBLIC_KEY=HEX TOOL_KEY=HEX node dist/leader/settle.js FILE");
}

/** Charges by nonce and input: a repeated call has one result, but may have several receipts. */
const charges = new Map<string, bigint>();
let broken = 0;
for (const line of readFileSync(file, "utf8").split("\n").filter(Boolean)) {
  try {
    const { tool, nonce, inputHash, result } = readReceipt<typeof Total>(line, { leaderKey, toolKey, contracts });
    if (tool !== "xyz.orchestrator.total@1" || result.tag !== "totalled") continue;
    charges.set(Buffer.concat([nonce, inputHash]).toString("hex"), result.value.cents);
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    broken++;
  }
}
const sum = [...charges.values()].reduce((total, cents) => total + cents, 0n);
console.log(`${charges.size} charges, ${sum} cents, ${broken} lines that are not true receipts`);
