/** The public keys of a tool, several during a key rotation. */

import type { VerifyKey } from "../wire/crypto/ed25519-keys.js";
import { LeaderError } from "./error.js";
import { type PublicKey, publicKey } from "./result/result.js";

/** One key of a tool, several, or a function that returns them for each result. */
export type ToolKeys =
  | PublicKey
  | readonly PublicKey[]
  | (() => PublicKey | readonly PublicKey[] | Promise<PublicKey | readonly PublicKey[]>);

/** Maximum number of cached prepared keys of a function. */
const MAX_PREPARED = 16;

/** The keys of one tool. */
export class ToolKeyRing {
  readonly #ask: () => unknown;
  readonly #prepared = new Map<string, VerifyKey>();

  /** @throws RangeError, TypeError for keys that no signature can verify against, or none */
  constructor(keys: ToolKeys) {
    if (typeof keys === "function") {
      this.#ask = keys;
    } else {
      const known = this.#prepare(keys);
      this.#ask = () => known;
    }
  }

  /** @throws {@link LeaderError} `tool_key_unavailable` when the function throws or returns no valid keys */
  async keys(): Promise<readonly VerifyKey[]> {
    try {
      return this.#prepare(await this.#ask());
    } catch (cause) {
      throw new LeaderError("tool_key_unavailable", "the function `toolKey` returned no valid key", { cause });
    }
  }

  #prepare(given: unknown): VerifyKey[] {
    const list: unknown[] = Array.isArray(given) ? given : [given];
    if (list.length === 0) throw new TypeError("toolKey: expected at least one key, got none");
    return list.map((key) => {
      if (typeof key !== "string") return publicKey(key as PublicKey);
      let prepared = this.#prepared.get(key);
      if (prepared === undefined) {
        prepared = publicKey(key);
        if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear();
        this.#prepared.set(key, prepared);
      }
      return prepared;
    });
  }
}
