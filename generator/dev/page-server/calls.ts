/** The calls of the page: sent as asked, compared with what the protocol says must happen (sections 5 to 8). */

import { randomBytes, randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
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
import { exchangeView, hashOf, type Prepared } from "./exchange-view.js";
import type { CallKind, CallReport, CallRequest, ExchangeView, SignerView, ToolView } from "./page-api.js";
import { PageFault } from "./page-fault.js";
import { otherTexts, type PortTexts, portTexts } from "./port-texts.js";
import { isCallKind, type Outcome, verdictOf } from "./verdicts.js";
import { exchange, type Header, type WireRequest } from "./wire-request.js";

/** Calls that can be repeated. */
const MAX_KEPT = 200;
/** Milliseconds between two tries for the answer of a call that was left. */
const RETRY_PAUSE_MS = 100;
/** Longer than a server waits for a whole request. */
const STALLED_TIMEOUT_MS = 40_000;

/** A call that can be repeated: its bytes, and what they were answered with. */
interface KeptCall {
  readonly prepared: Prepared;
  readonly answer: ExchangeView | undefined;
  readonly input: string;
  /** On the clock of `performance.now()`. */
  readonly at: number;
}

/** Signs and sends the calls of the page. Its keys stay in this process. */
export class Caller {
  private readonly kept = new Map<string, KeptCall>();

  constructor(private readonly options: LeaderOptions) {}

  /** What may be shown of the signer. */
  get signer(): SignerView | null {
    const { leader, toolKey } = this.options;
    if (leader === undefined) return null;
    return {
      leaderId: leader.id,
      keyId: String(leader.keyId),
      publicKey: publicKeyOfLeader(leader).toString("hex"),
      toolKey: typeof toolKey === "string" ? toolKey : null,
    };
  }

  /**
   * Makes one call of the page.
   *
   * @param isSigned whether the server requires signatures; null when unknown
   * @throws PageFault for what cannot be sent
   */
  async run(request: CallRequest, tool: ToolView, ports: MetaSchema, isSigned: boolean | null): Promise<CallReport> {
    const { kind, of } = request;
    if (!isCallKind(kind) || typeof request.input !== "string")
      throw new PageFault("a call wants a kind and an input as text: load the page again");
    const first = of === undefined ? undefined : this.kept.get(of);
    if (kind === "retry" && first === undefined)
      throw new PageFault("the call to repeat is no longer kept, or the server has started anew: make another call");
    const signed = kind === "retry" ? first?.prepared.signed !== undefined : request.signed && kind !== "unsigned";
    const texts = portTexts(request.input, ports.inputPorts);
    const from = performance.now();
    const prepared =
      first !== undefined && kind === "retry" ? first.prepared : this.prepare(request, signed, texts, ports);
    const preparing = {
      name: signed ? "build and sign" : "build",
      ms: Math.round((performance.now() - from) * 100) / 100,
    };
    const sender = new Sender(
      this.options,
      tool,
      ports,
      { signed, isSigned, kind, ports: sentPorts(ports, texts) },
      preparing,
    );
    const exchanges = await this.send(kind, prepared, texts, sender, ports);
    const outcome: Outcome = {
      kind,
      signed,
      isSigned,
      exchanges,
      first: first?.answer,
      ageMs: from - (first?.at ?? from),
    };
    const id = randomUUID();
    const input = kind === "retry" ? (first?.input ?? request.input) : request.input;
    const report = {
      id,
      fqn: tool.fqn,
      kind,
      signed,
      at: new Date().toISOString(),
      input,
      exchanges,
      ...verdictOf(outcome),
    };
    // Of two inputs under one nonce the first is the one that is kept.
    const answer = exchanges.at(kind === "same-nonce" ? 0 : -1);
    this.kept.set(id, { prepared, answer, input, at: performance.now() });
    for (const old of [...this.kept.keys()].slice(0, -MAX_KEPT)) this.kept.delete(old);
    return report;
  }

  private prepare(
    { kind, input }: CallRequest,
    signed: boolean,
    texts: PortTexts,
    { inputPorts }: MetaSchema,
  ): Prepared {
    if (!signed) return { body: Buffer.from(input), signedTexts: texts, sentTexts: texts };
    const { leader } = this.options;
    if (leader === undefined)
      throw new PageFault("there is no key to sign with: start svc-gen dev --signed, or give --leader-key");
    const key = kind === "wrong-key" ? randomBytes(32) : leader.key;
    const envelope = { ...laxEnvelope(inputPorts, texts), inputHash: hashOf(inputPorts, texts) };
    const request = signRequest(envelope, { ...leader, key }, this.prefix());
    const leaderKey = publicKeyOfLeader(leader);
    const whole = { body: request.body, signedTexts: texts, sentTexts: texts, signed: request, leaderKey };
    if (kind !== "tampered") return whole;
    const sentTexts = otherTexts(texts);
    if (sentTexts === undefined) throw new PageFault("there is no value that could be changed on the way");
    return { ...whole, sentTexts, body: laxEnvelope(inputPorts, sentTexts).body };
  }

  private async send(
    kind: CallKind,
    prepared: Prepared,
    texts: PortTexts,
    sender: Sender,
    ports: MetaSchema,
  ): Promise<ExchangeView[]> {
    switch (kind) {
      case "same-nonce":
        return this.sendTwice(prepared, texts, sender, ports);
      case "disconnect": {
        const cut = await sender.send("cut after the body", prepared, { pace: "cut" });
        return prepared.signed === undefined ? [cut] : [cut, ...(await retried(prepared, sender))];
      }
      case "slow-body":
        return [await sender.send("body in pieces", prepared, { pace: "slow" })];
      case "stalled-body":
        return [
          await sender.send("last byte of the body kept back", prepared, {
            pace: "stalled",
            timeoutMs: STALLED_TIMEOUT_MS,
          }),
        ];
      default:
        return [await sender.send(kind === "retry" ? "the same bytes again" : "call", prepared)];
    }
  }

  /** Two inputs under one nonce; the second one while the first may still run. */
  private async sendTwice(
    { signed, ...first }: Prepared,
    texts: PortTexts,
    sender: Sender,
    { inputPorts }: MetaSchema,
  ): Promise<ExchangeView[]> {
    const { leader } = this.options;
    const others = otherTexts(texts);
    if (signed === undefined || leader === undefined) throw new PageFault("only signed calls have a nonce");
    if (others === undefined) throw new PageFault("there is no value that another input could differ in");
    const request = signRequest(laxEnvelope(inputPorts, others), leader, { ...this.prefix(), nonce: signed.nonce });
    const second: Prepared = { ...first, body: request.body, signedTexts: others, sentTexts: others, signed: request };
    let sent: () => void = () => {};
    const whenSent = new Promise<void>((resolve) => {
      sent = resolve;
    });
    const running = sender.send("first input", { ...first, signed }, { onSent: sent }).finally(sent);
    await whenSent;
    const answer = await sender.send("another input, the same nonce", second);
    return [await running, answer];
  }

  private prefix() {
    const { headerPrefix } = this.options;
    return headerPrefix === undefined ? {} : { headerPrefix };
  }
}

/** Repeats a request until its run has ended: the first 409, and the answer. */
async function retried(prepared: Prepared, sender: Sender): Promise<ExchangeView[]> {
  const until = performance.now() + sender.timeoutMs;
  let waiting: ExchangeView | undefined;
  for (;;) {
    const answer = await sender.send("the same bytes again", prepared);
    if (answer.response?.status !== 409 || performance.now() > until)
      return waiting === undefined ? [answer] : [waiting, answer];
    waiting ??= answer;
    await sleep(RETRY_PAUSE_MS);
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

type Call = Parameters<typeof exchangeView>[2]["call"];

/** Sends the requests of one call. */
class Sender {
  constructor(
    private readonly options: LeaderOptions,
    private readonly tool: ToolView,
    private readonly ports: MetaSchema,
    private readonly call: Call,
    private readonly preparing: { readonly name: string; readonly ms: number },
  ) {}

  get timeoutMs(): number {
    return this.tool.timeoutMs + TIMEOUT_MARGIN_MS;
  }

  async send(title: string, prepared: Prepared, special: Partial<WireRequest> = {}): Promise<ExchangeView> {
    const requestId = randomUUID();
    const { headerPrefix = "X-Svc-", toolKey, tls } = this.options;
    const signing = prepared.signed?.headers ?? { "Content-Type": "application/json" };
    const headers: Header[] = [
      ...Object.entries(signing),
      ["Accept", `${RESULT_CONTENT_TYPE}, application/json;q=0.5`],
      ["X-Request-Id", requestId],
    ];
    const url = new URL(`${this.tool.url}/invoke`);
    const done = await exchange({
      method: "POST",
      url,
      headers,
      body: prepared.body,
      timeoutMs: this.timeoutMs,
      tls,
      ...special,
    });
    const view = exchangeView(done, prepared, {
      title,
      requestId,
      ports: this.ports,
      call: this.call,
      headerPrefix,
      toolKey,
    });
    return { ...view, phases: [this.preparing, ...view.phases] };
  }
}
