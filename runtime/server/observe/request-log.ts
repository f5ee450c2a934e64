/**
 * Request log: a debug line per call with caller, outcome and durations. It never holds a header, a key or an input.
 */

import { shown } from "../call/call-log.js";
import type { Reply } from "../call/messages.js";
import type { Observation, Observer } from "../call/observers.js";
import type { ServerLogger } from "../log/safe-logger.js";

export class RequestLog implements Observer {
  constructor(private readonly log: ServerLogger) {}

  get active(): boolean {
    return this.log.isLevelEnabled?.("debug") ?? true;
  }

  ended(call: Observation, { status, code, details }: Reply): void {
    const { caller, replayed, steps } = call;
    const ms = Object.fromEntries(Object.entries(steps).map(([step, time]) => [step, rounded(time)]));
    call.log.debug(
      {
        status,
        ...(code !== undefined && { code }),
        ...(details !== undefined && { details }),
        ...(caller !== undefined && { leader: shown(caller.leaderId), key: `${caller.leaderKeyId}` }),
        ...(replayed && { replayed }),
        ms: { ...ms, all: rounded(call.ms) },
      },
      code !== undefined && status < 500 ? "refused" : "answered",
    );
  }
}

/** Rounds milliseconds to microseconds. */
const rounded = (ms: number) => Math.round(ms * 1000) / 1000;
