/** One call to a tool, verified like a leader's. */

import { performance } from "node:perf_hooks";
import { prettyJson } from "svc-runtime/internal/generator";
import {
  type CallOptions,
  type CallResult,
  LeaderClient,
  LeaderError,
  type LeaderOptions,
  type Receipt,
  type SignedRequest,
} from "svc-runtime/leader";
import { inputOf, parseInput } from "./input.js";
import { openPorts } from "./receipt-file.js";
import { resultText } from "./result-text.js";
import { type SecretSources, withSecrets } from "./secrets.js";
import { undeclaredMembers } from "./undeclared.js";

export interface CallRequest {
  readonly url: string;
  readonly input: Uint8Array;
  readonly secrets: SecretSources;
  readonly client: LeaderOptions;
  /** Whether to sign the request with the keys of `client`. */
  readonly signed: boolean;
  readonly replay: boolean;
  readonly timeoutMs?: number;
  /** Gets a message about a part of the input that the tool ignores, before the call. */
  readonly warn: (message: string) => void;
}

export interface CallReport {
  readonly fqn: string;
  readonly variant: string;
  /** `{"variant":{…}}`, indented. Numbers are printed as the server sent them. */
  readonly result: string;
  readonly milliseconds: number;
  readonly signature: CallResult["signature"];
  /** Receipt of the call, with or without the input values that are not secret. */
  readonly receipt: (withInputs: boolean) => Receipt;
  /** Answer to an exact retry; absent if none was requested. */
  readonly replay?: {
    readonly milliseconds: number;
    /** Whether result and signature equal those of the first answer, byte for byte. */
    readonly same: boolean;
  };
  /** Why an exact retry got no result. */
  readonly replayError?: LeaderError;
}

/** @throws LeaderError; CommandError if the input does not match the ports */
export async function callTool(request: CallRequest): Promise<CallReport> {
  const { timeoutMs } = request;
  const options: CallOptions = timeoutMs === undefined ? {} : { timeoutMs };
  // Uses a new connection: a pooled one may lead to a server that has been replaced.
  const client = await LeaderClient.connect(request.url, { tls: {}, ...request.client, ...options });
  try {
    const { inputPorts } = client.ports;
    const document = parseInput(request.input);
    const given = inputOf(document, inputPorts);
    for (const each of undeclaredMembers(document, client.metadata.inputSchema)) request.warn(each);
    const input = await withSecrets(given, inputPorts, client.metadata.inputSchema, request.secrets);
    if (!request.signed) {
      const { value, milliseconds } = await timed(() => client.invokeUnsigned(input, options));
      return reportOf(client, value, milliseconds);
    }
    const signed = client.sign(input);
    const { value: first, milliseconds } = await timed(() => client.send(signed, options));
    const report = reportOf(client, first, milliseconds);
    return { ...report, ...(request.replay && (await retry(client, signed, first, options))) };
  } finally {
    await client.close();
  }
}

function reportOf({ metadata }: LeaderClient, result: CallResult, milliseconds: number): CallReport {
  return {
    fqn: metadata.fqn,
    variant: result.tag,
    result: prettyJson(resultText(result)),
    milliseconds,
    signature: result.signature,
    receipt: (withInputs) => result.receipt({ withInputs: withInputs ? openPorts(metadata.inputSchema) : false }),
  };
}

async function retry(client: LeaderClient, request: SignedRequest, first: CallResult, options: CallOptions) {
  const parts = ({ bcs, toolSignature }: CallResult) => Buffer.concat([bcs, toolSignature ?? Buffer.alloc(0)]);
  try {
    const { value: second, milliseconds } = await timed(() => client.send(request, options));
    return { replay: { milliseconds, same: parts(second).equals(parts(first)) } };
  } catch (error) {
    if (error instanceof LeaderError) return { replayError: error };
    throw error;
  }
}

async function timed<T>(run: () => Promise<T>): Promise<{ value: T; milliseconds: number }> {
  const from = performance.now();
  const value = await run();
  return { value, milliseconds: Math.round(performance.now() - from) };
}
