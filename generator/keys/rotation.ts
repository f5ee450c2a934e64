import { shellWord } from "../compile/diagnostics/quote.js";
import { keyEntry, type LeaderName, memberText, oneLine, placeholderFor, toolEntry } from "./key-entries.js";

export interface Rotation {
  readonly leader: LeaderName;
  readonly tool: string;
  readonly file: string;
  /** Path of the next key. */
  readonly target: string;
  readonly publicKey: string;
  /** Next private key, if it may be printed. */
  readonly text: string | undefined;
}

/** Remaining steps of a key rotation in order, for a leader's key and for a tool's key (docs/keys.md). */
export function rotationSteps({ leader, tool, file, target, publicKey, text }: Rotation) {
  const [old, next] = [shellWord(file), shellWord(target)];
  const member = memberText(toolEntry(tool, text ?? placeholderFor(target)));
  return {
    leader: [
      `in the allow-list of every server, add this entry to "keys" of ${JSON.stringify(leader.id)}, and keep the old one: ${oneLine(keyEntry(leader.kid, publicKey))}`,
      "wait until every server has loaded the list (no restart is needed): the metric svc_reloads_total then counts one more applied version",
      `let the leader sign with ${next} and key ID ${leader.kid}`,
      "wait until no call signed with the old key is running or will be retried",
      "remove the old key from every allow-list",
      `mv ${next} ${old}`,
    ],
    tool: [
      `give clients both public keys, as the list "toolKey": the old one and ${publicKey}`,
      `in "signed_http"."tools" of the server's configuration, replace this tool's entry with: ${member}`,
      "wait until every server has loaded the entry (no restart is needed): the metric svc_signing_key_info then shows the new public key",
      "wait as long as replay_cache_ttl_ms: until then, stored results may have the old signature",
      "remove the old public key from the clients",
      `mv ${next} ${old}`,
    ],
  } as const;
}
