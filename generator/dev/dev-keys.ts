/** Keys and configuration for signed calls during development. They never leave the project's private folder. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { signedConfig } from "../config/new-config.js";
import { replaceFiles } from "../files/atomic-write.js";
import { readKeyFile, writeKeyFile } from "../keys/key-file.js";
import { keyTexts, newKey, publicKeyText } from "../keys/key-forms.js";

/** Id of the leader in the development configuration. */
export const DEV_LEADER_ID = "dev";
export const DEV_KEY_ID = 0;

const LEADER_KEY = "leader.key";
const TOOL_KEY = "tool.key";

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
 * Writes a configuration that requires signatures by the development leader, for these tools.
 *
 * @throws KeyFileError if a key was changed by hand
 */
export function writeDevConfig(folder: string, tools: readonly string[]): void {
  const config = signedConfig(join(folder, "config.json"), {
    tools,
    leaderId: DEV_LEADER_ID,
    leaderKey: publicKeyText(readKeyFile(folder, LEADER_KEY).key),
    toolKey: keyTexts(readKeyFile(folder, TOOL_KEY).key),
  });
  replaceFiles(config.files.map(({ target, content }) => ({ target, content, mode: 0o600 })));
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
