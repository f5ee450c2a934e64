/**
 * Counts and logs requests that were answered without running a tool: each with level debug, and a summary with level
 * info. The first is summarised at once, later ones every minute.
 */

import type { Refusal } from "../call/messages.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { type ClaimedCaller, type Claims, claimFields, shown } from "./claims.js";

/** Interval between two summaries, in milliseconds. */
const REPORT_MS = 60_000;
/** Maximum number of pairs of code and leader in a summary. Requests of further leaders are counted only by code. */
const MAX_PAIRS = 100;

/** Rejected requests with one code, from one listed leader or from all unlisted callers. */
interface Group {
  readonly code: string;
  readonly leader?: string;
  count: number;
  /** Fields of the last rejected request. */
  last: object;
}

export class RefusedRequests {
  readonly #groups = new Map<string, Group>();
  #report: NodeJS.Timeout | undefined;

  readonly #log: ServerLogger;
  readonly #claims: Claims;
  readonly #counted: (code: string) => void;

  /** @param counted called with the code of each rejected request */
  constructor(log: ServerLogger, claims: Claims, counted: (code: string) => void) {
    this.#log = log;
    this.#claims = claims;
    this.#counted = counted;
  }

  add(refusal: Refusal): void {
    this.#counted(refusal.code);
    if (this.#log.isLevelEnabled?.("info") === false) return;
    const { id, code, details, path, headers, peer, isCall } = refusal;
    const claim = this.#claims(headers);
    const reason = {
      ...(details !== undefined && { details }),
      ...(path?.startsWith("/") && { path: shown(path) }),
    };
    const fields = { ...reason, ...claimFields(claim), peer, request: id };
    // The request log already contains a line for a call.
    if (!isCall) this.#log.debug({ code, ...fields }, "refused");
    this.#count(code, claim, fields);
    if (this.#report === undefined) this.#reportNow();
  }

  /** Logs the rejected requests that are not in a summary yet. */
  close(): void {
    clearTimeout(this.#report);
    this.#summarize();
  }

  #count(code: string, { listed }: ClaimedCaller, last: object): void {
    const pair = `${code} ${listed ?? ""}`;
    const leader =
      listed !== undefined && (this.#groups.has(pair) || this.#groups.size < MAX_PAIRS) ? listed : undefined;
    const key = leader === undefined ? code : pair;
    const group = this.#groups.get(key) ?? {
      code,
      ...(leader !== undefined && { leader: shown(leader) }),
      count: 0,
      last,
    };
    group.count++;
    group.last = last;
    this.#groups.set(key, group);
  }

  #reportNow(): void {
    const isQuiet = this.#groups.size === 0;
    this.#summarize();
    this.#report = isQuiet ? undefined : setTimeout(() => this.#reportNow(), REPORT_MS).unref();
  }

  #summarize(): void {
    if (this.#groups.size === 0) return;
    this.#log.info({ refused: [...this.#groups.values()] }, "requests were refused");
    this.#groups.clear();
  }
}
