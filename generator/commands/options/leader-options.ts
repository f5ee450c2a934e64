/** Options of commands that call tools as a leader. By default, they use the development keys. */

import { DEFAULT_HEADER_PREFIX, isHeaderPrefix } from "svc-runtime/internal/generator";
import type { LeaderOptions } from "svc-runtime/leader";
import { type CommandContext, UsageError } from "../../cli/command.js";
import { quoted } from "../../compile/diagnostics/quote.js";
import { DEV_LEADER, devKeys } from "../../dev/dev-keys.js";
import { privateFolder } from "../../dev/dev-state.js";
import { readNamed } from "../../files/read-file.js";
import { readKeyFile } from "../../keys/key-file.js";
import { leaderIdOf, leaderOf, publicKeyIn } from "../keys/key-options.js";

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
  "leader-id": {
    type: "string",
    value: "ID",
    summary: "ID of the leader in the allow-list (default: leader)",
    needs: ["leader-key"],
  },
  "key-id": {
    type: "string",
    value: "N",
    summary: "ID of the leader's key in the allow-list (default: 0)",
    needs: ["leader-key"],
  },
  "tool-key": { type: "string", value: "HEX", summary: "public key of the tool; without it results are not verified" },
  ...HEADER_PREFIX,
  ca: { type: "string", value: "FILE", summary: "trusted certificates in PEM format, instead of the system's" },
} as const;

/** The options of a leader, of which those with keys have an effect only together with another option. */
export function leaderOptionsFor<const Relation extends { readonly needs?: readonly string[] }>(relation: Relation) {
  const { "leader-key": leaderKey, "tool-key": toolKey } = LEADER_OPTIONS;
  return {
    ...LEADER_OPTIONS,
    "leader-key": { ...leaderKey, ...relation },
    "tool-key": { ...toolKey, ...relation },
  } as const;
}

/** The leader whose identity a command with development keys takes. */
export const AS_OPTION = {
  type: "string",
  value: "ID",
  summary: "sign as this leader, which svc-gen dev --signed --as ID accepts",
  excludes: ["leader-key"],
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
 * @param as leader ID for the development keys
 * @throws UsageError if a file cannot be read
 */
export function leaderOptions(
  { cwd, env, values }: Pick<CommandContext<typeof LEADER_OPTIONS>, "cwd" | "env" | "values">,
  signed: boolean,
  root = cwd,
  as: string = DEV_LEADER.id,
): CommandLeader {
  const ca = values.ca === undefined ? {} : { tls: { ca: readNamed(cwd, values.ca).toString() } };
  const prefix = values["header-prefix"] === undefined ? {} : { headerPrefix: values["header-prefix"] };
  if (!signed) return { ...ca, ...prefix };
  const { "leader-key": key, "tool-key": toolKey } = values;
  for (const each of toolKey?.split(",") ?? []) publicKeyIn("tool-key", each, cwd);
  if (key !== undefined) {
    const { id, kid } = leaderOf(values);
    const leader = { id, keyId: kid, key: readKeyFile(cwd, key).text };
    // Unverified results are accepted, because the command reports that no signature was verified.
    const trust = toolKey === undefined ? { acceptUnverified: true } : { toolKey };
    return { ...ca, ...prefix, leader, ...trust };
  }
  const own = devKeys(privateFolder(root, env));
  if (own === undefined) return { ...ca, ...prefix };
  const leader = { id: leaderIdOf("as", as), keyId: DEV_LEADER.kid, key: own.leaderKey };
  return { ...ca, ...prefix, leader, toolKey: toolKey ?? own.toolPublicKey };
}
