/**
 * Request log: a debug line for each call with caller, outcome and durations. Never contains signatures, keys or
 * inputs.
 */

import { detailsOf, isRefusal } from "../call/messages.js";
import type { Observer } from "../call/observers.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { type Claims, claimFields, shown } from "./claims.js";

export function requestLog(log: ServerLogger, claims: Claims): Observer {
  return {
    get active() {
      return log.isLevelEnabled?.("debug") ?? true;
    },
    ended: (call, { status, code, body }) => {
      const { caller, replayed, steps, request } = call;
      const isRefused = code !== undefined && isRefusal(status, code);
      const details = code === undefined ? undefined : detailsOf(body);
      const ms = Object.fromEntries(Object.entries(steps).map(([step, time]) => [step, rounded(time)]));
      const verified = caller && { leader: shown(caller.leaderId), key: `${caller.leaderKeyId}` };
      call.log.debug(
        {
          status,
          ...(code !== undefined && { code }),
          ...(details !== undefined && { details }),
          ...(verified ?? (isRefused && claimFields(claims(request.headers)))),
          ...(isRefused && { peer: request.peer() }),
          ...(replayed && { replayed }),
          ms: { ...ms, all: rounded(call.ms) },
        },
        isRefused ? "refused" : "answered",
      );
    },
  };
}

/** Rounds milliseconds to three decimal places. */
const rounded = (ms: number) => Math.round(ms * 1000) / 1000;
