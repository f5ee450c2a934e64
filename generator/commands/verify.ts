/** `svc-gen verify`: verifies receipts of calls, offline. */

import { JsonError, prettyJson, quoted, truncated } from "svc-runtime/internal/generator";
import {
  LeaderError,
  MAX_RECEIPT_BYTES,
  type ReadReceiptOptions,
  type ReceiptClaim,
  ReceiptError,
  readReceipt,
  type VerifiedReceipt,
} from "svc-runtime/leader";
import { type CommandContext, CommandError, defineCommand, EXIT, JSON_OPTION, UsageError } from "../cli/command.js";
import { readNamed, UnreadableFile } from "../files/read-file.js";
import { resultText } from "../invoke/result-text.js";
import { publicKeyIn } from "./keys/key-options.js";

const OPTIONS = {
  "leader-key": { type: "string", value: "HEX", summary: "public key of the leader that you expect" },
  "tool-key": { type: "string", value: "HEX", summary: "public key of the tool that you expect" },
  contract: { type: "string", value: "FILE", summary: "meta.json of the tool, whose ports the receipt must have" },
  json: JSON_OPTION,
} as const;

const UNDECIDED = EXIT.usage;

interface Judged {
  readonly file: string;
  readonly verdict: "true" | "false" | "undecided";
  readonly claims: readonly ReceiptClaim[];
  readonly receipt?: VerifiedReceipt;
  /** Reason why the file could not be read. */
  readonly unread?: string;
}

export const command = defineCommand({
  details: `Prints each claim of a receipt: ✓ true, ✗ false, or "claimed" if neither the receipt nor an option proves it. With several
files, prints one line for each. The keys are public keys, as svc-gen keys show prints them: without both of them, the receipt shows
only that the same keys made it, not whose they are. Exit 0 if every receipt is true, 1 if one is false or is not a receipt, 2 if one
cannot be decided: a key is missing, or a file cannot be read.`,
  options: OPTIONS,
  examples: [
    ["svc-gen verify receipt.json --leader-key HEX --tool-key HEX", "one receipt, with all claims"],
    ["svc-gen verify receipts/*.json --leader-key HEX --tool-key HEX", "many receipts, one line each"],
    ["svc-gen verify - --contract meta.json", "from standard input; the ports must be those of the contract"],
  ],
  run: async (call) => {
    if (call.args.length === 0) throw new UsageError("verify expects files of receipts, or - for standard input");
    const options = optionsOf(call);
    const judged: Judged[] = [];
    for (const file of call.args) judged.push(await judge(file, call, options));
    if (call.json) call.print(`${prettyJson(`{"receipts":[${judged.map(factsText).join(",")}]}`)}\n`);
    else if (judged.length === 1) call.print(table(judged[0] as Judged));
    else call.print(judged.map(line).join(""));
    const verdicts = judged.map(({ verdict }) => verdict);
    return verdicts.includes("false") ? EXIT.failure : verdicts.includes("undecided") ? UNDECIDED : EXIT.done;
  },
});

function optionsOf({ values, cwd }: CommandContext<typeof OPTIONS>): ReadReceiptOptions {
  const { contract, "leader-key": leaderKey, "tool-key": toolKey } = values;
  try {
    if (leaderKey !== undefined) publicKeyIn("leader-key", leaderKey, cwd);
    if (toolKey !== undefined) publicKeyIn("tool-key", toolKey, cwd);
    return {
      ...(leaderKey !== undefined && { leaderKey }),
      ...(toolKey !== undefined && { toolKey }),
      ...(contract !== undefined && { metadata: readNamed(cwd, contract) }),
    };
  } catch (error) {
    // Exit 1 would mean that a receipt is false.
    if (error instanceof CommandError) throw new UsageError(`${error.message}: ${error.hint}`);
    if (error instanceof UnreadableFile) throw new UsageError(`--contract: ${error.message}`);
    throw error;
  }
}

async function judge(
  file: string,
  { cwd, readInput }: CommandContext<typeof OPTIONS>,
  options: ReadReceiptOptions,
): Promise<Judged> {
  try {
    const bytes = file === "-" ? await readInput() : readNamed(cwd, file, true, MAX_RECEIPT_BYTES);
    const receipt = readReceipt(bytes, options);
    const isProven = ["leader_key", "tool_key"].every((name) => verdictOf(receipt.claims, name) === "true");
    return { file, verdict: isProven ? "true" : "undecided", claims: receipt.claims, receipt };
  } catch (error) {
    if (error instanceof ReceiptError) return { file, verdict: "false", claims: error.claims };
    if (error instanceof UnreadableFile) return { file, verdict: "undecided", claims: [], unread: error.message };
    if (error instanceof LeaderError) throw new UsageError(`--contract: ${error.message}`);
    throw error;
  }
}

function verdictOf(claims: readonly ReceiptClaim[], name: string): string | undefined {
  return claims.find((claim) => claim.name === name)?.verdict;
}

const MARKS = { true: "✓", false: "✗", undecided: "?", claimed: "·" } as const;

/** Options with which a claimed key is compared. */
const KEY_OPTIONS: Readonly<Record<string, string>> = { leader_key: "--leader-key", tool_key: "--tool-key" };

/** No receipt proves these. */
const LIMITS = `not proven: when and where the call was made, who holds the keys, and any call that failed (errors are unsigned)\n`;

function table({ verdict, claims, receipt, unread }: Judged): string {
  if (unread !== undefined) return `? ${unread}\n`;
  const rows = claims.map(({ name, verdict, text }) => {
    const option = KEY_OPTIONS[name] ?? "";
    const claimed = ` (claimed${option && `: pass ${option} HEX`})`;
    const notes = { claimed, true: "", false: option && ` (${option} is another key)` };
    return `${MARKS[verdict]} ${text}${notes[verdict]}\n`;
  });
  const result = receipt === undefined ? "" : `${resultIn(receipt)}\n`;
  return `${result}${rows.join("")}${MARKS[verdict]} ${verdict}\n${receipt === undefined ? "" : LIMITS}`;
}

function line({ file, verdict, claims, receipt, unread }: Judged): string {
  const why =
    receipt === undefined
      ? (unread ?? claims.find((claim) => claim.verdict === "false")?.text)
      : `${truncated(receipt.tool, 256)} answered ${quoted(receipt.result.tag)} to ${truncated(receipt.leader.id, 256)}`;
  return `${MARKS[verdict]} ${file}: ${verdict}: ${why}\n`;
}

/** The result as JSON. Without a contract, the receipt does not show whether a port with one value is a list. */
function resultIn({ result: { tag, ports } }: VerifiedReceipt): string {
  const text = resultText({
    tag,
    ports: ports.map((port) => ({ ...port, many: port.many ?? port.values.length !== 1 })),
  });
  try {
    return prettyJson(text);
  } catch (error) {
    // A tool other than a server of this toolkit may sign texts that are not JSON.
    if (error instanceof JsonError) return "null";
    throw error;
  }
}

function factsText({ file, verdict, claims, receipt, unread }: Judged): string {
  const facts = JSON.stringify({ file, verdict, unread, claims });
  return receipt === undefined ? facts : `${facts.slice(0, -1)},"result":${resultIn(receipt)}}`;
}
