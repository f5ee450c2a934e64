/** The caller that a request names in its headers. It is verified only in an {@link Observation} that has a caller. */

import type { LeaderResolver } from "../../config/leader-resolver.js";
import type { SignatureHeaders } from "../../wire/protocol.js";
import { shown } from "./call-log.js";
import type { RequestHeaders } from "./messages.js";

/** A claimed caller. Its texts are safe to log. */
export interface ClaimedCaller {
  readonly leader: string | undefined;
  readonly key: string | undefined;
  /** The exact leader id when the allow-list has it: only such an id may become the label of a metric. */
  readonly listed: string | undefined;
}

/** Reads the claims of requests. */
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

/** Log fields of a claim; absent members are left out. */
export function claimFields({ leader, key }: ClaimedCaller): Record<string, string> {
  return { ...(leader !== undefined && { claimedLeader: leader }), ...(key !== undefined && { claimedKey: key }) };
}
