/** Exposes tools to MCP clients: calls the tools as a leader, and converts their answers. */

import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { FAILURE_VARIANT, type ToolHints } from "svc-runtime/internal/generator";
import { type CallResult, LeaderClient, LeaderError, type LeaderOptions, type Receipt } from "svc-runtime/leader";
import { quoted } from "../compile/diagnostics/quote.js";
import { UnwritableError } from "../files/atomic-write.js";
import { OutOfTime } from "../process/run-within.js";
import { explainAnswer, RAN_TEXTS } from "../text/error-answers.js";
import { sentences } from "../text/sentences.js";
import { replaceHints } from "../tools/hints.js";
import { BoundSecrets, type GivenSecret } from "./bound-secrets.js";
import { BridgedTool, UnfitTool } from "./bridged-tool.js";
import { type Plain, RoundedInteger } from "./exact-integers.js";
import { RepeatedCalls, ReusedKey } from "./repeated-calls.js";
import { type RequestFacts, traced } from "./tracing.js";

/** Milliseconds between two reports of progress. */
const PROGRESS_MS = 5_000;
/** Keys in a result's `_meta`: whether the tool's signature was verified, and the file of the receipt. */
const [SIGNATURE, RECEIPT] = ["svc-gen/signature", "svc-gen/receipt"];

export interface BridgeOptions {
  /** Returns the addresses of the tools, with the hints that their servers give. Called for each listing. */
  readonly addresses: () => Promise<ReadonlyMap<string, ToolHints>>;
  /** Whether a tool is offered; by default every tool is. */
  readonly offers?: (fqn: string) => boolean;
  /** Additional hints by FQN, which replace those of the server. */
  readonly hints?: ReadonlyMap<string, ToolHints>;
  /** Options of the calls, which are signed if there is a leader. */
  readonly client: LeaderOptions;
  /** Stores the receipt of a call and returns the path of its file. */
  readonly keep?: (receipt: Receipt) => string;
  /** Reports a tool that is omitted, and the reason. */
  readonly complain: (problem: string) => void;
}

/** One call of a client. */
export interface BridgeCall {
  readonly name: string;
  readonly args: Plain;
  /** Identifies the call: calls with the same key, name and arguments are one call. */
  readonly key?: { readonly text: string; readonly isExclusive: boolean };
  readonly signal: AbortSignal;
  /** Called every few seconds while the call runs. */
  readonly onProgress?: (elapsedMs: number, limitMs: number) => void;
  /** For the span of the call. */
  readonly request: RequestFacts;
}

/** Thrown if no tool has the name. */
export class UnknownTool extends Error {}

export class Bridge {
  readonly #options: BridgeOptions;
  /** Clients by address, each with its tool unless the tool is unfit. */
  readonly #clients = new Map<string, { readonly client: LeaderClient; tool?: BridgedTool }>();
  readonly #repeated = new RepeatedCalls();
  #tools: ReadonlyMap<string, BridgedTool> = new Map();
  #secrets = new BoundSecrets([], []);
  /** Names of all tools at the addresses, also of those that are not offered. */
  readonly seen = new Set<string>();
  /** Listeners for a changed contract. */
  readonly onChange = new Set<() => void>();

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  /**
   * Reads the contracts of all tools.
   *
   * @returns the problems of tools that are omitted
   */
  async read(): Promise<readonly string[]> {
    const problems: string[] = [];
    const tools = new Map<string, BridgedTool>();
    const addresses = await this.#options.addresses();
    for (const [url, { client }] of this.#clients) {
      if (addresses.has(url)) continue;
      this.#clients.delete(url);
      void client.close().catch(() => {});
    }
    const read = Array.from(addresses, ([url, hints]) => this.#contractAt(url, hints));
    for (const result of await Promise.all(read)) {
      if (result === undefined) continue;
      const tool = typeof result === "string" ? undefined : result;
      const other = tool && tools.get(tool.name);
      if (typeof result === "string") problems.push(result);
      else if (other !== undefined) {
        problems.push(`${result.fqn} and ${other.fqn} are both ${result.name}`);
      } else tools.set(result.name, result);
    }
    this.#tools = tools;
    return problems;
  }

  /**
   * Gives secrets to the tools that were read. Clients neither see nor send them.
   *
   * @throws UsageError
   */
  bindSecrets(given: readonly GivenSecret[]): void {
    this.#secrets = new BoundSecrets(given, [...this.#tools.values()]);
  }

  /**
   * The tool at an address, or the reason why it is omitted; undefined if it is not offered. Other tools do not depend on
   * its metadata.
   */
  async #contractAt(url: string, hints: ToolHints): Promise<BridgedTool | string | undefined> {
    try {
      const known = this.#clients.get(url) ?? { client: await LeaderClient.connect(url, this.#options.client) };
      if (this.#clients.get(url) !== undefined) await known.client.refresh();
      this.#clients.set(url, known);
      const { fqn } = known.client.metadata;
      this.seen.add(fqn);
      if (this.#options.offers?.(fqn) === false) return undefined;
      if (known.tool === undefined || known.tool.isOutdated) {
        delete known.tool;
        known.tool = new BridgedTool(known.client, url);
      }
      known.tool.hints = replaceHints(hints, this.#options.hints?.get(fqn));
      return known.tool;
    } catch (error) {
      if (error instanceof LeaderError) return `no metadata from ${url}: ${error.message}`;
      if (error instanceof UnfitTool) return error.message;
      return `the schemas of ${url} cannot be used: ${reasonOf(error)}`;
    }
  }

  /** Reads the tools again and lists them. */
  async list(): Promise<Tool[]> {
    const before = this.#tools;
    for (const problem of await this.read()) this.#options.complain(problem);
    if (this.#tools.size === 0) this.#tools = before;
    return this.offered;
  }

  /** The tools that were read. */
  get offered(): Tool[] {
    return Array.from(this.#tools.values(), ({ name, fqn, hints, inputSchema, outputSchema, client }) => ({
      name,
      title: fqn,
      description: client.metadata.description,
      inputSchema: inputSchema as Tool["inputSchema"],
      outputSchema: outputSchema as Tool["outputSchema"],
      ...(Object.keys(hints).length > 0 && { annotations: annotationsOf(hints) }),
    }));
  }

  /**
   * Calls a tool. Repeats the same signed request while the server cannot be reached.
   *
   * @throws UnknownTool
   */
  async call(call: BridgeCall): Promise<CallToolResult> {
    if (!this.#tools.has(call.name)) await this.list();
    const tool = this.#tools.get(call.name);
    if (tool === undefined) throw new UnknownTool(`no tool has the name ${quoted(call.name)}: list the tools again`);
    return traced(call.name, call.request, () => this.#callTool(tool, call));
  }

  async #callTool(tool: BridgedTool, call: BridgeCall): Promise<CallToolResult> {
    const began = performance.now();
    const { onProgress } = call;
    const report = () => onProgress?.(performance.now() - began, tool.client.metadata.timeout);
    const timer = onProgress && setInterval(report, PROGRESS_MS);
    let result: CallResult;
    try {
      const sending = this.#prepare(tool, call);
      if (typeof sending === "string") return failure(`${sending}. The tool did not run.`);
      result = await sending();
    } catch (error) {
      if (error instanceof LeaderError) return failure(await this.#explain(tool, error));
      return failure(sentences(`there is no result (${reasonOf(error)})`, RAN_TEXTS.maybe));
    } finally {
      clearInterval(timer);
    }
    try {
      const file = this.#options.keep?.(result.receipt());
      const { _meta, ...answer } = answerOf(tool, result);
      return { ...answer, _meta: { ..._meta, ...(file !== undefined && { [RECEIPT]: file }) } };
    } catch (error) {
      const isKnown = error instanceof UnfitTool || error instanceof UnwritableError;
      const fault = isKnown ? error.message : unconverted("result", error);
      return failure(sentences(`${RAN_TEXTS.yes}, and ${fault}`));
    }
  }

  /** The function that sends a call, or the reason why the call is refused. */
  #prepare(tool: BridgedTool, { name, args, key, signal }: BridgeCall): string | (() => Promise<CallResult>) {
    const { client } = tool;
    const own = this.#secrets.of(tool);
    const secret = [...tool.secrets].find(([port, isRequired]) => {
      return Object.hasOwn(args, port) || (isRequired && !own.has(port));
    })?.[0];
    if (secret !== undefined) {
      const how = `svc-gen mcp --secret ${tool.fqn}.${secret}=VARIABLE`;
      return `${secret} is a secret of ${tool.fqn} and must be set when this bridge is started (${how})`;
    }
    const isSigned = this.#options.client.leader !== undefined;
    if (!isSigned && key?.isExclusive) {
      return "An unsigned call cannot be retried safely: omit the idempotency key, or sign calls";
    }
    try {
      const many = new Set(client.ports.inputPorts.filter((port) => port.many).map((port) => port.name));
      const secrets = [...own].filter(([port]) => tool.secrets.has(port));
      const texts = Object.fromEntries(secrets.map(([port, text]) => [port, many.has(port) ? [text] : text]));
      const input = { ...tool.inputOf(args), ...texts };
      if (!isSigned) return () => client.invokeUnsigned(input, { signal });
      const text = JSON.stringify([name, args], (_, value) => (typeof value === "bigint" ? `${value}n` : value));
      const request = this.#repeated.requestOf(key?.text, text, key?.isExclusive === true, () => client.sign(input));
      return () => client.repeat(request, { signal });
    } catch (error) {
      if (error instanceof LeaderError) throw error;
      if (error instanceof RoundedInteger || error instanceof ReusedKey) return error.message;
      return unconverted("arguments", error);
    }
  }

  /** Explains a failed call, and whether the tool's contract has changed since it was listed. */
  async #explain({ client }: BridgedTool, error: LeaderError): Promise<string> {
    const text = explained(error);
    if (!CONTRACT_FAULTS.has(error.code)) return text;
    const changes = await client.refresh().catch(() => []);
    if (changes.length === 0) return text;
    // The refused call is explained even if the list of tools cannot be read.
    await this.read().catch(() => []);
    for (const changed of this.onChange) changed();
    return `${text} The tool has changed since it was listed (${changes.join("; ")}): list the tools again.`;
  }

  async close(): Promise<void> {
    for (const { client } of this.#clients.values()) client.destroy();
  }
}

/** Hints under the names of MCP: `readOnlyHint` for `readOnly`. */
function annotationsOf(hints: ToolHints): NonNullable<Tool["annotations"]> {
  return Object.fromEntries(Object.entries(hints).map(([name, value]) => [`${name}Hint`, value]));
}

/** @throws UnfitTool and other errors if the result cannot be shown */
function answerOf(tool: BridgedTool, result: CallResult): CallToolResult {
  const structuredContent = tool.structured(result);
  if (result.tag === FAILURE_VARIANT) {
    const { reason } = structuredContent[FAILURE_VARIANT] as Plain;
    return failure(`The tool reports a failure: ${typeof reason === "string" ? reason : JSON.stringify(reason)}`);
  }
  return {
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
    _meta: { [SIGNATURE]: result.signature },
  };
}

/** A failed conversion, which is caused by the tool's schemas. */
function unconverted(what: "arguments" | "result", error: unknown): string {
  if (error instanceof OutOfTime) return `the ${what} cannot be validated against the tool's schema in time`;
  return `the ${what} cannot be converted with the tool's schema (${reasonOf(error)})`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : "unknown error";
}

const CONTRACT_FAULTS: ReadonlySet<string> = new Set([
  "invalid_input",
  "input_deserialization_error",
  "invalid_answer",
]);

function explained({ code, details, ran }: LeaderError): string {
  const { meaning = "there is no result", caller } = { ...explainAnswer(code, details), ...BRIDGE_FAULTS[code] };
  const what = `${meaning} (${details === undefined ? code : `${code}: ${details}`})`;
  return sentences(what, ...(caller === undefined ? [] : [caller]), RAN_TEXTS[ran]);
}

/**
 * Failures that the client detects, and failures after which an MCP client does something else than a leader: it cannot
 * send the same request again, because the bridge signs each call anew.
 */
const BRIDGE_FAULTS: Readonly<Record<string, { readonly meaning?: string; readonly caller: string | undefined }>> = {
  invalid_input: { meaning: "the input does not match the contract", caller: "correct the input" },
  wrong_signature: { meaning: "the result was not signed with the tool's key, so it is not shown", caller: undefined },
  unsigned_result: { meaning: "the result was not signed, so it is not shown", caller: undefined },
  connection_failed: { meaning: "the tool's server could not be reached", caller: undefined },
  rate_limited: { caller: "call again later" },
  auth_failed: { caller: "add the leader and key of this bridge to the allow-list of the server" },
  tool_invocation_failed: { caller: "look at the log of the tool's server" },
  tool_invocation_timeout: { caller: "request less, or call again later" },
  tool_invocation_interrupted: { caller: "call again if the tool may run twice" },
  replay_memory_lost: { caller: "call again if the tool may run twice" },
};

function failure(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}
