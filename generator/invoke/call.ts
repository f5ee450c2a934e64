/** One call of a tool as a leader makes it, and what of it was verified. */

import { performance } from "node:perf_hooks";
import { quote as jsonQuote, prettyJson } from "svc-runtime/internal/generator";
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
import { inputOf, tampered } from "./input.js";
import { type SecretSources, withSecrets } from "./secrets.js";

export interface CallRequest {
  readonly url: string;
  readonly input: Uint8Array;
  readonly secrets: SecretSources;
  readonly client: LeaderOptions;
  /** Sends a signed request; `client` has the keys. */
  readonly signed: boolean;
  /** Sends the same request a second time. */
  readonly replay: boolean;
  /** Sends the request once more with another value in its body. */
  readonly tamper: boolean;
  readonly timeoutMs?: number;
}

/** What a call gave. */
export interface CallReport {
  readonly fqn: string;
  readonly variant: string;
  /** `{"variant":{…}}`, indented; numbers keep their spelling. */
  readonly result: string;
  readonly milliseconds: number;
  readonly signature: CallResult["signature"];
  /** Of the exact retry. */
  readonly replay?: {
    readonly milliseconds: number;
    /** Whether result and signature are the bytes of the first answer. */
    readonly same: boolean;
  };
  /** Of the request with the changed body: the refusal; undefined when it was accepted. */
  readonly tamper?: { readonly refusal: LeaderError | undefined };
}

/** @throws {@link LeaderError}, CommandError for an input that does not fit the ports */
export async function callTool(request: CallRequest): Promise<CallReport> {
  const { timeoutMs } = request;
  const options: CallOptions = timeoutMs === undefined ? {} : { timeoutMs };
  // Connections of its own: one that an earlier call of this process left may lead to a server that has been replaced.
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
      throw new CommandError("there is no value that --tamper could change", "leave --tamper out");
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

/** The result as JSON text, from the texts of its values. */
function resultText({ tag, ports }: CallResult): string {
  const members = ports.map(({ name, many, values }) => {
    const texts = values.map((value) =>
      value.kind === "inline"
        ? Buffer.from(value.bytes).toString("utf8")
        : `{"stored":${jsonQuote(String(value.blobId))}}`,
    );
    return `${jsonQuote(name)}:${many ? `[${texts.join(",")}]` : texts[0]}`;
  });
  return `{${jsonQuote(tag)}:{${members.join(",")}}}`;
}

async function retry(client: LeaderClient, request: SignedRequest, first: CallResult, options: CallOptions) {
  const { value: second, milliseconds } = await timed(() => client.send(request, options));
  const parts = ({ bcs, toolSignature }: CallResult) => Buffer.concat([bcs, toolSignature ?? Buffer.alloc(0)]);
  return { milliseconds, same: parts(second).equals(parts(first)) };
}

/** Sends the headers of a signed request with the body of another input. */
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
