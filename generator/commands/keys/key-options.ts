/** Options, errors and output that the four key commands share. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isLeaderId, parseFqn } from "svc-runtime/internal/generator";
import type { SigningKey } from "svc-runtime/leader";
import { type CommandContext, CommandError, type Options, UsageError, type Values } from "../../cli/command.js";
import { quoted, shellWord } from "../../compile/diagnostics/quote.js";
import { type Json, object, printJson } from "../../json.js";
import { projectFqns } from "../options/project-tools.js";

export const REVEAL = { type: "boolean", summary: "print the private key too" } as const;

/** Options for the entries that are printed with a key. */
export const ENTRY_OPTIONS = {
  "leader-id": { type: "string", value: "ID", summary: "leader ID in the printed entry (default: leader)" },
  "key-id": { type: "string", value: "N", summary: "key ID in the printed entry" },
  tool: { type: "string", value: "FQN", summary: "tool in the printed entry (default: the tool in ./meta.json)" },
} as const;

type Keys = typeof import("../../keys/index.js");

/** Imports the code for keys on demand. */
export async function withKeys<T>(run: (keys: Keys) => T): Promise<T> {
  return run(await import("../../keys/index.js"));
}

/**
 * Private key in the text of a file that an option names.
 *
 * @throws CommandError
 */
export async function signingKeyIn(option: string, text: string): Promise<SigningKey> {
  const { readSigningKey } = await import("svc-runtime/internal/config");
  const reading = readSigningKey(text);
  if ("key" in reading) return reading.key;
  const hint = "give a file with 32 bytes in hex, base64 or base64url";
  throw new CommandError(`--${option}: expected a private key, got ${reading.got}`, hint);
}

/**
 * Public key in the value of an option. Messages do not repeat the value, because a private key may look the same.
 *
 * @throws CommandError
 */
export async function publicKeyIn(option: string, text: string, cwd: string): Promise<string> {
  const { readPublicKey } = await import("svc-runtime/internal/config");
  const reading = readPublicKey(text);
  if ("key" in reading) return text;
  const isFile = existsSync(resolve(cwd, text));
  const hint = isFile
    ? `pass the key itself: svc-gen keys show ${shellWord(text)} prints the public key of a private key`
    : "svc-gen keys show FILE prints the public key of a private key";
  const got = isFile ? "the name of a file" : reading.got;
  throw new CommandError(`--${option}: expected a public key of 64 hex digits, got ${got}`, hint);
}

/** Returns the argument FILE. Messages do not repeat other arguments, because they may be keys. */
export function oneFile(name: string, args: readonly string[]): string {
  const [file, ...more] = args;
  if (file === undefined || more.length > 0) throw new UsageError(`${name} expects one FILE; got ${args.length}`);
  return file;
}

/** Leader ID and key ID in the options. */
export function leaderOf(
  { "leader-id": id, "key-id": kid }: Pick<Values<typeof ENTRY_OPTIONS>, "leader-id" | "key-id">,
  defaultKid = 0n,
) {
  return { id: leaderIdOf(id), kid: kid === undefined ? defaultKid : keyIdOf(kid) };
}

export function leaderIdOf(id = "leader"): string {
  if (isLeaderId(id)) return id;
  throw new UsageError(`--leader-id expects visible ASCII characters, got ${quoted(id)}`);
}

function keyIdOf(text: string): bigint {
  if (/^\d{1,20}$/.test(text) && BigInt(text) < 1n << 64n) return BigInt(text);
  throw new UsageError(`--key-id expects an integer from 0 to 2^64-1, got ${quoted(text)}`);
}

/** Tool of the configuration entry that a command prints: that of `--tool`, the only one in ./meta.json, or a placeholder. */
export function toolOf({ cwd, values }: CommandContext<typeof ENTRY_OPTIONS & Options>): string {
  const { tool } = values;
  if (tool === undefined) return onlyTool(cwd) ?? "xyz.demo.tool@1";
  const fqn = parseFqn(tool);
  if (fqn === undefined)
    throw new UsageError(`--tool expects the name of a tool, domain.name@version; got ${quoted(tool)}`);
  return fqn.text;
}

function onlyTool(root: string): string | undefined {
  const [fqn, ...more] = projectFqns(root) ?? [];
  return fqn === undefined || more.length > 0 ? undefined : parseFqn(fqn)?.text;
}

/** JSON on one line. Numbers may exceed those of JavaScript. */
export function jsonText(...members: readonly (readonly [string, Json] | false)[]): string {
  return `${printJson(object(...members))}\n`;
}
