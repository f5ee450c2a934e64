import { LeaderError } from "svc-client/internal/leader/error";
import { laxBody, laxEnvelope } from "svc-client/internal/leader/request/lax-request";
import { requireObject, type SignOptions, signRequest } from "svc-client/internal/leader/request/request";
import type { SignedRequest } from "svc-client/internal/leader/request/signed-request";
import { OutputReader } from "svc-client/internal/leader/result/output-reader";
import { resolveResult } from "svc-client/internal/leader/result/resolve";
import { decodeResult, type ToolResult, verifyToolSignature } from "svc-client/internal/leader/result/result";
import type { InputOf, OutputOf } from "svc-client/internal/leader/tool-types";
import { responseError } from "svc-client/internal/leader/transport/response";
import { decodeBase64url } from "svc-client/internal/wire/base64";
import type { MetaSchema } from "svc-client/internal/wire/bcs/bcs-shapes";
import { derivePorts } from "svc-client/internal/wire/codec/ports";
import { RESULT_CONTENT_TYPE, SignatureHeaders } from "svc-client/internal/wire/protocol";
import { prepareVerifyKey } from "svc-client/internal/wire/signature/ed25519";
import { outputHash } from "svc-client/internal/wire/signature/signature";
import type { ServedTool } from "../server/call/run/served-tool.js";
import { StartupError } from "../server/errors/startup-error.js";
import type { SvcToolClass } from "../tool.js";
import type { LogLine } from "./kept-log.js";
import type { LeaderChoice } from "./leaders.js";
import { type HarnessOptions, type RawRequest, type RawResponse, TestServer } from "./test-server.js";

/** Options of one signed call. */
export interface SignedCallOptions extends Pick<SignOptions, "nonce"> {
  /** Signer: the name of an allow-listed leader, or a leader with its key. By default the leader of the harness. */
  readonly leader?: LeaderChoice;
}

/** A signed call, as the leader sees it. */
export interface SignedCall<Output> extends Pick<ToolResult, "tag" | "ports"> {
  /** The result with the types of the tool's class. */
  readonly output: Output;
  /** The request that was sent. `invokeRaw(call.request)` is an exact retry. */
  readonly request: SignedRequest;
  readonly response: RawResponse;
  /** `verified`: signed by the tool's key. `unsigned`: the configuration has no `response_signing_key`. */
  readonly signature: "verified" | "unsigned";
  /** 64 bytes; absent if the result is unsigned. */
  readonly toolSignature?: Uint8Array;
  /** 32 bytes: hash of the result, which the tool's signature covers. */
  readonly outputHash: Uint8Array;
}

/**
 * One tool under test.
 *
 * A call that fails rejects with a {@link LeaderError}: its members are those of the answer, such as `status`,
 * `code`, `ran` and `requestId`; `request` is the signed request; and `cause` is the error that the server logged, such as the tool's exception for a 500.
 */
export class Harness<Tool extends SvcToolClass = SvcToolClass> {
  /** Lines of the server's log so far, including debug lines. */
  readonly logs: readonly LogLine[];
  readonly #server: TestServer;
  readonly #tool: ServedTool;
  readonly #ports: MetaSchema;
  readonly #reader: OutputReader;

  /** @internal use {@link createHarness} */
  constructor(server: TestServer, tool: ServedTool) {
    this.#server = server;
    this.#tool = tool;
    this.logs = server.log.lines;
    this.#ports = derivePorts(tool.contract.inputSchema, tool.contract.outputSchema);
    this.#reader = new OutputReader(tool.contract);
  }

  /**
   * Calls the tool and returns its result with the types of the class, such as `{ ok: { sum: 3n } }`. In signed mode,
   * the default leader signs.
   *
   * @throws {@link LeaderError} if the call fails
   */
  async invoke(input: InputOf<Tool>): Promise<OutputOf<Tool>> {
    if (this.#server.signed) return (await this.invokeSigned(input)).output;
    const body = laxBody(requireObject(input));
    const headers = { "Content-Type": "application/json", Accept: RESULT_CONTENT_TYPE };
    const response = await this.#send({ headers, body });
    return this.#output(decodeResult(this.#ports, response.body));
  }

  /**
   * Calls the tool as a leader and verifies the tool's signature.
   *
   * @throws {@link LeaderError} if the call fails; TypeError if the harness is unsigned
   */
  async invokeSigned(input: InputOf<Tool>, options: SignedCallOptions = {}): Promise<SignedCall<OutputOf<Tool>>> {
    const request = this.sign(input, options);
    const response = await this.#send(request, request);
    const { value: _, ...result } = decodeResult(this.#ports, response.body);
    return {
      ...result,
      output: await this.#output(result),
      request,
      response,
      outputHash: outputHash(response.body),
      ...this.#verified(request, response),
    };
  }

  /**
   * Signs a request without sending it, so that a test can change it before {@link invokeRaw}.
   *
   * @throws TypeError if the harness is unsigned
   */
  sign(input: InputOf<Tool>, { leader, nonce }: SignedCallOptions = {}): SignedRequest {
    const { signed, leaders, options } = this.#server;
    if (!signed)
      throw new TypeError("invokeSigned: expected a signed harness, got an unsigned one; remove `signed: false`");
    const { headerPrefix } = options;
    return signRequest(
      laxEnvelope(this.#ports.inputPorts, requireObject(input)),
      leaders.leader(leader ?? options.leader ?? "leader"),
      { ...(nonce !== undefined && { nonce }), ...(headerPrefix !== undefined && { headerPrefix }) },
    );
  }

  /**
   * Sends any headers and any body to `/invoke` and returns the answer, even if it is an error. To test HTTP framing
   * and paths, use {@link http}.
   */
  async invokeRaw(request: RawRequest): Promise<RawResponse> {
    return (await this.#server.call(this.#tool, request)).answer;
  }

  /**
   * Starts to listen on a free port of 127.0.0.1, at the first call.
   *
   * @returns base URL, such as `http://127.0.0.1:40001`; append the tool's `path()`
   */
  http(): Promise<string> {
    return this.#server.listen();
  }

  /**
   * Advances the server's time for the deadlines of running calls and for the replay memory. The tool's own timers and
   * rate limits use the real clock.
   */
  advance(ms: number): Promise<void> {
    return this.#server.advance(ms);
  }

  /** Harness of another tool of the same server. */
  of<Other extends SvcToolClass>(tool: Other): Harness<Other> {
    const found = this.#server.tools.find((served) => served.tool === (tool as SvcToolClass));
    if (found === undefined)
      throw new StartupError(`the harness does not serve ${tool.fqn()}: add its class to createHarness([…])`);
    return new Harness<Other>(this.#server, found);
  }

  /** Aborts the running calls and frees the port. */
  close(): Promise<void> {
    return this.#server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(request: RawRequest, signed?: SignedRequest): Promise<RawResponse> {
    const { answer, requestId, error } = await this.#server.call(this.#tool, request);
    if (answer.status === 200) return answer;
    throw responseError(answer).with({ cause: error, requestId, request: signed });
  }

  async #output(result: Pick<ToolResult, "tag" | "ports">): Promise<OutputOf<Tool>> {
    const { store } = this.#server.options;
    const { value } =
      store === undefined
        ? { value: this.#reader.read(result) }
        : await resolveResult(result, store.reader, this.#reader);
    const isText = this.#tool.contract.output.find(({ name }) => name === result.tag)?.text;
    return (isText ? result.tag : { [result.tag]: value }) as OutputOf<Tool>;
  }

  #verified(
    request: SignedRequest,
    { headers, body }: RawResponse,
  ): Pick<SignedCall<never>, "signature" | "toolSignature"> {
    const { leaders, options } = this.#server;
    const names = new SignatureHeaders(options.headerPrefix);
    const key = leaders.config.toolConfig(this.#tool.fqn)?.signingKey;
    if (key === undefined) return { signature: "unsigned" };
    const toolSignature = decodeBase64url(headers[names.toolSignature.toLowerCase()] ?? "");
    const verifyKey = prepareVerifyKey(key.publicKey);
    if (toolSignature === undefined || !verifyToolSignature(verifyKey, request, body, toolSignature)) {
      throw new LeaderError("wrong_signature", "the result is not signed by the tool's key", { request });
    }
    return { signature: "verified", toolSignature };
  }
}

/**
 * Prepares tool classes for tests, as a server would.
 *
 * @example
 * ```ts run
 * import { createHarness } from "svc-runtime/testing";
 * import { contracts } from "./generated/contracts.js";
 * import { Sum } from "./sum.js";
 *
 * const sum = await createHarness(Sum, { contracts });
 * console.log(await sum.invoke({ a: 1n, b: 2n, label: "x", tags: ["y"] })); // { ok: { sum: 3n, … } }
 * await sum.close();
 * ```
 *
 * @param tools one class, or several that share a server; {@link Harness.of} returns the harness of each other class
 * @throws StartupError for a tool that cannot be served or has no contract; RangeError, TypeError for invalid options
 */
export async function createHarness<Tool extends SvcToolClass>(
  tools: Tool | readonly [Tool, ...SvcToolClass[]],
  options: HarnessOptions = {},
): Promise<Harness<Tool>> {
  const classes: readonly SvcToolClass[] = Array.isArray(tools) ? (tools as readonly SvcToolClass[]) : [tools as Tool];
  const server = await TestServer.start(classes, options);
  return new Harness<Tool>(server, server.tools[0] as ServedTool);
}
