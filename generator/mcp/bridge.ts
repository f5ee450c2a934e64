/** Exposes tools to MCP clients: calls the tools as a leader, and converts their answers. */

import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { FAILURE_VARIANT } from "svc-runtime/internal/generator";
import { LeaderClient, LeaderError, type LeaderOptions } from "svc-runtime/leader";
import { quoted } from "../compile/diagnostics/quote.js";
import { ERROR_ANSWERS, RAN_TEXTS } from "../error-answers.js";
import { OutOfTime } from "../run-within.js";
import { sentences } from "../sentences.js";
import { BridgedTool, UnfitTool } from "./bridged-tool.js";
import { type Plain, RoundedInteger } from "./exact-integers.js";
import { RepeatedCalls, ReusedKey } from "./repeated-calls.js";

/** Key in a result's `_meta`: whether the tool's signature was verified. */
const SIGNATURE = "svc-gen/signature";

export interface BridgeOptions {
  /** Returns the addresses of the tools. Called for each listing. */
  readonly addresses: () => Promise<readonly string[]>;
  /** Options of the calls, which are signed if there is a leader. */
  readonly client: LeaderOptions;
  /** Values of secret ports, by name. Clients neither see nor send them. */
  readonly secrets?: ReadonlyMap<string, string>;
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
}

/** Thrown if no tool has the name. */
export class UnknownTool extends Error {}

export class Bridge {
  readonly #options: BridgeOptions;
  readonly #clients = new Map<string, LeaderClient>();
  readonly #repeated = new RepeatedCalls();
  #tools: ReadonlyMap<string, BridgedTool> = new Map();
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
    for (const [url, client] of this.#clients) {
      if (addresses.includes(url)) continue;
      this.#clients.delete(url);
      void client.close();
    }
    const read = addresses.map((url) => this.#contractAt(url));
    for (const result of await Promise.all(read)) {
      const tool = typeof result === "string" ? undefined : result;
      const other = tool && tools.get(tool.name);
      if (typeof result === "string") problems.push(result);
      else if (other !== undefined) {
        problems.push(`${result.client.metadata.fqn} and ${other.client.metadata.fqn} are both ${result.name}`);
      } else tools.set(result.name, result);
    }
    this.#tools = tools;
    return problems;
  }

  async #contractAt(url: string): Promise<BridgedTool | string> {
    try {
      const known = this.#clients.get(url);
      const client = known ?? (await LeaderClient.connect(url, this.#options.client));
      this.#clients.set(url, client);
      if (known !== undefined) await known.refresh();
      return new BridgedTool(client);
    } catch (error) {
      if (error instanceof LeaderError) return `no metadata from ${url}: ${error.message}`;
      if (error instanceof UnfitTool) return error.message;
      throw error;
    }
  }

  /** Reads the tools again and lists them. */
  async list(): Promise<Tool[]> {
    const before = this.#tools;
    for (const problem of await this.read()) this.#options.complain(problem);
    if (this.#tools.size === 0) this.#tools = before;
    return Array.from(this.#tools.values(), ({ name, inputSchema, outputSchema, client: { metadata } }) => ({
      name,
      title: metadata.fqn,
      description: metadata.description,
      inputSchema: inputSchema as Tool["inputSchema"],
      outputSchema: outputSchema as Tool["outputSchema"],
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
    try {
      return await this.#run(tool, call);
    } catch (error) {
      if (error instanceof LeaderError) return failure(await this.#explain(tool, error));
      if (error instanceof RoundedInteger) return failure(`${error.message}. The tool did not run.`);
      if (error instanceof ReusedKey) return failure(`${error.message}. The tool did not run.`);
      if (error instanceof UnfitTool) return failure(`The tool ran, and ${error.message}.`);
      if (error instanceof OutOfTime) return failure("Validating against the tool's schema takes too long.");
      throw error;
    }
  }

  async #run(tool: BridgedTool, { name, args, key, signal }: BridgeCall): Promise<CallToolResult> {
    const { client } = tool;
    const secret = Array.from(tool.secrets).find(([port, isRequired]) => {
      return port in args || (isRequired && !this.#options.secrets?.has(port));
    })?.[0];
    if (secret !== undefined) {
      const how = `svc-gen mcp --secret ${secret}=VARIABLE`;
      return failure(
        `${secret} is a secret and must be set when this bridge is started (${how}). The tool did not run.`,
      );
    }
    const own = [...(this.#options.secrets ?? [])].filter(([port]) => tool.secrets.has(port));
    const many = new Set(client.ports.inputPorts.filter((port) => port.many).map((port) => port.name));
    const secrets = Object.fromEntries(own.map(([port, text]) => [port, many.has(port) ? [text] : text]));
    const input = { ...tool.inputOf(args), ...secrets };
    const isSigned = this.#options.client.leader !== undefined;
    if (!isSigned && key?.isExclusive) {
      return failure("An unsigned call cannot be retried safely: omit the idempotency key, or sign calls.");
    }
    const sign = () => client.sign(input);
    const text = () => JSON.stringify([name, args], (_, value) => (typeof value === "bigint" ? `${value}n` : value));
    const result = isSigned
      ? await client.repeat(this.#repeated.requestOf(key?.text, text(), key?.isExclusive === true, sign), { signal })
      : await client.invokeUnsigned(input, { signal });
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

  /** Explains a failed call, and whether the tool's contract has changed since it was listed. */
  async #explain({ client }: BridgedTool, error: LeaderError): Promise<string> {
    const text = explained(error);
    if (!CONTRACT_FAULTS.has(error.code)) return text;
    const changes = await client.refresh().catch(() => []);
    if (changes.length === 0) return text;
    await this.read();
    for (const changed of this.onChange) changed();
    return `${text} The tool has changed since it was listed (${changes.join("; ")}): list the tools again.`;
  }

  async close(): Promise<void> {
    for (const client of this.#clients.values()) client.destroy();
  }
}

const CONTRACT_FAULTS: ReadonlySet<string> = new Set([
  "invalid_input",
  "input_deserialization_error",
  "invalid_answer",
]);

function explained({ code, details, ran }: LeaderError): string {
  const { meaning = "there is no result", caller } = { ...ERROR_ANSWERS.get(code), ...BRIDGE_FAULTS[code] };
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
  auth_failed: { caller: "add the leader and key of this bridge to the allow-list of the server" },
  tool_invocation_failed: { caller: "look at the log of the tool's server" },
  tool_invocation_timeout: { caller: "request less, or call again later" },
  tool_invocation_interrupted: { caller: "call again if the tool may run twice" },
  replay_memory_lost: { caller: "call again if the tool may run twice" },
};

function failure(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}
