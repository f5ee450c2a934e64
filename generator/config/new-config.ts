import { prettyJson } from "svc-runtime/internal/generator";
import type { NewFile } from "../files/new-files.js";
import { type LeaderName, leaderEntry } from "../keys/key-entries.js";
import { type KeyTexts, newKey } from "../keys/key-forms.js";
import { object, ordered, printJson } from "../text/json.js";

export interface ConfigFacts {
  readonly tools: readonly string[];
  readonly leaders: readonly (LeaderName & { readonly publicKey: string })[];
  /** Key of every tool; if undefined, a new one is created for each. */
  readonly toolKey: KeyTexts | undefined;
}

/** A configuration that requires signatures, and the public keys of the tools by name. */
export function signedConfig(
  target: string,
  { tools, leaders, toolKey }: ConfigFacts,
): { readonly file: NewFile; readonly publicKeys: ReadonlyMap<string, string> } {
  const keys = new Map(tools.map((fqn) => [fqn, toolKey ?? newKey()]));
  const document = ordered({
    signed_http: {
      allowed_leaders: { version: 1, leaders: leaders.map((leader) => leaderEntry(leader, leader.publicKey)) },
      tools: object(...Array.from(keys, ([fqn, { text }]) => [fqn, object(["response_signing_key", text])] as const)),
    },
  });
  const file = { target, content: `${prettyJson(printJson(document))}\n`, isPrivate: true };
  return { file, publicKeys: new Map(Array.from(keys, ([fqn, { publicKey }]) => [fqn, publicKey])) };
}
