/** Caller that the headers of a request claim. Unverified unless the {@link Observation} has a caller. */

import type { LeaderResolver } from "../../config/leader-resolver.js";
import { asciiText } from "../../wire/printable.js";
import type { SignatureHeaders } from "../../wire/protocol.js";
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

export class Claims {
  readonly #leaderId: string;
  readonly #leaderKeyId: string;

  readonly #leaders: () => LeaderResolver;

  constructor(
    { leaderId, leaderKeyId }: Pick<SignatureHeaders, "leaderId" | "leaderKeyId">,
    leaders: () => LeaderResolver,
  ) {
    this.#leaders = leaders;
    this.#leaderId = leaderId.toLowerCase();
    this.#leaderKeyId = leaderKeyId.toLowerCase();
  }

  of(headers: RequestHeaders["headers"]): ClaimedCaller {
    const [leader, key] = [headers[this.#leaderId], headers[this.#leaderKeyId]];
    const isListed = typeof leader === "string" && this.#leaders().has(leader);
    return {
      leader: typeof leader === "string" ? shown(leader) : undefined,
      key: typeof key === "string" ? shown(key) : undefined,
      listed: isListed ? leader : undefined,
    };
  }
}

/** Log fields of a claim; omits members that are undefined. */
export function claimFields({ leader, key }: ClaimedCaller): Record<string, string> {
  return { ...(leader !== undefined && { claimedLeader: leader }), ...(key !== undefined && { claimedKey: key }) };
}
