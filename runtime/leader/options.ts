/** Checks values of options. */

import { checkedInteger } from "../checked-integer.js";
import { isLoopback } from "../loopback.js";
import { MAX_TIMEOUT_MS } from "../wire/protocol.js";
import { LeaderError } from "./error.js";

/** @throws RangeError unless the value is a timeout in milliseconds */
export function checkTimeout(timeoutMs: unknown): number {
  return checkedInteger("timeoutMs", timeoutMs, 1, MAX_TIMEOUT_MS);
}

/** @throws TypeError unless the value is an AbortSignal */
export function checkSignal(signal: unknown): void {
  const { aborted, addEventListener } = Object(signal) as Partial<AbortSignal>;
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return;
  throw new TypeError("signal: expected an AbortSignal, got another value");
}

/**
 * Milliseconds until a deadline.
 *
 * @throws TypeError if the value is not a time; {@link LeaderError} `timeout` if it is in the past
 */
export function timeLeft(deadline: unknown): number {
  const at = deadline instanceof Date ? deadline.getTime() : deadline;
  if (typeof at !== "number" || Number.isNaN(at)) {
    throw new TypeError("deadline: expected a valid Date or milliseconds since 1970, got another value");
  }
  const left = at - Date.now();
  if (left > 0) return left;
  throw new LeaderError("timeout", "the deadline had passed before the request was sent", { ran: "no" });
}

/**
 * Checks a tool's address.
 *
 * @param isSecret whether requests carry a leader's signature
 * @returns the address without query, fragment and trailing slashes
 * @throws TypeError for an invalid address, and for `http:` to another machine unless `allowHttp` is set
 */
export function checkAddress(text: string, isSecret: boolean, allowHttp: boolean): string {
  if (!URL.canParse(text)) throw new TypeError("url: expected an absolute URL, such as https://tools.example/sum");
  const { protocol, host, hostname, pathname } = new URL(text);
  let end = pathname.length;
  while (pathname[end - 1] === "/") end--;
  if (protocol !== "https:" && protocol !== "http:")
    throw new TypeError("url: expected https or http, got another scheme");
  if (protocol === "http:" && isSecret && !allowHttp && !isLoopback(hostname)) {
    throw new TypeError(
      "url: expected https, because a signed request that is read on the way can be repeated under another nonce; set `allowHttp: true` to send it over http",
    );
  }
  return `${protocol}//${host}${pathname.slice(0, end)}`;
}
