/**
 * Rejects calls and connections under load (protocol.md section 7: 429, 503), by sender, tool and size, never by
 * content. The limits on body bytes, inputs and runs always apply; the others apply only if set in code.
 */

import { checkedInteger } from "svc-client/internal/checked-integer";
import { MAX_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
import type { Logger } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import { Account } from "./account.js";
import { DEFAULT_QUEUE, Slots } from "./concurrency-limit.js";
import type { ConcurrencyLimits, LoadOptions, LoadReason, LoadStats } from "./load-options.js";
import { rateWindows } from "./rate-windows.js";
import { Refusals } from "./refusals.js";
import { TimeSlices } from "./time-slices.js";

export interface LoadTarget {
  /** Names of the served tools. */
  readonly tools: readonly string[];
  readonly signed: boolean;
  /** Maximum total bytes of request bodies held in memory. */
  readonly bodyBytes: number;
  /** Maximum number of runs over all tools; {@link MAX_RUNS} by default. */
  readonly runs?: number | undefined;
  /** Maximum heap bytes for the inputs of calls that have not ended; by default unlimited. */
  readonly inputBytes?: number;
  /** Maximum bytes of the answers that runs have read from other services; by default unlimited. */
  readonly httpAnswerBytes?: number;
  /** Whether at most one leader can call. */
  readonly hasOneLeader?: () => boolean;
  readonly log: Logger;
}

/** Default maximum number of runs. 4,096 waiting runs of small calls take about 30 MB. */
const MAX_RUNS = 4_096;

const DAY_MS = 86_400_000;
export const DEFAULT_WINDOW_MS = 1_000;

export class LoadControl implements LoadStats {
  /** Bytes of request bodies held in memory, from their arrival until their call is answered. */
  readonly bodyBytes: Account;
  readonly runs: Account;
  readonly inputBytes: Account;
  readonly httpAnswers: Account;
  readonly refusals: Refusals;
  readonly tools: ReadonlyMap<string, Slots>;
  readonly slices = new TimeSlices();
  readonly #rate: ReturnType<typeof rateWindows> | undefined;

  /** @throws RangeError for an invalid limit, a limit without effect, or a tool that is not served */
  constructor(options: LoadOptions, target: LoadTarget) {
    checkLoad(options, target);
    const { limits, tools = {}, rateLimit } = options;
    this.refusals = new Refusals(target.log);
    const account = (most: number, reason: LoadReason) => new Account(most, target.hasOneLeader, reason, this.refusals);
    const { inputBytes = Number.MAX_SAFE_INTEGER, httpAnswerBytes = Number.MAX_SAFE_INTEGER, runs = MAX_RUNS } = target;
    this.bodyBytes = account(target.bodyBytes, "bodyBytes");
    this.runs = account(runs, "runs");
    this.inputBytes = account(inputBytes, "inputBytes");
    this.httpAnswers = account(httpAnswerBytes, "httpAnswers");
    this.tools = new Map(
      target.tools.flatMap((fqn) => {
        const own = Object.hasOwn(tools, fqn) ? tools[fqn] : limits;
        return own === undefined ? [] : [[fqn, new Slots(own, this.refusals)]];
      }),
    );
    this.#rate = rateLimit && rateWindows(rateLimit.calls, rateLimit.windowMs ?? DEFAULT_WINDOW_MS);
  }

  /**
   * Counts a call of a leader towards its rate limit, if there is one.
   *
   * @throws {@link RequestError} `rate_limited`
   */
  countCall(leaderId: string): void {
    const retryAfterMs = this.#rate?.(leaderId) ?? 0;
    if (retryAfterMs === 0) return;
    this.refusals.count("rateLimit");
    throw new RequestError("rate_limited", undefined, { retryAfterMs });
  }

  get refused(): Readonly<Record<LoadReason, number>> {
    return this.refusals.counts;
  }

  /** Rejects the calls that wait for a slot, at shutdown. */
  refuseWaiting(): void {
    for (const slots of this.tools.values()) slots.stop();
  }
}

function checkLoad(options: LoadOptions, target: LoadTarget): void {
  const { limits, tools = {}, rateLimit } = options;
  if (limits !== undefined) checkConcurrency("load.limits", limits);
  for (const [fqn, own] of Object.entries(tools)) {
    const name = `load.tools[${JSON.stringify(fqn)}]`;
    if (!target.tools.includes(fqn)) {
      throw new RangeError(`${name}: expected the name of a served tool, one of ${target.tools.join(", ")}`);
    }
    checkConcurrency(name, own);
  }
  if (rateLimit !== undefined) {
    checkedInteger("load.rateLimit.calls", rateLimit.calls, 1, Number.MAX_SAFE_INTEGER, "calls");
    const { windowMs = DEFAULT_WINDOW_MS } = rateLimit;
    checkedInteger("load.rateLimit.windowMs", windowMs, 1, DAY_MS, "milliseconds");
    if (!target.signed) {
      throw new RangeError(
        "load.rateLimit: the limit counts calls of verified leaders, but this server does not require signatures; remove it, or require signatures in the configuration",
      );
    }
  }
}

function checkConcurrency(
  name: string,
  { concurrency, queue = DEFAULT_QUEUE, queueTimeoutMs }: ConcurrencyLimits,
): void {
  checkedInteger(`${name}.concurrency`, concurrency, 1, Number.MAX_SAFE_INTEGER, "runs");
  checkedInteger(`${name}.queue`, queue, 0, Number.MAX_SAFE_INTEGER, "calls");
  if (queueTimeoutMs === undefined) return;
  checkedInteger(`${name}.queueTimeoutMs`, queueTimeoutMs, 1, MAX_TIMEOUT_MS, "milliseconds");
  if (queue === 0)
    throw new RangeError(
      `${name}.queueTimeoutMs: expected a queue of at least 1, got 0; set queue, or remove queueTimeoutMs`,
    );
}
