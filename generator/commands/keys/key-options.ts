/** Options, errors and output of commands that read keys. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readPublicKey } from "svc-runtime/internal/config";
import { isLeaderId, parseFqn } from "svc-runtime/internal/generator";
import { CommandError, UsageError, type Values } from "../../cli/command.js";
import { quoted, shellWord } from "../../compile/diagnostics/quote.js";
import type { LeaderName } from "../../keys/key-entries.js";
import { type Json, object, printJson } from "../../text/json.js";
import { projectFqns } from "../options/project-tools.js";

export const REVEAL = { type: "boolean", summary: "print the private key too" } as const;

/** Options for the entries that are printed with a key. */
export const ENTRY_OPTIONS = {
  "leader-id": { type: "string", value: "ID", summary: "leader ID in the printed entry (default: leader)" },
  "key-id": { type: "string", value: "N", summary: "key ID in the printed entry" },
} as const;

/**
 * Public key in the value of an option. Messages do not repeat the value, because a private key may look the same.
 *
 * @throws CommandError
 */
export function publicKeyIn(option: string, text: string, cwd: string): string {
  const reading = readPublicKey(text);
  if ("key" in reading) return text;
  const isFile = existsSync(resolve(cwd, text));
  const hint = isFile
    ? `pass the key itself: svc-gen keys show ${shellWord(text)} prints the public key of a private key`
    : "svc-gen keys show FILE prints the public key of a private key";
  const got = isFile ? "the name of a file" : reading.got;
  throw new CommandError(`--${option}: expected a public key of 64 hex digits, got ${got}`, hint);
}

/** Leader ID and key ID in the options. */
export function leaderOf({ "leader-id": id, "key-id": kid }: Values<typeof ENTRY_OPTIONS>): LeaderName {
  return { id: leaderIdOf("leader-id", id), kid: kid === undefined ? 0n : keyIdOf(kid) };
}

export function leaderIdOf(option: string, id = "leader"): string {
  if (isLeaderId(id)) return id;
  throw new UsageError(`--${option} expects visible ASCII characters, got ${quoted(id)}`);
}

function keyIdOf(text: string): bigint {
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 1n << 64n) return BigInt(text);
  throw new UsageError(`--key-id expects an integer from 0 to 2^64-1, got ${quoted(text)}`);
}

/** Tool of a printed configuration entry: the given one, the only one in ./meta.json, or a placeholder. */
export function toolOf(given: string | undefined, root: string): string {
  if (given === undefined) return onlyTool(root) ?? "xyz.demo.tool@1";
  const fqn = parseFqn(given);
  if (fqn !== undefined) return fqn.text;
  throw new UsageError(`--tool expects the name of a tool, domain.name@version; got ${quoted(given)}`);
}

function onlyTool(root: string): string | undefined {
  const [fqn, ...more] = projectFqns(root) ?? [];
  return fqn === undefined || more.length > 0 ? undefined : parseFqn(fqn)?.text;
}

/** JSON on one line. Numbers may exceed those of JavaScript. */
export function jsonText(...members: readonly (readonly [string, Json] | false)[]): string {
  return `${printJson(object(...members))}\n`;
}
