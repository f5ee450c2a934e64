/** One call to a tool, verified like a leader's. */

import { performance } from "node:perf_hooks";
import { prettyJson } from "svc-runtime/internal/generator";
import {
  buildEnvelope,
  type CallOptions,
  type CallResult,
  LeaderClient,
  LeaderError,
  type LeaderOptions,
  type SignedRequest,
} from "svc-runtime/leader";
import { CommandError } from "../cli/command.js";
import { inputOf } from "./input.js";
import { tampered } from "./port-texts.js";
import { resultText } from "./result-text.js";
import { type SecretSources, withSecrets } from "./secrets.js";

export interface CallRequest {
  readonly url: string;
  readonly input: Uint8Array;
  readonly secrets: SecretSources;
  readonly client: LeaderOptions;
  /** Whether to sign the request with the keys of `client`. */
  readonly signed: boolean;
  readonly replay: boolean;
  /** Whether to send the request again with a changed value in its body. */
  readonly tamper: boolean;
  readonly timeoutMs?: number;
}

export interface CallReport {
  readonly fqn: string;
  readonly variant: string;
  /** `{"variant":{…}}`, indented. Numbers are printed as the server sent them. */
  readonly result: string;
  readonly milliseconds: number;
  readonly signature: CallResult["signature"];
  /** Answer to an exact retry; absent if none was requested. */
  readonly replay?: {
    readonly milliseconds: number;
    /** Whether result and signature equal those of the first answer, byte for byte. */
    readonly same: boolean;
  };
  /** Error answer to the changed request; undefined if the server accepted the request. */
  readonly tamper?: { readonly refusal: LeaderError | undefined };
}

/** @throws {@link LeaderError}; CommandError if the input does not match the ports */
export async function callTool(request: CallRequest): Promise<CallReport> {
  const { timeoutMs } = request;
  const options: CallOptions = timeoutMs === undefined ? {} : { timeoutMs };
  // Uses a new connection: a pooled one may lead to a server that has been replaced.
  const client = await LeaderClient.connect(request.url, { tls: {}, ...request.client, ...options });
  try {
    const { inputPorts } = client.ports;
    const given = inputOf(request.input, inputPorts);
    const input = await withSecrets(given, inputPorts, client.metadata.inputSchema, request.secrets);
    if (!request.signed) {
      const { value, milliseconds } = await timed(() => client.invokeUnsigned(input, options));
      return reportOf(client, value, milliseconds);
    }
    const changed = request.tamper ? tampered(input) : undefined;
    if (request.tamper && changed === undefined) {
      throw new CommandError("--tamper has no value to change: the input is empty", "omit --tamper");
    }
    const signed = client.sign(input);
    const { value: first, milliseconds } = await timed(() => client.send(signed, options));
    const report = reportOf(client, first, milliseconds);
    const replay = request.replay ? await retry(client, signed, first, options) : undefined;
    const tamper = changed && { refusal: await refusalOf(client, signed, changed, options) };
    return { ...report, ...(replay && { replay }), ...(tamper && { tamper }) };
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
  };
}

async function retry(client: LeaderClient, request: SignedRequest, first: CallResult, options: CallOptions) {
  const { value: second, milliseconds } = await timed(() => client.send(request, options));
  const parts = ({ bcs, toolSignature }: CallResult) => Buffer.concat([bcs, toolSignature ?? Buffer.alloc(0)]);
  return { milliseconds, same: parts(second).equals(parts(first)) };
}

/** Sends the headers of a signed request with a changed body. */
async function refusalOf(
  client: LeaderClient,
  request: SignedRequest,
  input: ReturnType<typeof inputOf>,
  options: CallOptions,
): Promise<LeaderError | undefined> {
  const { body } = buildEnvelope(client.ports.inputPorts, input);
  try {
    await client.send({ ...request, body }, options);
    return undefined;
  } catch (error) {
    if (error instanceof LeaderError && error.status !== undefined) return error;
    throw error;
  }
}

async function timed<T>(run: () => Promise<T>): Promise<{ value: T; milliseconds: number }> {
  const from = performance.now();
  const value = await run();
  return { value, milliseconds: Math.round(performance.now() - from) };
}
