import { dirname, join } from "node:path";
import type { NewFile } from "../files/new-files.js";
import { type KeyTexts, newKey } from "../keys/key-forms.js";

export interface ConfigFacts {
  readonly tools: readonly string[];
  readonly leaderId: string;
  /** Public key of the leader; if undefined, a new pair is created. */
  readonly leaderKey: string | undefined;
  /** Key of every tool; if undefined, a new one is created for each. */
  readonly toolKey: KeyTexts | undefined;
}

export interface NewConfig {
  readonly files: readonly NewFile[];
  /** Public keys of the tools, by name. */
  readonly publicKeys: ReadonlyMap<string, string>;
}

/**
 * Creates a configuration that requires signatures. If the leader has no key yet, a new pair is added as files in the
 * folder `keys` next to the configuration.
 */
export function signedConfig(target: string, { tools, leaderId, leaderKey, toolKey }: ConfigFacts): NewConfig {
  const keys = join(dirname(target), "keys");
  const newLeaderKey = newKey();
  const publicKey = leaderKey ?? newLeaderKey.publicKey;
  const toolKeys = tools.map((fqn) => [fqn, toolKey ?? newKey()] as const);
  const document = {
    signed_http: {
      allowed_leaders: {
        version: 1,
        leaders: [{ leader_id: leaderId, keys: [{ kid: 0, public_key: publicKey }] }],
      },
      tools: Object.fromEntries(toolKeys.map(([fqn, { text }]) => [fqn, { response_signing_key: text }])),
    },
  };
  const files: NewFile[] = [{ target, content: print(document), isPrivate: true }];
  if (leaderKey === undefined) {
    files.push({ target: join(keys, "leader.key"), content: `${newLeaderKey.text}\n`, isPrivate: true });
    files.push({ target: join(keys, "leader.pub"), content: `${publicKey}\n`, isPrivate: false });
  }
  return { files, publicKeys: new Map(toolKeys.map(([fqn, key]) => [fqn, key.publicKey])) };
}

/** A configuration that disables signatures. */
export function unsignedConfig(target: string): NewConfig {
  const content = print({ signed_http: { mode: "disabled" } });
  return { files: [{ target, content, isPrivate: false }], publicKeys: new Map() };
}

function print(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
