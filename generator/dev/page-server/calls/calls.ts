/** Valid and invalid calls from the page, with verdicts according to protocol.md sections 5 to 8. */

import { createHash, randomBytes, randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import {
  DEFAULT_HEADER_PREFIX,
  JsonError,
  parseJson,
  RESULT_CONTENT_TYPE,
  SignatureHeaders,
} from "svc-runtime/internal/generator";
import { laxEnvelope, prepareLeader } from "svc-runtime/internal/inspect";
import { type LeaderOptions, type MetaSchema, signRequest, TIMEOUT_MARGIN_MS } from "svc-runtime/leader";
import { exchange, type Header, type HttpExchange, headerOf } from "../../../http/exchange.js";
import { isKind, type PortTexts, portTexts, tampered } from "../../../invoke/port-texts.js";
import type { ExchangeReport, ExchangeView, PageCall, SignerView, ToolView } from "../page-api.js";
import { PageFault } from "../page-fault.js";
import type { FailedCall } from "./advice.js";
import type { CallHistory } from "./call-history.js";
import { exchangeView, hashOf, type Prepared } from "./exchange-view.js";
import { isCallKind, outcomeOf, verdictOf } from "./verdicts.js";

export interface CallerOptions extends LeaderOptions {
  /** The tool's public key as text. */
  readonly toolKey?: string;
  /** IDs of other leaders that have the leader's key. */
  readonly as?: readonly string[];
}

/** Signs and sends the calls of the page. Private keys stay in this process. */
export class Caller {
  readonly #options: CallerOptions;
  readonly #history: CallHistory;

  constructor(options: CallerOptions, history: CallHistory) {
    this.#options = options;
    this.#history = history;
  }

  /** Leader IDs and key ID with which calls can be signed. */
  get signers(): SignerView[] {
    const { leader, as = [] } = this.#options;
    if (leader === undefined) return [];
    return [leader.id, ...as].map((leaderId) => ({ leaderId, keyId: String(leader.keyId) }));
  }

  /**
   * Makes one call for the page.
   *
   * @param isSigned whether the server requires signatures; null if unknown
   * @throws PageFault if the request cannot be sent
   */
  async run(request: PageCall, tool: ToolView, ports: MetaSchema, isSigned: boolean | null): Promise<ExchangeReport> {
    const { kind, of, shown = request.input, secrets = [] } = request;
    const isText = (each: unknown) => typeof each === "string";
    if (!isCallKind(kind) || ![request.input, shown].every(isText) || ![secrets].flat().every(isText))
      throw new PageFault("a call needs a known kind and an input as text: reload the page");
    const first = kind === "retry" ? this.#history.get(of) : undefined;
    if (kind === "retry" && first?.start !== this)
      throw new PageFault(
        "the call to repeat is no longer in the history, or the server has restarted: make a new call",
      );
    const signed =
      kind === "retry" ? first?.prepared.signed !== undefined : kind === "unsigned" ? false : request.signed;
    const texts = portTexts(inputDocument(request.input), ports.inputPorts);
    const from = performance.now();
    const prepared = first?.prepared ?? this.#prepare(request, signed, texts, ports);
    const preparing = {
      name: signed ? "build and sign" : "build",
      ms: Math.round((performance.now() - from) * 100) / 100,
    };
    const { headerPrefix = DEFAULT_HEADER_PREFIX } = this.#options;
    const call = { signed, isSigned, kind, headerPrefix, ports: sentPorts(ports, texts) };
    const { view, digest } = await this.#send(prepared, tool, ports, call);
    const answer = { ...view, phases: [preparing, ...view.phases] };
    const report = {
      id: randomUUID(),
      fqn: tool.fqn,
      kind,
      signed,
      at: new Date().toISOString(),
      input: first?.report.input ?? shown,
      exchange: answer,
      status: answer.response?.status ?? null,
      outcome: outcomeOf(answer),
      ms: Math.round(answer.phases.reduce((sum, { ms }) => sum + ms, 0) * 10) / 10,
      ...verdictOf({
        kind,
        signed,
        exchange: answer,
        first: first?.report.exchange,
        isSame: digest === first?.digest,
        ageMs: from - (first?.at ?? from),
      }),
    };
    return this.#history.add({ prepared, digest, start: this }, report);
  }

  #prepare(
    { kind, as, input, secrets = [] }: PageCall,
    signed: boolean,
    texts: PortTexts,
    { inputPorts }: MetaSchema,
  ): Prepared {
    if (!signed) return { body: Buffer.from(input), signedTexts: texts, sentTexts: texts, secrets };
    const known = this.#options.leader;
    const id = this.signers.find(({ leaderId }) => as === undefined || leaderId === as)?.leaderId;
    const leader = known && id !== undefined && { ...known, id };
    if (!leader) throw new PageFault("there is no key to sign with: start svc-gen dev --signed, or pass --leader-key");
    const key = kind === "wrong-key" ? randomBytes(32) : leader.key;
    const envelope = { ...laxEnvelope(inputPorts, texts), inputHash: hashOf(inputPorts, texts) };
    const request = signRequest(envelope, { ...leader, key }, this.#prefix());
    const leaderKey = Buffer.from(prepareLeader({ ...leader, key }).key.publicKey);
    const whole = { body: request.body, signedTexts: texts, sentTexts: texts, signed: request, leaderKey, secrets };
    if (kind !== "tampered") return whole;
    const sentTexts = tampered(texts);
    if (sentTexts === undefined) throw new PageFault("the input has no value to change");
    return { ...whole, sentTexts, body: laxEnvelope(inputPorts, sentTexts).body };
  }

  async #send(
    prepared: Prepared,
    { fqn, url, timeoutMs }: ToolView,
    ports: MetaSchema,
    call: FailedCall,
  ): Promise<{ readonly view: ExchangeView; readonly digest: string }> {
    const requestId = randomUUID();
    const { headerPrefix } = call;
    const { toolKey, tls } = this.#options;
    const headers: Header[] = [
      ...Object.entries(prepared.signed?.headers ?? { "Content-Type": "application/json" }),
      ["Accept", `${RESULT_CONTENT_TYPE}, application/json;q=0.5`],
      ["X-Request-Id", requestId],
    ];
    const done = await exchange({
      method: "POST",
      url: new URL(`${url}/invoke`),
      headers,
      body: prepared.body,
      timeoutMs: timeoutMs + TIMEOUT_MARGIN_MS,
      tls,
    });
    return {
      view: exchangeView(done, prepared, { fqn, requestId, ports, call, toolKey }),
      digest: digestOf(done, headerPrefix),
    };
  }

  #prefix() {
    const { headerPrefix } = this.#options;
    return headerPrefix === undefined ? {} : { headerPrefix };
  }
}

/** Identifies an answer: its status, its signature and its whole body. */
function digestOf({ response }: HttpExchange, headerPrefix: string): string {
  const signature = response && headerOf(response, new SignatureHeaders(headerPrefix).toolSignature);
  return createHash("sha256")
    .update(`${response?.status} ${signature}\n`)
    .update(response?.body ?? "")
    .digest("hex");
}

/** Names of the ports in an envelope: those of the tool, then undeclared members. */
function sentPorts({ inputPorts }: MetaSchema, texts: PortTexts): string[] {
  const known = inputPorts.map(({ name }) => name);
  return [...known, ...Object.keys(texts).filter((name) => !known.includes(name))];
}

/** @throws PageFault unless the text is a JSON object */
function inputDocument(input: string): ReturnType<typeof parseJson> {
  try {
    const document = parseJson(Buffer.from(input));
    if (isKind(document, 0, "{")) return document;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new PageFault(`the input is not JSON: ${error.message}`);
  }
  throw new PageFault("the input is not a JSON object");
}
