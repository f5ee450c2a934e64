/** Checks of key files, and of keys compared with the configuration. */

import { isWorldReadable, readOperatorFile } from "svc-runtime/internal/config";
import type { SigningKey } from "svc-runtime/leader";
import { quoted, shellWord } from "../compile/diagnostics/quote.js";
import type { CheckedConfig } from "../config/check-config.js";
import { bad, type Check, good, skipped } from "./check.js";

export interface GivenKeys {
  readonly leader: LeaderWithKey | undefined;
  /** Public key with which leaders verify results, in hex. */
  readonly toolKey: string | undefined;
  /** Names of the tools in `meta.json`. */
  readonly tools: readonly string[] | undefined;
}

export interface LeaderWithKey {
  readonly id: string;
  readonly keyId: bigint;
  readonly key: SigningKey;
}

/** @param file private key of a leader; undefined if none is given */
export function checkKeys(file: string | undefined, cwd: string, checked: CheckedConfig | undefined): Check {
  if (file === undefined) {
    // Another check covers the permissions of the configuration.
    const isInConfig = checked?.tools.some((id) => checked.config?.toolConfig(id)?.signingKey) === true;
    return isInConfig ? good("keys", "in the configuration") : skipped("keys", "none given");
  }
  const reading = readOperatorFile(file, cwd);
  if ("fault" in reading) return bad("keys", `${quoted(file)} ${reading.fault}`, "pass the path of a private key");
  if (!isWorldReadable(reading.stats)) return good("keys", "readable by their owner and group only");
  const detail = `every user of this machine can read the private key in ${quoted(file)}`;
  return bad("keys", detail, `chmod 600 ${shellWord(file)}`);
}

/** Compares the given keys with the configuration. */
export function checkPairs({ leader, toolKey, tools }: GivenKeys, checked: CheckedConfig | undefined): Check[] {
  const config = checked?.config;
  if (config === undefined || !config.signedHttpIsRequired()) return [];
  const checks: Check[] = [];
  if (leader !== undefined) {
    const own = leader.key.publicKey;
    const listed = config.leaders.lookup(leader.id, leader.keyId);
    const name = `leader ${quoted(leader.id)} with key ${leader.keyId}`;
    if (listed === undefined) {
      checks.push(
        bad(
          "leader key",
          `${name} is not in the allow-list`,
          "add the public key to the allow-list (error code: auth_failed)",
        ),
      );
    } else if (Buffer.compare(listed.bytes, own) !== 0) {
      checks.push(
        bad(
          "leader key",
          `${name} has another public key in the allow-list`,
          `set the public key in the allow-list to ${hex(own)} (error code: auth_failed)`,
        ),
      );
    } else checks.push(good("leader key", `${name} is in the allow-list`));
  }
  if (toolKey !== undefined) {
    const keys = (tools ?? checked?.tools ?? []).flatMap((id) => config.toolConfig(id)?.signingKey?.publicKey ?? []);
    const isThere = keys.some((key) => hex(key) === toolKey.replace(/^0x/, "").toLowerCase());
    if (isThere) checks.push(good("tool key", "the configuration has the matching private key"));
    else if (keys.length === 0) {
      const next = "add response_signing_key (see docs/troubleshooting.md: results of the tool are not signed)";
      checks.push(bad("tool key", "no tool has a response_signing_key", next));
    } else
      checks.push(
        bad(
          "tool key",
          "results are signed with another key",
          `leaders must verify with ${keys.map(hex).join(" or ")}`,
        ),
      );
  }
  return checks;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
