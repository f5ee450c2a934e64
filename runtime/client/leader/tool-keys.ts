import type { VerifyKey } from "../wire/signature/ed25519-keys.js";
import { LeaderError } from "./error.js";
import { type PublicKey, publicKey } from "./result/result.js";

/** One key of a tool, several keys during a rotation, or a function that returns them for each result. */
export type ToolKeys =
  | PublicKey
  | readonly PublicKey[]
  | (() => PublicKey | readonly PublicKey[] | Promise<PublicKey | readonly PublicKey[]>);

/**
 * Returns a function that returns the prepared keys. If `keys` is a function, it is called each time. If it throws or
 * returns no valid keys, the promise rejects with a {@link LeaderError} `tool_key_unavailable`.
 *
 * @throws RangeError, TypeError if there is no key, or one that no signature can verify against
 */
export function toolKeyRing(keys: ToolKeys): () => Promise<readonly VerifyKey[]> {
  const prepared = (given: PublicKey | readonly PublicKey[]): VerifyKey[] => {
    const list = Array.isArray(given) ? (given as PublicKey[]) : [given as PublicKey];
    if (list.length === 0) throw new TypeError("toolKey: expected at least one key, got none");
    return list.map((key) => publicKey(key));
  };
  if (typeof keys !== "function") {
    const known = Promise.resolve(prepared(keys));
    return () => known;
  }
  return async () => {
    try {
      return prepared(await keys());
    } catch (cause) {
      throw new LeaderError("tool_key_unavailable", "the function `toolKey` returned no valid key", { cause });
    }
  };
}
