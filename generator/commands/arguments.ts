/** Parsing of the command line, with one-line errors. */

import { parseArgs } from "node:util";
import { closest, didYouMean } from "../diagnostics/did-you-mean.js";
import { quoted } from "../diagnostics/quote.js";

/** The command line is invalid: exit code 2. The message quotes the input, control characters escaped. */
export class UsageError extends Error {}

const OPTIONS = {
  check: { type: "boolean" },
  watch: { type: "boolean" },
  project: { type: "string", short: "p" },
  out: { type: "string" },
  json: { type: "boolean" },
  quiet: { type: "boolean" },
  fqn: { type: "string" },
  url: { type: "string" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
} as const;

/** The commands and the options of each. */
const COMMANDS: Readonly<Record<string, readonly (keyof typeof OPTIONS)[]>> = {
  generate: ["check", "watch", "project", "out", "json", "quiet"],
  check: ["check", "project", "out", "json", "quiet"],
  explain: ["json"],
  meta: ["project", "out", "fqn", "url"],
  diff: ["json"],
};

/**
 * Parses the command, its arguments and its options.
 *
 * @throws UsageError
 */
export function readArguments(args: readonly string[]) {
  const config = { args: [...args], allowPositionals: true, options: OPTIONS } as const;
  // Not strict: the errors of strict parsing would print the input unescaped.
  for (const token of parseArgs({ ...config, strict: false, tokens: true }).tokens) {
    if (token.kind === "option") checkOption(token.name, token.rawName, token.value, token.inlineValue);
  }
  const { values, positionals } = parseArgs(config);
  const [command = "generate", ...rest] = positionals;
  if (values.help || values.version) return { command, rest, values };
  const allowed = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (allowed === undefined) {
    throw new UsageError(`unknown command ${quoted(command)}${didYouMean(command, Object.keys(COMMANDS))}`);
  }
  const idle = (Object.keys(values) as (keyof typeof OPTIONS)[]).find((name) => !allowed.includes(name));
  if (idle !== undefined) throw new UsageError(`${command} has no --${idle}`);
  if (values.check && values.watch) throw new UsageError("--check and --watch exclude each other");
  return { command, rest, values };
}

function checkOption(name: string, given: string, value: string | undefined, inline: boolean | undefined): void {
  const option = Object.hasOwn(OPTIONS, name) ? OPTIONS[name as keyof typeof OPTIONS] : undefined;
  if (option === undefined) {
    const known = Object.keys(OPTIONS).map((each) => `--${each}`);
    throw new UsageError(`unknown option ${quoted(given)}${didYouMean(given, known)}`);
  }
  if (option.type === "boolean" && value !== undefined) throw new UsageError(`--${name} takes no value`);
  if (option.type === "string" && (value === undefined || value === "" || (!inline && value.startsWith("-")))) {
    throw new UsageError(`--${name} wants a value${value ? `, got ${quoted(value)}; write --${name}=VALUE` : ""}`);
  }
}

/** An error for an unknown name that lists the nearest known names, or else the first ones. */
export function unknownName(what: string, name: string, known: readonly string[], near = closest(name, known, 3)) {
  const shown = (near.length > 0 ? near : known).slice(0, 3).join(near.length > 0 ? " or " : ", ");
  const more = near.length === 0 && known.length > 3 ? `, … (${known.length})` : "";
  const hint =
    near.length > 0 ? `did you mean ${shown}?` : known.length === 0 ? "there is none" : `there is ${shown}${more}`;
  return new UsageError(`unknown ${what} ${quoted(name)}; ${hint}`);
}
