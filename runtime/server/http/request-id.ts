/** Request ids, which connect an answer with the log lines, the trace and the gateway's log of its request. */

import { randomUUID } from "node:crypto";

/** Header with the id, in requests and answers. Signatures do not cover it. */
export const REQUEST_ID_HEADER = "X-Request-Id";

/** Characters that need no quoting in a log, header or shell. */
const USABLE = /^[\w.:=+/@-]{1,64}$/;

/** Returns the given id if it has 1 to 64 letters, digits or `-._:=+/@`, otherwise a random UUID. */
export function requestIdOf(given: unknown): string {
  return typeof given === "string" && USABLE.test(given) ? given : randomUUID();
}
