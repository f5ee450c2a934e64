/** Options that were set in code, checked at run time: a misspelt one would switch a check off without a word. */

import { checkedInteger } from "../checked-integer.js";
import { didYouMean } from "../config/nearest.js";
import { isLoopback } from "../loopback.js";
import { MAX_TIMEOUT_MS } from "../wire/protocol.js";
import { LeaderError } from "./error.js";

/**
 * Refuses unknown names.
 *
 * @param what names the options in the message
 * @throws TypeError
 */
export function checkNames(what: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== "object" || options === null) throw new TypeError(`${what}: expected an object`);
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const nearest = didYouMean(unknown, names) || `; it has ${names.join(", ")}`;
  throw new TypeError(`${what}: no option ${JSON.stringify(unknown)}${nearest}`);
}

/** @throws RangeError unless it is a timeout in milliseconds */
export function checkTimeout(timeoutMs: unknown): number {
  return checkedInteger("timeoutMs", timeoutMs, 1, MAX_TIMEOUT_MS);
}

/** @throws TypeError unless it is the signal of some AbortController */
export function checkSignal(signal: unknown): void {
  const { aborted, addEventListener } = Object(signal) as Partial<AbortSignal>;
  if (typeof aborted === "boolean" && typeof addEventListener === "function") return;
  throw new TypeError("signal: expected an AbortSignal");
}

/**
 * The milliseconds that are left until a deadline.
 *
 * @throws TypeError for one that is no time; {@link LeaderError} `timeout` for one in the past
 */
export function timeLeft(deadline: unknown): number {
  const at = deadline instanceof Date ? deadline.getTime() : deadline;
  if (typeof at !== "number" || Number.isNaN(at)) {
    throw new TypeError("deadline: expected a valid Date or milliseconds since 1970");
  }
  const left = at - Date.now();
  if (left > 0) return left;
  throw new LeaderError("timeout", "the deadline had passed before the request was sent", { ran: "no" });
}

/**
 * Checks a tool's address.
 *
 * @param isSecret whether requests carry signatures of a leader
 * @returns it without query, fragment and trailing slashes
 * @throws TypeError for an invalid one; for `http:` to another machine unless that is allowed by name
 */
export function checkAddress(text: string, isSecret: boolean, allowHttp: boolean): string {
  if (!URL.canParse(text)) throw new TypeError("url: expected an absolute URL, such as https://tools.example/sum");
  const { protocol, host, hostname, pathname } = new URL(text);
  let end = pathname.length;
  while (pathname[end - 1] === "/") end--;
  if (protocol !== "https:" && protocol !== "http:") throw new TypeError("url: expected https or http");
  if (protocol === "http:" && isSecret && !allowHttp && !isLoopback(hostname)) {
    throw new TypeError(
      "url: expected https, because anyone who reads a signed request can repeat it under another nonce; `allowHttp: true` sends it over http",
    );
  }
  return `${protocol}//${host}${pathname.slice(0, end)}`;
}
