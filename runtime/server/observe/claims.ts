/** Caller that the headers of a request claim. Unverified unless the {@link Observation} has a caller. */

import { asciiText } from "svc-client/internal/wire/printable";
import type { SignatureHeaders } from "svc-client/internal/wire/protocol";
import type { LeaderResolver } from "../../config/leader-resolver.js";
import type { RequestHeaders } from "../call/messages.js";

/** Maximum characters of a caller's text in the log. */
const MAX_TEXT = 64;

/** A caller's text for the log: truncated, with all but visible ASCII replaced by `?`. */
export function shown(text: string): string {
  return asciiText(text, MAX_TEXT);
}

/** Claimed caller. Its texts are safe to log. */
export interface ClaimedCaller {
  readonly leader: string | undefined;
  readonly key: string | undefined;
  /** Exact leader id if it is in the allow-list; only such an id may become a metric label. */
  readonly listed: string | undefined;
}

/** Reads the claim in the headers of a request. */
export type Claims = (headers: RequestHeaders["headers"]) => ClaimedCaller;

/** @param leaders returns the allow-list in force */
export function claimsOf(names: SignatureHeaders, leaders: () => LeaderResolver): Claims {
  const [leaderId, leaderKeyId] = [names.leaderId.toLowerCase(), names.leaderKeyId.toLowerCase()];
  return ({ [leaderId]: leader, [leaderKeyId]: key }) => ({
    leader: typeof leader === "string" ? shown(leader) : undefined,
    key: typeof key === "string" ? shown(key) : undefined,
    listed: typeof leader === "string" && leaders().has(leader) ? leader : undefined,
  });
}

/** Log fields of a claim; omits members that are undefined. */
export function claimFields({ leader, key }: ClaimedCaller): Record<string, string> {
  return { ...(leader !== undefined && { claimedLeader: leader }), ...(key !== undefined && { claimedKey: key }) };
}
