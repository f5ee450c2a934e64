/** Parses the command line, with one-line errors. */

import { parseArgs } from "node:util";
import { closest, didYouMean } from "svc-runtime/internal/generator";
import { contentKind, quoted } from "../compile/diagnostics/quote.js";
import { type Command, type CommandEntry, type Options, UsageError, type Values } from "./command.js";

/** Options of every command. */
const COMMON: Options = {
  help: { type: "boolean", short: "h", summary: "this text" },
  version: { type: "boolean", short: "v", summary: "the version" },
};

/** A command and the words that follow its name; or a group, such as `keys`, whose help is wanted. */
export type FoundCommand =
  | { readonly entry: CommandEntry; readonly words: readonly string[] }
  | { readonly group: string };

/**
 * Finds the command at the beginning of a command line. The first command of the list is the default.
 *
 * @throws UsageError
 */
export function findCommand(given: readonly string[], commands: readonly CommandEntry[]): FoundCommand {
  const [first = "", second] = given;
  const isHelp = given.includes("--help") || given.includes("-h");
  if (first.startsWith("-") || given.length === 0) {
    return isHelp ? { group: "" } : { entry: commands[0] as CommandEntry, words: given };
  }
  const entry = commands.find(({ name }) => name === `${first} ${second}` || name === first);
  if (entry !== undefined) return { entry, words: given.slice(entry.name.split(" ").length) };
  const seconds = commands.flatMap(({ name }) => (name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : []));
  if (seconds.length > 0) {
    if (isHelp) return { group: first };
    if (second === undefined) throw new UsageError(`${first} expects one of: ${seconds.join(", ")}`);
    throw new UsageError(
      `unknown command ${shownText(`${first} ${second}`)}${didYouMean(second, seconds) || `; there is ${seconds.join(", ")}`}`,
    );
  }
  const firsts = [...new Set(commands.map(({ name }) => name.split(" ")[0] as string))];
  const same = OTHER_TOOLS.get(first);
  const hint = same === undefined ? didYouMean(first, firsts) : `; did you mean ${same}?`;
  throw new UsageError(`unknown command ${shownText(first)}${hint}`);
}

/** Commands of other tools, and the corresponding commands of svc-gen. */
const OTHER_TOOLS = new Map([
  ...["init", "create"].map((name) => [name, "new"] as const),
  ...["serve", "start", "run"].map((name) => [name, "dev"] as const),
  ...["check", "watch", "help"].map((name) => [name, `--${name}`] as const),
  ["build", "npm run build"],
  ["test", "npm test"],
  ["call", "invoke"],
]);

export interface ParsedArguments {
  readonly args: readonly string[];
  readonly values: Values<Options>;
}

/**
 * Parses the arguments and options of a command.
 *
 * @throws UsageError
 */
export function readArguments(words: readonly string[], command: Command): ParsedArguments {
  const options: Options = { ...command.options, ...COMMON };
  const config = { args: [...words], allowPositionals: true, options } as const;
  // Not strict, because the errors of strict parsing would print the input unescaped.
  for (const token of parseArgs({ ...config, strict: false, tokens: true }).tokens) {
    if (token.kind === "option") checkOption(options, token);
  }
  const { positionals: args, values } = parseArgs(config);
  return { args, values: values as Values<Options> };
}

/**
 * Rejects arguments and options that would have no effect.
 *
 * @param line the words of the command line after the command's name
 * @throws UsageError
 */
export function checkUse(command: Command, line: readonly string[], { args, values }: ParsedArguments): void {
  for (const [name, { needs, excludes }] of Object.entries(command.options)) {
    if (values[name] === undefined) continue;
    const other = excludes?.find((each) => values[each] !== undefined);
    if (other !== undefined) throw new UsageError(`--${name} and --${other} exclude each other`);
    if (needs?.every((each) => values[each] === undefined))
      throw new UsageError(`--${name} expects --${needs.join(" or --")} too`);
  }
  const words = command.arguments?.split(" ") ?? [];
  const most = words.at(-1) === "…" ? Number.POSITIVE_INFINITY : words.length;
  if (args.length <= most) return;
  const [first = ""] = args;
  const isPort = /^\d+$/.test(first) && Object.hasOwn(command.options, "port");
  const hint = isPort ? `; did you mean --port ${first}?` : line[0] === first ? "" : "; a command precedes options";
  const quoting = command.arguments?.includes("JSON|") ? "; quote the JSON for the shell" : "";
  const got = most === 0 ? `${shownText(first)}${hint}` : `${args.length} arguments${quoting}`;
  throw new UsageError(`${command.name} takes ${command.arguments ?? "no argument"}, got ${got}`);
}

/** An argument in a message: quoted, or described when it may be the content of a secret file. */
function shownText(text: string): string {
  return contentKind(text) ?? quoted(text);
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkOption(options: Options, { name, rawName, value, inlineValue }: OptionToken): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    const words = name.split("-");
    const same = Object.keys(options).find((own) => words.every((word) => own.split("-").includes(word)));
    const known = Object.keys(options).map((each) => `--${each}`);
    const hint = same === undefined ? didYouMean(rawName, known) : `; did you mean --${same}?`;
    throw new UsageError(`unknown option ${shownText(rawName)}${hint}`);
  }
  if (option.type === "boolean" && value !== undefined) throw new UsageError(`--${name} takes no value`);
  if (option.type === "string" && (value === undefined || value === "" || (!inlineValue && value.startsWith("-")))) {
    // Shows the value only if it looks like an option. Any other value, such as a PEM, may be secret.
    const got = /^-[\w-]{1,30}$/.test(value ?? "") ? `, got ${quoted(value ?? "")}` : "";
    throw new UsageError(`--${name} expects a value${value ? `${got}; write --${name}=VALUE` : ""}`);
  }
}

/** An error for an unknown name that lists the nearest known names, or else the first ones. */
export function unknownName(what: string, name: string, known: readonly string[], near = closest(name, known, 3)) {
  const shown = (near.length > 0 ? near : known).slice(0, 3).join(near.length > 0 ? " or " : ", ");
  const more = near.length === 0 && known.length > 3 ? `, … (${known.length})` : "";
  const hint =
    near.length > 0 ? `did you mean ${shown}?` : known.length === 0 ? "there is none" : `there is ${shown}${more}`;
  return new UsageError(`unknown ${what} ${shownText(name)}; ${hint}`);
}
