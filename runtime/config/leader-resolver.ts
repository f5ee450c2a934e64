// Interface of an allow-list for a server. Public types refer to it, so it uses no types of Node.

import type { VerifyKey } from "svc-client/internal/wire/signature/ed25519-keys";

/** Finds leader keys. Look-ups are synchronous and never throw. */
export interface LeaderResolver {
  /**
   * @param leaderId compared exactly
   * @param kid the leader's key id, a u64
   * @returns undefined if the list has no such key
   */
  lookup(leaderId: string, kid: bigint): VerifyKey | undefined;
  /** Whether a leader is listed, with any key. */
  has(leaderId: string): boolean;
  /** All keys of the list; may contain a key several times. */
  readonly keys: Iterable<VerifyKey>;
  /** Whether no request can match a key of the list. */
  readonly isEmpty: boolean;
  /** Whether exactly one leader is listed. */
  readonly hasOneLeader: boolean;
}
