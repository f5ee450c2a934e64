/** Keys and configuration for signed calls during development. They never leave the project's private folder. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { type ConfigFacts, signedConfig } from "../config/new-config.js";
import { replaceFiles } from "../files/atomic-write.js";
import { readKeyFile, writeKeyFile } from "../keys/key-file.js";
import { keyTexts, newKey, publicKeyText } from "../keys/key-forms.js";

/** The leader that the development configuration always allows. Others may have its key. */
export const DEV_LEADER = { id: "dev", kid: 0n } as const;

const LEADER_KEY = "leader.key";
const TOOL_KEY = "tool.key";

/** Leaders that a development server allows in addition to {@link DEV_LEADER}. */
export interface DevLeaders {
  /** IDs of leaders that sign with the development key. */
  readonly as: readonly string[];
  /** A leader with a key of its own. */
  readonly own: ConfigFacts["leaders"][number] | undefined;
}

/**
 * Creates missing keys.
 *
 * @throws UnwritableError
 */
export function ensureDevKeys(folder: string): void {
  for (const name of [LEADER_KEY, TOOL_KEY]) {
    if (!existsSync(join(folder, name))) writeKeyFile(folder, name, newKey().text);
  }
}

/**
 * Writes a configuration that requires signatures by the development leaders, for these tools.
 *
 * @throws KeyFileError if a key was changed by hand
 */
export function writeDevConfig(folder: string, tools: readonly string[], { as, own }: DevLeaders): void {
  const publicKey = publicKeyText(readKeyFile(folder, LEADER_KEY).key);
  const ids = new Set([DEV_LEADER.id, ...as].filter((id) => id !== own?.id));
  const leaders = Array.from(ids, (id) => ({ id, kid: DEV_LEADER.kid, publicKey }));
  const { file } = signedConfig(join(folder, "config.json"), {
    tools,
    leaders: own === undefined ? leaders : [...leaders, own],
    toolKey: keyTexts(readKeyFile(folder, TOOL_KEY).key),
  });
  replaceFiles([{ target: file.target, content: file.content, mode: 0o600 }]);
}

/**
 * Keys that a leader needs to call the tools of a project under development; undefined before the first `svc-gen dev
 * --signed`.
 *
 * @param folder private folder of the project
 * @throws KeyFileError
 */
export function devKeys(folder: string): { readonly leaderKey: Buffer; readonly toolPublicKey: string } | undefined {
  if (![LEADER_KEY, TOOL_KEY].every((name) => existsSync(join(folder, name)))) return undefined;
  const { key: leaderKey } = readKeyFile(folder, LEADER_KEY);
  return { leaderKey, toolPublicKey: publicKeyText(readKeyFile(folder, TOOL_KEY).key) };
}
