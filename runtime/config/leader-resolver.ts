// What a server asks of an allow-list. The public types refer to it, so it names no type of node.

import type { VerifyKey } from "../wire/crypto/ed25519-keys.js";

/** Finds leader keys. Look-ups are synchronous and never throw. */
export interface LeaderResolver {
  /**
   * @param leaderId compared exactly
   * @param kid the leader's key id, a u64
   * @returns undefined when the list has no such key
   */
  lookup(leaderId: string, kid: bigint): VerifyKey | undefined;
  /** Whether a leader is listed, with whichever key. */
  has(leaderId: string): boolean;
  /** All keys of the list; one that is listed several times comes several times. */
  readonly keys: Iterable<VerifyKey>;
  /** Whether there is no key that a request could name. */
  readonly isEmpty: boolean;
  /** Whether a single leader is listed. */
  readonly hasOneLeader: boolean;
}
