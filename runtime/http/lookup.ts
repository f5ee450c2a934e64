/**
 * Resolves host names so that names whose servers never answer do not stop other requests. `getaddrinfo` waits for such
 * a server for 10 s or more in a thread, and libuv has two threads for all names of the process.
 */

import { lookup, Resolver } from "node:dns";
import type { LookupFunction } from "node:net";
import { isLoopback } from "svc-client/internal/loopback";

/** Milliseconds in which each name server must answer. */
const PROBE_MS = 1_000;

/** Whether `getaddrinfo` is resolving a name whose servers did not answer. */
let isBlocked = false;

/**
 * Asks the name servers for a name without a thread, and calls `getaddrinfo` if they answer, even with an error.
 * Otherwise `getaddrinfo` may still know the name, for example with a search domain, but resolves only one such name at
 * a time.
 */
export const boundedLookup: LookupFunction = (hostname, options, callback) => {
  if (isLoopback(hostname)) return lookup(hostname, options, callback);
  // A new resolver reads the current configuration of the system.
  new Resolver({ timeout: PROBE_MS, tries: 1 }).resolve4(hostname, (error) => {
    const isSilent = error?.code === "ETIMEOUT";
    if (isSilent && isBlocked) {
      const busy = new Error(`the name servers do not answer for ${hostname}`);
      return callback(Object.assign(busy, { code: "EAI_AGAIN" }), "", 0);
    }
    isBlocked ||= isSilent;
    lookup(hostname, options, (...found) => {
      if (isSilent) isBlocked = false;
      callback(...found);
    });
  });
};
