import type { CliHost } from "../cli/command.js";

/**
 * Id and key of the leader, and public key of the tool; undefined before the first `svc-gen dev --signed` of the
 * project.
 */
export async function devLeader(root: string, env: CliHost["env"]) {
  const { DEV_KEY_ID, DEV_LEADER_ID, devKeys } = await import("../dev/dev-keys.js");
  const { privateFolder } = await import("../dev/dev-state.js");
  const keys = devKeys(privateFolder(root, env));
  if (keys === undefined) return undefined;
  const { leaderKey, toolPublicKey } = keys;
  return { leader: { id: DEV_LEADER_ID, keyId: DEV_KEY_ID, key: leaderKey }, toolPublicKey };
}
