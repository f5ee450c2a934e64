/** `svc-gen invoke`: makes one call from the shell and reports what was verified. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEFAULT_HEADER_PREFIX, FAILURE_VARIANT, MAX_TIMEOUT_MS } from "svc-runtime/internal/generator";
import { LeaderError, type LeaderOptions } from "svc-runtime/leader";
import {
  type CommandContext,
  CommandError,
  defineCommand,
  EXIT,
  JSON_OPTION,
  PROJECT_OPTIONS,
  UsageError,
} from "../cli/command.js";
import { quoted, shellWord } from "../compile/diagnostics/quote.js";
import { certificateFault, explainFailure, printable } from "../http/failures.js";
import { hintsOf } from "../http/tools-at.js";
import { type CallReport, callTool } from "../invoke/call.js";
import { readInputText } from "../invoke/input.js";
import { writeReceipt } from "../invoke/receipt-file.js";
import { type Target, targetOf } from "../invoke/target.js";
import { authReason, explainAnswer, RAN_TEXTS } from "../text/error-answers.js";
import { AS_OPTION, CALL_OPTIONS, leaderOptions, leaderOptionsFor } from "./options/leader-options.js";
import { readNumber } from "./options/number-option.js";
import { generateOptions } from "./options/project-options.js";

const OPTIONS = {
  signed: { type: "boolean", summary: "sign the request, with the keys below or those of svc-gen dev --signed" },
  replay: {
    type: "boolean",
    summary: "send the same signed request twice, and check that the tool ran once",
    needs: ["signed"],
  },
  receipt: {
    type: "string",
    value: "FILE",
    summary: "write the receipt of the call to a file, for svc-gen verify",
    needs: ["signed"],
  },
  "with-inputs": {
    type: "boolean",
    summary: "enclose the input values in the receipt, except secrets",
    needs: ["receipt"],
  },
  as: { ...AS_OPTION, needs: ["signed"] },
  ...leaderOptionsFor({ needs: ["signed"] }),
  ...CALL_OPTIONS,
  timeout: {
    type: "string",
    value: "MS",
    summary: "time limit of the call in ms (default: the tool's timeout plus 5 s)",
  },
  yes: { type: "boolean", summary: "call a tool with the hint @destructive without a question" },
  project: PROJECT_OPTIONS.project,
  json: JSON_OPTION,
} as const;

type InvokeCall = CommandContext<typeof OPTIONS>;
/** The leader that signs the call; undefined for an unsigned call. */
type Signer = LeaderOptions["leader"];

export const command = defineCommand({
  details: `TOOL is a tool of this project: its FQN, the last part of its name, or its path. If the project has only one tool, TOOL may
be omitted. The call is sent to the running svc-gen dev (if two are running, --signed selects the one that requires
signatures), or else to port 8080 of this machine. A required input port marked @secret may be omitted from the input: its
value is read from --secret, or typed at a hidden prompt. The result is printed to standard output, everything else to
standard error. Exit 1 if there is no result, or if the result is _err_eval.`,
  options: OPTIONS,
  examples: [
    [`svc-gen invoke '{"a":1,"b":2,"label":"x","tags":["y"]}'`, "the only tool of the project"],
    ["svc-gen invoke sum @input.json --signed --replay", "signed with the development keys, then sent again"],
    ["svc-gen invoke sum @input.json --signed --receipt receipt.json", "keeps a proof of the call"],
    ["svc-gen invoke rates '{}' --secret apiKey=RATES_KEY", "a secret from the environment"],
    ["svc-gen invoke https://tools.example.org/sum - --json", "any server; the input from standard input"],
  ],
  run: async (call) => {
    const [name, input] = argumentsOf(call.args);
    const { signed = false, replay = false, timeout, secret: given = [] } = call.values;
    const { root } = generateOptions(call);
    const client = {
      ...leaderOptions(call, signed, root, call.values.as),
      allowHttp: call.values["allow-http"] === true,
    };
    const { leader, tls } = client;
    const target = await targetOf(name, root, call.env, signed, tls);
    if (input === undefined) throw missingInput(target);
    const bytes = await readInputText(input, call.cwd, call.readInput);
    if (!(await isConfirmed(target, call, tls)))
      throw new CommandError("the tool was not called", "answer with y, or pass --yes");
    try {
      const timeoutMs =
        timeout === undefined ? {} : { timeoutMs: readNumber("timeout", timeout, 1, MAX_TIMEOUT_MS, "milliseconds") };
      if (signed && leader === undefined) {
        const key = existsSync(join(call.cwd, "keys/leader.key")) ? "keys/leader.key" : "FILE";
        throw new UsageError(`--signed expects --leader-key ${key}, or a project served by svc-gen dev --signed`);
      }
      const { receipt: file, "with-inputs": withInputs = false } = call.values;
      if (file !== undefined && client.toolKey === undefined) {
        throw new UsageError("--receipt expects --tool-key HEX: a receipt proves that this key signed the result");
      }
      const secrets = { given, env: call.env, ask: call.ask };
      const warn = (message: string) => call.complain(`svc-gen: warning: ${message}\n`);
      const request = { url: target.url, input: bytes, secrets, client, signed, replay, warn, ...timeoutMs };
      const report = await callTool(request);
      print(report, call);
      if (file !== undefined) writeReceipt(resolve(call.cwd, file), report.receipt(withInputs));
      if (report.replayError !== undefined) throw report.replayError;
      const isSame = report.replay === undefined || report.replay.same;
      return report.variant !== FAILURE_VARIANT && isSame ? EXIT.done : EXIT.failure;
    } catch (error) {
      if (error instanceof LeaderError) throw failure(error, target, call, leader);
      if (error instanceof RangeError || error instanceof TypeError) throw new UsageError(error.message);
      throw error;
    }
  },
});

/** Asks on a terminal before a call of a tool that its author calls destructive. */
async function isConfirmed({ url }: Target, { ask, values }: InvokeCall, tls: LeaderOptions["tls"]): Promise<boolean> {
  if (ask === undefined || values.yes === true || (await hintsOf(url, tls)).destructive !== true) return true;
  return /^y(?:es)?$/i.test((await ask(`${printable(url)} may delete or overwrite data. Call it? [y/N] `)).trim());
}

/** Parses the arguments. The tool is optional; an input is JSON, `@FILE` or `-`. */
function argumentsOf(args: readonly string[]): [name: string | undefined, input: string | undefined] {
  const [first, second] = args;
  if (second !== undefined) return [first, second];
  return first !== undefined && /^(?:[@[{"\d]|-$)/.test(first.trim()) ? [undefined, first] : [first, undefined];
}

function missingInput({ tool }: Target): UsageError {
  const such = tool === undefined ? "" : `, such as '${tool.typed}'`;
  return new UsageError(`invoke expects an input: JSON, @FILE or - for standard input${such}`);
}

/** Error message, and what to do, for a call without a result. */
function failure(error: LeaderError, { url, tool }: Target, { values }: InvokeCall, leader: Signer): CommandError {
  const { code, status, message, requestId } = error;
  if (code === "connection_failed" && message.includes("ECONNREFUSED")) {
    const start = tool === undefined ? ", or correct the URL" : `: svc-gen dev${values.signed ? " --signed" : ""}`;
    return new CommandError(`no answer from ${url}: ${message}`, `start the server${start}`);
  }
  if (code === "connection_failed") {
    const { code: cause = "" } = Object(error.cause) as NodeJS.ErrnoException;
    const failure = cause === "UND_ERR_SOCKET" ? "ECONNRESET" : cause;
    const { detail, next } = certificateFault(failure) ?? explainFailure(failure, new URL(url));
    // For an unknown cause, `detail` says only that there was no answer; the client's message says more.
    const what = detail.startsWith("no answer") ? message : `${code}: ${detail}`;
    return new CommandError(`no answer from ${url}: ${what}`, next);
  }
  if (status === undefined) return new CommandError(message, HINTS.get(code) ?? `the call went to ${url}`);
  const isLeader = status === 401 || status === 403;
  const steps = [
    nextStep(error, url, values),
    isLeader && leader && `the request was signed as leader ${quoted(leader.id)}, key ID ${leader.keyId}`,
    requestId && `request ${requestId}`,
  ];
  return new CommandError(message, steps.filter((step) => step).join("; "));
}

/** What to do about an error answer. */
function nextStep(error: LeaderError, url: string, values: InvokeCall["values"]): string {
  const { code, status, details = "", ran } = error;
  if (status === 401) return unauthorized(details, url, values);
  if (status === 404) return "correct the URL";
  if (values.signed && details.includes("accepts only unsigned calls")) {
    return "omit --signed; if the server should require signatures, set SVC_TOOLKIT_CONFIG_PATH there";
  }
  const caller = HINTS.get(code) ?? explainAnswer(code, details)?.caller;
  return caller === undefined ? RAN_TEXTS[ran] : `${caller}; ${RAN_TEXTS[ran]}`;
}

/** What to do about a rejected signature. */
function unauthorized(details: string, url: string, values: InvokeCall["values"]): string {
  if (!values.signed) return "the server requires signatures: add --signed";
  const { "header-prefix": sent = DEFAULT_HEADER_PREFIX, "leader-key": key, as } = values;
  const { reason, advice } = authReason(details, sent);
  if (reason === "header") return `${advice}: svc-gen doctor ${url} finds the cause`;
  if (key !== undefined || reason === "prefix") return advice;
  if (as !== undefined) return `start svc-gen dev --signed --as ${shellWord(as)}`;
  return "the request was signed with the keys of svc-gen dev --signed, which this server does not know: pass --leader-key and --leader-id";
}

/** Hints for failures that the client itself detects. */
const HINTS: ReadonlyMap<string, string> = new Map([
  [
    "wrong_signature",
    "the result was not signed with the key that belongs to --tool-key: pass the public key of the tool's response_signing_key",
  ],
  ["unsigned_result", "the server's configuration has no response_signing_key for this tool"],
  ["invalid_input", "correct the input"],
]);

function print(report: CallReport, call: InvokeCall): void {
  const { fqn, variant, result, milliseconds, signature, replay } = report;
  if (call.json) {
    const facts = { fqn, variant, status: 200, milliseconds, signature, ...(replay && { replay }) };
    call.print(`${JSON.stringify(facts).slice(0, -1)},"result":${result.replaceAll(/\n */g, "")}}\n`);
    return;
  }
  call.print(`${result}\n`);
  const marks = VERIFIED[signature];
  call.complain(`✓ 200 ${variant} in ${milliseconds} ms · ${marks}\n`);
  if (replay !== undefined) {
    const verdict = replay.same
      ? "the same result and signature: the tool did not run again"
      : "DIFFERENT answer: the tool ran twice";
    call.complain(`${replay.same ? "✓" : "✗"} retry: 200 in ${replay.milliseconds} ms · ${verdict}\n`);
  }
}

const VERIFIED: Readonly<Record<CallReport["signature"], string>> = {
  verified: "input hash ✓ nonce ✓ result signature ✓",
  unverified: "signed by the tool, not verified: pass --tool-key",
  unsigned: "unsigned",
};
