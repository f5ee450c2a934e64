/** Options of commands that call tools as a leader. By default, they use the development keys. */

import { DEFAULT_HEADER_PREFIX, isHeaderPrefix } from "svc-runtime/internal/generator";
import type { LeaderOptions } from "svc-runtime/leader";
import { type CommandContext, UsageError } from "../../cli/command.js";
import { quoted } from "../../compile/diagnostics/quote.js";
import { readNamed } from "../../files/read-file.js";
import { devLeader } from "../dev-leader.js";
import { leaderOf, publicKeyIn, withKeys } from "../keys/key-options.js";

export const HEADER_PREFIX = {
  "header-prefix": {
    type: "string",
    value: "TEXT",
    summary: "prefix of signature headers: X-Nexus- for servers of older leaders",
  },
} as const;

/** @throws UsageError if the text cannot be a prefix of header names */
export function headerPrefixOf(prefix = DEFAULT_HEADER_PREFIX): string {
  if (isHeaderPrefix(prefix)) return prefix;
  throw new UsageError(`--header-prefix expects letters and hyphens that end in a hyphen, got ${quoted(prefix)}`);
}

export const LEADER_OPTIONS = {
  "leader-key": { type: "string", value: "FILE", summary: "private key of the leader" },
  "leader-id": { type: "string", value: "ID", summary: "ID of the leader in the allow-list (default: leader)" },
  "key-id": { type: "string", value: "N", summary: "ID of the leader's key in the allow-list (default: 0)" },
  "tool-key": { type: "string", value: "HEX", summary: "public key of the tool; without it results are not verified" },
  ...HEADER_PREFIX,
  ca: { type: "string", value: "FILE", summary: "trusted certificates in PEM format, instead of the system's" },
} as const;

/** Options of commands that call tools with the user's inputs. */
export const CALL_OPTIONS = {
  secret: {
    type: "string",
    multiple: true,
    value: "PORT=VARIABLE",
    summary: "read the value of an input port from an environment variable; repeatable",
  },
  "allow-http": { type: "boolean", summary: "send signed calls to another machine over http:, unencrypted" },
} as const;

/** Client options from the command line. */
export interface CommandLeader extends LeaderOptions {
  /** The tool's public key as text. */
  readonly toolKey?: string;
}

/**
 * Keys from the command line, otherwise the development keys. Without either, there is no leader.
 *
 * @param signed whether keys are needed
 * @param root project whose development keys are used
 * @throws UsageError if a file cannot be read
 */
export async function leaderOptions(
  { cwd, env, values }: Pick<CommandContext<typeof LEADER_OPTIONS>, "cwd" | "env" | "values">,
  signed: boolean,
  root = cwd,
): Promise<CommandLeader> {
  const ca = values.ca === undefined ? {} : { tls: { ca: readNamed(cwd, values.ca).toString() } };
  const prefix = values["header-prefix"] === undefined ? {} : { headerPrefix: values["header-prefix"] };
  if (!signed) return { ...ca, ...prefix };
  const { "leader-key": key, "tool-key": toolKey } = values;
  for (const each of toolKey?.split(",") ?? []) await publicKeyIn("tool-key", each, cwd);
  if (key !== undefined) {
    await withKeys(({ refusePublicKey }) => refusePublicKey(key));
    const { id, kid } = leaderOf(values);
    const leader = { id, keyId: kid, key: readNamed(cwd, key).toString() };
    // Unverified results are accepted, because the command reports that no signature was verified.
    const trust = toolKey === undefined ? { acceptUnverified: true } : { toolKey };
    return { ...ca, ...prefix, leader, ...trust };
  }
  const own = await devLeader(root, env);
  if (own === undefined) return { ...ca, ...prefix };
  return { ...ca, ...prefix, leader: own.leader, toolKey: toolKey ?? own.toolPublicKey };
}
