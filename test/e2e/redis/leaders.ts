/**
 * Leaders who send each pair several times, to any replica, and try again with the same nonce while they are told 409
 * or 503; and the check of what they were told against what ran.
 */

import assert from "node:assert/strict";
import * as http from "node:http";
import * as https from "node:https";
import {
  buildEnvelope,
  InputHasher,
  outputHash,
  prepareVerifyKey,
  publicKeyOf,
  type SignedRequest,
  signRequest,
  verifyToolSignature,
} from "#runtime/leader.js";
import { LEADER, MARKS } from "../fault/harness.js";
import type { RunLog } from "./replicas.js";

/** Milliseconds of the longest pause between two attempts. */
const MAX_PAUSE_MS = 1_000;
/** Calls without a result at which no further one begins: a busy machine is not to be buried. */
const MAX_OPEN = 600;

const PORTS = [{ name: "value", many: false }];
const HASHER = new InputHasher(PORTS);
const TOOL_KEY = publicKeyOf(Buffer.from(MARKS.key, "hex"));

/** A pair of nonce and input hash as a leader sends it. */
export interface Pair {
  readonly id: number;
  readonly signed: SignedRequest;
  /** Distinct results that came with 200, as hex of their hash. */
  readonly results: Set<string>;
  /** Distinct signatures of these results. */
  readonly signatures: Set<string>;
  /** When the first of them came, by `performance.now()`. */
  answeredAt?: number;
  /** Status of the last answer to a leader who lost patience; 0 for a lost connection. */
  gaveUpAt?: number | undefined;
}

/** One answer to one attempt. */
export interface Attempt {
  readonly pair: number;
  /** 0 for a lost connection. */
  readonly status: number;
  /** The code of an error. */
  readonly code: string | undefined;
  /** By `performance.now()`. */
  readonly sentAt: number;
  readonly ms: number;
}

export interface CallInput {
  /** Milliseconds that the run lasts. */
  readonly waitMs: number;
  /** Length of a member of the result. */
  readonly bytes?: number;
}

/** Signs a pair; the value says which it is, for the file of runs. */
export function makePair(id: number, input: CallInput, leader = LEADER, nonce?: Uint8Array): Pair {
  const envelope = buildEnvelope(PORTS, { value: { pair: id, ...input, text: MARKS.input } }, HASHER);
  const signed = signRequest(envelope, leader, nonce === undefined ? {} : { nonce });
  return { id, signed, results: new Set(), signatures: new Set() };
}

export interface LoadOptions {
  readonly pairs: number;
  /** How often each is sent, each time by a leader who goes on until he has a result. */
  readonly copies?: number;
  /** Pairs a second. */
  readonly rate: number;
  /** Milliseconds within which the copies of a pair are sent. */
  readonly spreadMs?: number;
  /** Milliseconds that a run lasts: at random between them. */
  readonly waitMs?: readonly [number, number];
  readonly bytes?: number;
  /** Share of copies whose leader leaves within 3 ms, and does not return. */
  readonly leaving?: number;
  /** Milliseconds after its first attempt in which a leader gives up. */
  readonly patienceMs?: number;
  /** Milliseconds before the second attempt; each further pause is twice as long, up to a second. */
  readonly pauseMs?: number;
  /** Milliseconds after which an attempt without an answer counts as lost. */
  readonly attemptMs?: number;
  /** Whether an answer ends a call: 200 by default. */
  readonly ends?: (answer: Attempt) => boolean;
}

type RetryOptions = Pick<LoadOptions, "patienceMs" | "pauseMs" | "attemptMs" | "ends">;

/** A load on one or more addresses, and everything that came back. */
export class Leaders {
  readonly pairs: Pair[] = [];
  readonly attempts: Attempt[] = [];
  /** Calls that have been made so far, for a test that waits for a moment within the load. */
  sent = 0;
  /** Attempts without an answer yet. */
  open = 0;
  /** Who signs new pairs. */
  leader = LEADER;
  readonly #agent: http.Agent;
  readonly #toolKeys: readonly ReturnType<typeof prepareVerifyKey>[];

  readonly #urls: readonly string[];
  readonly #tls: Pick<https.AgentOptions, "ca" | "servername"> | undefined;

  /**
   * @param tls of the servers, where the addresses are https
   * @param toolKeys public keys whose results count
   */
  constructor(
    urls: readonly string[],
    tls?: Pick<https.AgentOptions, "ca" | "servername">,
    toolKeys: readonly Uint8Array[] = [TOOL_KEY],
  ) {
    this.#urls = urls;
    this.#tls = tls;
    const pool = { keepAlive: true, maxSockets: 256 };
    this.#agent = tls === undefined ? new http.Agent(pool) : new https.Agent({ ...pool, ...tls });
    this.#toolKeys = toolKeys.map((key) => prepareVerifyKey(key));
  }

  /** Sends all copies of all pairs; resolves when each has a result or has lost patience. */
  async run({
    pairs,
    copies = 1,
    rate,
    spreadMs = 0,
    waitMs = [0, 0],
    bytes = 0,
    leaving = 0,
    ...retry
  }: LoadOptions): Promise<void> {
    const first = this.pairs.length;
    const [shortest, longest] = waitMs;
    for (let i = 0; i < pairs; i++) {
      const wait = Math.round(shortest + Math.random() * (longest - shortest));
      this.pairs.push(makePair(first + i, { waitMs: wait, bytes }, this.leader));
    }
    const due = this.pairs.slice(first).flatMap((pair, i) => {
      const at = (i * 1000) / rate;
      return Array.from({ length: copies }, (_, copy) => ({
        pair,
        at: copy === 0 ? at : at + Math.random() * spreadMs,
        leaves: copy > 0 && Math.random() < leaving,
      }));
    });
    due.sort((one, other) => one.at - other.at);
    const began = performance.now();
    const calls: Promise<unknown>[] = [];
    let ended = 0;
    for (const { pair, at, leaves } of due) {
      while (calls.length - ended >= MAX_OPEN) await new Promise((resolve) => setTimeout(resolve, 5));
      const early = began + at - performance.now();
      if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
      this.sent++;
      const call = leaves
        ? this.#attempt(pair, this.#anyUrl(), { leaveMs: Math.random() * 3 })
        : this.call(pair, retry);
      calls.push(call.finally(() => ended++));
    }
    await Promise.all(calls);
  }

  /** Sends a pair until it has a result; false when patience has run out first. */
  async call(
    pair: Pair,
    { patienceMs = 60_000, pauseMs = 50, attemptMs = 20_000, ends = ({ status }) => status === 200 }: RetryOptions = {},
  ): Promise<boolean> {
    const until = performance.now() + patienceMs;
    for (let pause = pauseMs; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      const answer = await this.#attempt(pair, this.#anyUrl(), { attemptMs });
      if (ends(answer)) return true;
      if (performance.now() > until) {
        pair.gaveUpAt = answer.status;
        return false;
      }
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
    }
  }

  /** Asks at every address for what a leader has given up, so that it was not for want of patience. */
  async askAgain(): Promise<void> {
    for (const pair of this.pairs.filter(({ gaveUpAt }) => gaveUpAt !== undefined)) {
      const answers: number[] = [];
      for (const url of this.#urls) answers.push(await this.once(pair, url));
      pair.gaveUpAt = answers.find((status) => status !== 200);
    }
  }

  /** Sends a pair once, to one address; the status of the answer, 0 when there was none. */
  async once(pair: Pair, url = this.#anyUrl()): Promise<number> {
    return (await this.#attempt(pair, url, {})).status;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Attempts by status and code. */
  counts(attempts: readonly Attempt[] = this.attempts): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { status, code } of attempts) {
      const name = code === undefined ? `${status}` : `${status} ${code}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }

  #anyUrl(): string {
    return this.#urls[Math.floor(Math.random() * this.#urls.length)] as string;
  }

  #attempt(
    pair: Pair,
    url: string,
    { attemptMs = 20_000, leaveMs }: { readonly attemptMs?: number; readonly leaveMs?: number },
  ): Promise<Attempt> {
    const { signed } = pair;
    let sentAt = performance.now();
    this.open++;
    return new Promise((resolve) => {
      const sent = (this.#tls === undefined ? http : https).request(`${url}/invoke`, {
        method: "POST",
        agent: this.#agent,
        headers: { ...signed.headers, "Content-Length": signed.body.length },
      });
      // The wait for a connection is the leader's own.
      sent.once("socket", () => {
        sentAt = performance.now();
      });
      let done = false;
      const end = (status: number, code: string | undefined) => {
        if (done) return;
        done = true;
        clearTimeout(timer);
        this.open--;
        const attempt = { pair: pair.id, status, code, sentAt, ms: performance.now() - sentAt };
        if (leaveMs === undefined) this.attempts.push(attempt);
        resolve(attempt);
      };
      const timer = setTimeout(() => sent.destroy(new Error("late")), leaveMs ?? attemptMs);
      sent.on("error", (error: NodeJS.ErrnoException) => end(0, error.code ?? error.message));
      sent.on("response", (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", () => end(0, "cut"));
        response.on("close", () => end(0, "cut"));
        response.on("end", () => {
          const status = response.statusCode ?? 0;
          const body = Buffer.concat(chunks);
          if (status !== 200) {
            end(status, /"error":"(\w+)"/.exec(body.toString())?.[1]);
            return;
          }
          pair.answeredAt ??= performance.now();
          pair.results.add(Buffer.from(outputHash(body)).toString("hex"));
          const signature = String(response.headers["x-svc-tool-signature"]);
          if (!pair.signatures.has(signature)) {
            pair.signatures.add(signature);
            const bytes = Buffer.from(signature, "base64url");
            const isGenuine = this.#toolKeys.some((key) => verifyToolSignature(key, signed, body, bytes));
            assert.ok(isGenuine, `pair ${pair.id}: the signature is not that of this result`);
          }
          end(200, undefined);
        });
      });
      sent.end(signed.body);
    });
  }
}

/** What a load came to. */
export interface Verdict {
  readonly pairs: number;
  readonly runs: number;
  /** Pairs that ran more than once. */
  readonly doubles: number;
  /** Pairs of which a leader was still told 409 when it lost patience. */
  readonly stuck: readonly number[];
  /** Pairs of which a leader lost patience for another reason. */
  readonly lost: readonly number[];
  /** Pairs with more than one result, or more than one signature. */
  readonly inconsistent: number;
  /** Attempts by status and code. */
  readonly counts: Readonly<Record<string, number>>;
  /** The longest time to a 503, in milliseconds. */
  readonly slowest503: number;
}

/** Compares the answers of a load with the runs of its replicas. */
export function verdict(leaders: Leaders, runLog: RunLog): Verdict {
  const runs = runLog.runs();
  const without = leaders.pairs.filter(({ gaveUpAt }) => gaveUpAt !== undefined);
  return {
    pairs: leaders.pairs.length,
    runs: [...runs.values()].reduce((sum, times) => sum + times, 0),
    doubles: [...runs.values()].filter((times) => times > 1).length,
    stuck: without.filter(({ gaveUpAt }) => gaveUpAt === 409).map(({ id }) => id),
    lost: without.filter(({ gaveUpAt }) => gaveUpAt !== 409).map(({ id }) => id),
    inconsistent: leaders.pairs.filter(({ results, signatures }) => results.size > 1 || signatures.size > 1).length,
    counts: leaders.counts(),
    slowest503: Math.round(Math.max(0, ...leaders.attempts.filter(({ status }) => status === 503).map(({ ms }) => ms))),
  };
}

/** The verdict as a line of a report. */
export function summary({ stuck, lost, ...rest }: Verdict): string {
  return JSON.stringify({ ...rest, stuck: stuck.length, lost: lost.length });
}

/** Every pair ran exactly once and has one result with one signature. */
export function assertOnce(found: Verdict): void {
  const { pairs, runs, doubles, stuck, lost, inconsistent } = found;
  assert.deepEqual(
    { runs, doubles, stuck: stuck.length, lost: lost.length, inconsistent },
    { runs: pairs, doubles: 0, stuck: 0, lost: 0, inconsistent: 0 },
    summary(found),
  );
}
