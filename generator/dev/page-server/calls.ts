/** The calls of the page: sent as asked, compared with what the protocol says must happen (sections 5 to 8). */

import { randomBytes, randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { laxEnvelope, RESULT_CONTENT_TYPE } from "svc-runtime/inspect";
import {
  type Leader,
  type LeaderOptions,
  type MetaSchema,
  publicKeyOf,
  readPrivateKey,
  signRequest,
  TIMEOUT_MARGIN_MS,
} from "svc-runtime/leader";
import type { FailedCall } from "./advice.js";
import { exchangeView, hashOf, type Prepared } from "./exchange-view.js";
import type { CallReport, CallRequest, ExchangeView, SignerView, ToolView } from "./page-api.js";
import { PageFault } from "./page-fault.js";
import { otherTexts, type PortTexts, portTexts } from "./port-texts.js";
import { isCallKind, verdictOf } from "./verdicts.js";
import { exchange, type Header } from "./wire-request.js";

/** Calls that can be repeated. */
const MAX_KEPT = 200;

/** A call that can be repeated: its bytes, and what they were answered with. */
interface KeptCall {
  readonly prepared: Prepared;
  readonly answer: ExchangeView;
  readonly input: string;
  /** On the clock of `performance.now()`. */
  readonly at: number;
}

/** Signs and sends the calls of the page. Its keys stay in this process. */
export class Caller {
  private readonly kept = new Map<string, KeptCall>();

  constructor(private readonly options: LeaderOptions & { readonly toolKey?: string }) {}

  /** What may be shown of the signer. */
  get signer(): SignerView | null {
    const { leader } = this.options;
    return leader === undefined ? null : { leaderId: leader.id, keyId: String(leader.keyId) };
  }

  /**
   * Makes one call of the page.
   *
   * @param isSigned whether the server requires signatures; null when unknown
   * @throws PageFault for what cannot be sent
   */
  async run(request: CallRequest, tool: ToolView, ports: MetaSchema, isSigned: boolean | null): Promise<CallReport> {
    const { kind, of, shown = request.input, secrets = [] } = request;
    const isText = (each: unknown) => typeof each === "string";
    if (!isCallKind(kind) || ![request.input, shown].every(isText) || ![secrets].flat().every(isText))
      throw new PageFault("a call wants a kind and an input as text: load the page again");
    const first = of === undefined ? undefined : this.kept.get(of);
    if (kind === "retry" && first === undefined)
      throw new PageFault("the call to repeat is no longer kept, or the server has started anew: make another call");
    const signed = kind === "retry" ? first?.prepared.signed !== undefined : request.signed;
    const texts = portTexts(request.input, ports.inputPorts);
    const from = performance.now();
    const prepared =
      first !== undefined && kind === "retry" ? first.prepared : this.prepare(request, signed, texts, ports);
    const preparing = {
      name: signed ? "build and sign" : "build",
      ms: Math.round((performance.now() - from) * 100) / 100,
    };
    const call = { signed, isSigned, kind, ports: sentPorts(ports, texts) };
    const view = await this.send(prepared, tool, ports, call);
    const answer = { ...view, phases: [preparing, ...view.phases] };
    const id = randomUUID();
    const input = kind === "retry" ? (first?.input ?? shown) : shown;
    this.kept.set(id, { prepared, answer, input, at: performance.now() });
    for (const old of [...this.kept.keys()].slice(0, -MAX_KEPT)) this.kept.delete(old);
    return {
      id,
      fqn: tool.fqn,
      kind,
      signed,
      at: new Date().toISOString(),
      input,
      exchange: answer,
      ...verdictOf({ kind, signed, exchange: answer, first: first?.answer, ageMs: from - (first?.at ?? from) }),
    };
  }

  private prepare(
    { kind, input, secrets = [] }: CallRequest,
    signed: boolean,
    texts: PortTexts,
    { inputPorts }: MetaSchema,
  ): Prepared {
    if (!signed) return { body: Buffer.from(input), signedTexts: texts, sentTexts: texts, secrets };
    const { leader } = this.options;
    if (leader === undefined)
      throw new PageFault("there is no key to sign with: start svc-gen dev --signed, or give --leader-key");
    const key = kind === "wrong-key" ? randomBytes(32) : leader.key;
    const envelope = { ...laxEnvelope(inputPorts, texts), inputHash: hashOf(inputPorts, texts) };
    const request = signRequest(envelope, { ...leader, key }, this.prefix());
    const leaderKey = publicKeyOfLeader(leader);
    const whole = { body: request.body, signedTexts: texts, sentTexts: texts, signed: request, leaderKey, secrets };
    if (kind !== "tampered") return whole;
    const sentTexts = otherTexts(texts);
    if (sentTexts === undefined) throw new PageFault("there is no value that could be changed on the way");
    return { ...whole, sentTexts, body: laxEnvelope(inputPorts, sentTexts).body };
  }

  private async send(
    prepared: Prepared,
    { url, timeoutMs }: ToolView,
    ports: MetaSchema,
    call: FailedCall,
  ): Promise<ExchangeView> {
    const requestId = randomUUID();
    const { headerPrefix = "X-Svc-", toolKey, tls } = this.options;
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
    return exchangeView(done, prepared, { requestId, ports, call, headerPrefix, toolKey });
  }

  private prefix() {
    const { headerPrefix } = this.options;
    return headerPrefix === undefined ? {} : { headerPrefix };
  }
}

/** Names of the ports of an envelope: those of the tool, then what it does not know. */
function sentPorts({ inputPorts }: MetaSchema, texts: PortTexts): string[] {
  const known = inputPorts.map(({ name }) => name);
  return [...known, ...Object.keys(texts).filter((name) => !known.includes(name))];
}

function publicKeyOfLeader({ key }: Leader): Buffer {
  if (key instanceof Uint8Array) return Buffer.from(publicKeyOf(key));
  if (typeof key !== "string") return Buffer.from(key.publicKey);
  const reading = readPrivateKey(key);
  if ("key" in reading) return Buffer.from(publicKeyOf(reading.key));
  throw new PageFault("the leader's key cannot be read");
}
