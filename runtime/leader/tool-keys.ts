import type { VerifyKey } from "../wire/crypto/ed25519-keys.js";
import { LeaderError } from "./error.js";
import { type PublicKey, publicKey } from "./result/result.js";

/** One key of a tool, several keys during a rotation, or a function that returns them for each result. */
export type ToolKeys =
  | PublicKey
  | readonly PublicKey[]
  | (() => PublicKey | readonly PublicKey[] | Promise<PublicKey | readonly PublicKey[]>);

/** Maximum number of prepared keys that are cached for a function. */
const MAX_PREPARED = 16;

export class ToolKeyRing {
  readonly #ask: () => unknown;
  readonly #prepared = new Map<string, VerifyKey>();

  /** @throws RangeError, TypeError if there is no key, or one that no signature can verify against */
  constructor(keys: ToolKeys) {
    if (typeof keys === "function") {
      this.#ask = keys;
    } else {
      const known = this.#prepare(keys);
      this.#ask = () => known;
    }
  }

  /** @throws {@link LeaderError} `tool_key_unavailable` if the function throws or returns no valid keys */
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
