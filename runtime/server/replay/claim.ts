/** Claims of any replay store, custom ones included: each has a time limit, and its result is validated before use. */

import type { AuthContext, Logger } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import { isThenable } from "../log/safe-logger.js";
import type { CachedAnswer, Claim, ReplayStore, ReplayTicket } from "./store.js";

/** Time limit of a store for a claim, in milliseconds. */
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
 * @throws {@link RequestError} `replay_store_unavailable` when the store fails, is late, or returns an invalid claim
 */
export function claimRun(tool: string, auth: AuthContext, options: ClaimOptions): Claim | Promise<Claim> {
  try {
    const claim: unknown = options.store.claim(tool, auth.nonce, auth.inputHash, auth);
    return isThenable(claim) ? awaitClaim(claim, options) : checkedClaim(claim);
  } catch (error) {
    throw unavailable(error, options);
  }
}

async function awaitClaim(claim: PromiseLike<unknown>, options: ClaimOptions): Promise<Claim> {
  const { limitMs, log } = options;
  const made = Promise.resolve(claim).then(checkedClaim);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    const given = await Promise.race([made, late]);
    if (given !== undefined) return given;
  } catch (error) {
    throw unavailable(error, options);
  } finally {
    clearTimeout(timer);
  }
  // The caller is refused, so a claim that arrives later is abandoned: its pair must not stay in flight.
  made.then(
    (given) => given.state === "run" && endTicket(log, () => given.ticket.abandon()),
    () => {},
  );
  throw unavailable(new Error(`no answer within ${limitMs} ms`), options);
}

function unavailable(cause: unknown, { log }: ClaimOptions): RequestError {
  log.error({ err: cause }, "the replay store did not claim a run");
  return new RequestError("replay_store_unavailable");
}

/** Ends a ticket. An error of the store is logged and otherwise ignored. */
export function endTicket(log: Logger, end: () => boolean | Promise<boolean>): Promise<unknown> | undefined {
  const failed = (error: unknown) => log.error({ err: error }, "the replay store did not take the end of a run");
  try {
    const outcome: unknown = end();
    return isThenable(outcome) ? Promise.resolve(outcome).catch(failed) : undefined;
  } catch (error) {
    failed(error);
    return undefined;
  }
}

/** @throws TypeError for a value that is not a claim */
function checkedClaim(value: unknown): Claim {
  const claim = Object(value) as Claim;
  switch (claim.state) {
    case "run":
      if (isTicket(claim.ticket)) return claim;
      break;
    case "completed":
      if (isAnswer(claim.answer) && typeof claim.sameCaller === "boolean") return claim;
      break;
    case "in-flight":
    case "full":
      return claim;
  }
  throw new TypeError("claim: expected one of the states of ReplayStore with all of its members");
}

function isTicket(value: unknown): value is ReplayTicket {
  const ticket = Object(value) as Record<keyof ReplayTicket, unknown>;
  return [ticket.complete, ticket.hold, ticket.settle, ticket.abandon].every((end) => typeof end === "function");
}

/** Whether this is an answer that a run can end with: a result (200) or an error of the protocol (400 to 599). */
function isAnswer(value: unknown): value is CachedAnswer {
  const { status, code, signable, body } = Object(value) as CachedAnswer;
  const isError = Number.isInteger(status) && status >= 400 && status <= 599;
  const isText = code === undefined || typeof code === "string";
  return (signable === true ? status === 200 : signable === false && isError) && isText && body instanceof Uint8Array;
}
