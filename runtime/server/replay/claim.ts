/**
 * Claims runs from any replay store, including custom ones. Every claim has a time limit, and its result is validated.
 */

import { endsWithin } from "../../time-limit.js";
import type { Logger } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import { isThenable } from "../log/safe-logger.js";
import {
  type CachedAnswer,
  type Claim,
  type MaybePromise,
  type ReplayLease,
  type ReplayRequest,
  type ReplayStore,
  ReplayStoreUnavailable,
} from "./store.js";

/** Time limit of a claim, in milliseconds. */
export const CLAIM_LIMIT_MS = 5_000;

/** Store, time limit and log of a claim. */
export interface ClaimOptions {
  readonly store: ReplayStore;
  readonly limitMs: number;
  readonly log: Logger;
}

/**
 * Claims the run of a request.
 *
 * @throws {@link RequestError} `replay_store_unavailable` if the store fails, exceeds the time limit or returns an
 * invalid claim
 */
export async function claimRun(request: ReplayRequest, options: ClaimOptions): Promise<Claim> {
  const { store, limitMs, log } = options;
  let made: Promise<Claim>;
  try {
    const claim: unknown = store.claim(request);
    if (!isThenable(claim)) return await ofNamed(checkedClaim(claim), request, options);
    made = Promise.resolve(claim).then(checkedClaim);
    if (await endsWithin(limitMs, made)) return await ofNamed(await made, request, options);
  } catch (error) {
    throw unavailable(error, options);
  }
  // The caller gets an error, so a run that is claimed late is released. Otherwise its entry would stay in flight.
  made.then(
    (given) => (given.state === "run" ? endLease(log, () => given.lease.release()) : undefined),
    () => {},
  );
  throw unavailable(new Error(`the replay store did not respond within ${limitMs} ms`), options);
}

/** Rejects a repeated request if a store without a name claims a run for it, because the first attempt may have run. */
function ofNamed(claim: Claim, { repeat }: ReplayRequest, { store, log }: ClaimOptions): MaybePromise<Claim> {
  if (repeat === undefined || claim.state !== "run" || store.memoryName !== undefined) return claim;
  const lost: Claim = { state: "lost" };
  return endLease(log, () => claim.lease.release())?.then(() => lost) ?? lost;
}

function unavailable(cause: unknown, { log }: ClaimOptions): RequestError {
  if (cause instanceof ReplayStoreUnavailable) {
    // Debug level is sufficient: the store logs when it becomes unavailable.
    log.debug({ reason: cause.reason }, "a call was refused, because the replay store failed");
    return new RequestError("replay_store_unavailable", undefined, { retryAfterMs: cause.retryAfterMs });
  }
  log.error({ err: cause }, "a call was refused, because the replay store failed");
  return new RequestError("replay_store_unavailable");
}

/** Time limit for storing the end of a run, in milliseconds. A slower write continues in the background. */
export const END_LIMIT_MS = 5_000;

/**
 * Ends a lease. Logs an error of the store and otherwise ignores it.
 *
 * @returns undefined if the end was stored at once; otherwise a promise that resolves when it is stored or the time
 * limit has passed
 */
export function endLease(log: Logger, end: () => MaybePromise<boolean>): Promise<unknown> | undefined {
  const failed = (error: unknown) =>
    log.error(
      { err: error },
      "the replay store failed to store an answer; a retry of this call may be refused or run again",
    );
  try {
    const outcome: unknown = end();
    return isThenable(outcome) ? endsWithin(END_LIMIT_MS, outcome.then(undefined, failed)) : undefined;
  } catch (error) {
    failed(error);
    return undefined;
  }
}

/** @throws TypeError if the value is not a claim */
function checkedClaim(value: unknown): Claim {
  const claim = Object(value) as Claim;
  switch (claim.state) {
    case "run":
      if (isLease(claim.lease)) return claim;
      break;
    case "completed":
      if (isAnswer(claim.answer) && typeof claim.sameCaller === "boolean") return claim;
      break;
    case "in-flight":
    case "lost":
    case "full":
      return claim;
  }
  throw new TypeError("claim: expected a Claim of ReplayStore with all members of its state, got another value");
}

function isLease(value: unknown): value is ReplayLease {
  const lease = Object(value) as Record<keyof ReplayLease, unknown>;
  return [lease.complete, lease.timeOut, lease.settle, lease.release].every((end) => typeof end === "function");
}

/** Whether a run can end with this answer: a result (200) or an error (400 to 599). */
function isAnswer(value: unknown): value is CachedAnswer {
  const { status, code, signable, body } = Object(value) as CachedAnswer;
  const isError = Number.isInteger(status) && status >= 400 && status <= 599;
  const isText = code === undefined || typeof code === "string";
  return (signable === true ? status === 200 : signable === false && isError) && isText && body instanceof Uint8Array;
}
