import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { hiddenPath } from "svc-runtime/internal/config";
import { type Command, type Options, UsageError, type Values } from "../../cli/command.js";

/**
 * Rejects a key or the content of a file in place of the name of a file, because later messages would print it.
 *
 * @throws UsageError
 */
export function refuseContent(command: Command, args: readonly string[], values: Values<Options>, cwd: string): void {
  const syntax = command.arguments ?? "";
  const files = syntax.includes("@FILE")
    ? args.filter((text) => text.startsWith("@")).map((text) => text.slice(1))
    : args.filter(() => /FILE|META|OLD/.test(syntax));
  const named = Object.entries(command.options).filter(([, { value }]) => value === "FILE");
  const given = [...files.map((text) => ["", text]), ...named.map(([name]) => [` --${name}`, values[name]])] as const;
  for (const [option, text] of given) {
    if (typeof text !== "string" || /^https?:/i.test(text) || existsSync(resolve(cwd, text))) continue;
    const kind = hiddenPath(text);
    if (kind === undefined) continue;
    const isKey = kind === "a key";
    const hint = isKey ? "; it may now be in the history of your shell: create a new key, and pass its file" : "";
    throw new UsageError(`${command.name}${option} expects the name of a file, got ${kind}${hint}`);
  }
}
