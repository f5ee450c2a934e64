/**
 * Calls three tools one after the other. Every request is stored before it is sent, and every receipt before its result is
 * used, so that the process can be killed at any point and restarted: no tool runs twice, and no result or proof is lost.
 *
 *     node dist/leader/orchestrator.js URL FOLDER ITEM QUANTITY
 */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CallResult,
  LeaderClient,
  readRequest,
  type SentInput,
  type SignedRequest,
  type ToolType,
} from "svc-runtime/leader";
import { contracts } from "../generated/contracts.js";
import type { Invoice, Price, Total } from "../steps.js";
import { receiptFile } from "./receipt-file.js";

const [url, folder, item, quantity] = process.argv.slice(2);
const { LEADER_KEY, TOOL_KEY } = process.env;
if (!(url && folder && item && quantity && LEADER_KEY && TOOL_KEY)) {
  throw new Error("usage: LEADER_KEY=HEX TOOL_KEY=HEX node dist/leader/orchestrator.js URL FOLDER ITEM QUANTITY");
}
mkdirSync(folder, { recursive: true });
const receipts = receiptFile(join(folder, "receipts.jsonl"));
const options = { leader: { id: "orchestrator", keyId: 0, key: LEADER_KEY }, toolKey: TOOL_KEY, contracts, receipts };
const deadline = Date.now() + 60_000;

const price = await LeaderClient.connect<typeof Price>(`${url}/price`, options);
const total = await LeaderClient.connect<typeof Total>(`${url}/total`, options);
const invoice = await LeaderClient.connect<typeof Invoice>(`${url}/invoice`, options);

// Results are passed on unchanged: bigints stay exact, dates stay dates.
const priced = await step("price", price, { item });
if (priced.tag === "_err_eval") throw new Error(priced.value.reason);
const { cents, at } = priced.value;
const totalled = await step("total", total, { cents, quantity: BigInt(quantity) });
if (totalled.tag === "_err_eval") throw new Error(totalled.value.reason);
const done = await step("invoice", invoice, { cents: totalled.value.cents, at });
if (done.tag === "_err_eval") throw new Error(done.value.reason);
console.log(`${done.value.text}, ${Buffer.from(done.value.digest).toString("hex")}`);

/** Sends the stored request of a step, or signs and stores one. For a step that already ran, the tool answers with its stored result. */
async function step<Tool extends ToolType>(
  name: string,
  client: LeaderClient<Tool>,
  input: SentInput<Tool>,
): Promise<CallResult<Tool>> {
  const file = join(folder as string, `${name}.json`);
  const request = stored(file) ?? client.sign(input);
  writeFileSync(`${file}.new`, JSON.stringify(request));
  renameSync(`${file}.new`, file);
  return client.repeat(request, { deadline });
}

function stored(file: string): SignedRequest | undefined {
  try {
    return readRequest(readFileSync(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
