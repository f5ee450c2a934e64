/** The steps from one key to the next (docs/keys.md). */

import { shellWord } from "../compile/diagnostics/quote.js";
import { keyEntry, type LeaderName, memberText, oneLine, textOf, toolEntry } from "./key-entries.js";

export interface Rotation {
  readonly leader: LeaderName;
  readonly tool: string;
  /** The file of the old key. */
  readonly file: string;
  /** The file of the next key. */
  readonly target: string;
  /** The next public key. */
  readonly publicKey: string;
  /** The next private key, when it may be shown. */
  readonly text: string | undefined;
}

/** What follows, in order, for the key of a leader and for the key of a tool. */
export function rotationSteps({ leader, tool, file, target, publicKey, text }: Rotation) {
  const [old, next] = [shellWord(file), shellWord(target)];
  const member = memberText(toolEntry(tool, text ?? textOf(target)));
  return {
    leader: [
      `in the allow-list of every server, add to "keys" of ${JSON.stringify(leader.id)}, beside the old key: ${oneLine(keyEntry(leader.kid, publicKey))}`,
      "wait until every server has it, without a restart: the metric svc_reloads_total counts it as applied",
      `let the leader sign with ${next} and the key number ${leader.kid}`,
      "when no call with the old key runs or will be repeated, take the old key out of every allow-list",
      `mv ${next} ${old}`,
    ],
    tool: [
      `give clients both keys, as the list "toolKey": the old public key and ${publicKey}`,
      `in "signed_http"."tools" of the server's configuration, change the entry: ${member}`,
      "wait until the server has it, without a restart: the metric svc_signing_key_info shows the public key",
      "when replay_cache_ttl_ms has passed, remove the old public key from the clients",
      `mv ${next} ${old}`,
    ],
  } as const;
}
