/** Parses the command line, with one-line errors. */

import { parseArgs } from "node:util";
import { closest, didYouMean } from "svc-runtime/internal/generator";
import { contentKind, quoted } from "../compile/diagnostics/quote.js";
import { type Command, type Option, type Options, UsageError, type Values } from "./command.js";

/** Options of every command. */
const COMMON: Options = {
  help: { type: "boolean", short: "h", summary: "this text" },
  version: { type: "boolean", short: "v", summary: "the version" },
};

export interface ParsedArguments {
  /** Undefined if the user asks for the overview of commands. */
  readonly command: Command | undefined;
  /** First word of the commands in the overview, such as `keys`; undefined for all commands. */
  readonly group?: string;
  readonly args: readonly string[];
  readonly values: Values<Options>;
}

/**
 * Parses the command, its arguments and its options. The first command of the list is the default.
 *
 * @throws UsageError
 */
export function readArguments(given: readonly string[], commands: readonly Command[]): ParsedArguments {
  const options: Record<string, Option> = Object.assign({}, ...commands.map((each) => each.options), COMMON);
  const config = { args: [...given], allowPositionals: true, options } as const;
  // Not strict, because the errors of strict parsing would print the input unescaped.
  for (const token of parseArgs({ ...config, strict: false, tokens: true }).tokens) {
    if (token.kind === "option") checkOption(options, token.name, token.rawName, token.value, token.inlineValue);
  }
  const parsed = parseArgs(config);
  const values = parsed.values as Values<Options>;
  const { positionals } = parsed;
  const isHelp = values.help === true;
  if (isHelp && positionals.length === 0) return { command: undefined, args: [], values: { help: true } };
  const [first = "", ...others] = positionals;
  const isGroup =
    commands.some(({ name }) => name.startsWith(`${first} `)) && !commands.some(({ name }) => name === first);
  if (isHelp && isGroup && others.length === 0) {
    return { command: undefined, group: first, args: [], values: { help: true } };
  }
  const { command, args } = commandOf(positionals, commands);
  if (isHelp || values.version) return { command, args, values: isHelp ? { help: true } : values };
  const idle = Object.keys(values).find((name) => !Object.hasOwn(command.options, name));
  if (idle !== undefined) {
    const words = idle.split("-");
    const own = Object.keys(command.options).find((name) => words.every((word) => name.split("-").includes(word)));
    const others = commands.filter(({ options }) => Object.hasOwn(options, idle)).map(({ name }) => name);
    const hint = own === undefined ? `it is an option of ${others.join(", ")}` : `did you mean --${own}?`;
    throw new UsageError(`${command.name} has no option --${idle}; ${hint}`);
  }
  if (args.length > 0 && command.arguments === undefined) {
    const [first = ""] = args;
    const hint = /^\d+$/.test(first) && Object.hasOwn(command.options, "port") ? `; did you mean --port ${first}?` : "";
    throw new UsageError(`${command.name} takes no argument, got ${shownText(first)}${hint}`);
  }
  return { command, args, values };
}

/** An argument in a message: quoted, or described when it may be the content of a secret file. */
function shownText(text: string): string {
  return contentKind(text) ?? quoted(text);
}

/** Commands of other tools, and the corresponding commands of svc-gen. */
const OTHER_TOOLS = new Map([
  ...["init", "create"].map((name) => [name, "new"] as const),
  ...["serve", "start", "run"].map((name) => [name, "dev"] as const),
  ["build", "generate, then tsc"],
  ["call", "invoke"],
]);

function commandOf(positionals: readonly string[], commands: readonly Command[]) {
  const [first, second] = positionals;
  if (first === undefined) return { command: commands[0] as Command, args: [] };
  const two = commands.find(({ name }) => name === `${first} ${second}`);
  if (two !== undefined) return { command: two, args: positionals.slice(2) };
  const one = commands.find(({ name }) => name === first);
  if (one !== undefined) return { command: one, args: positionals.slice(1) };
  const group = commands.filter(({ name }) => name.startsWith(`${first} `)).map(({ name }) => name);
  if (group.length > 0) {
    const seconds = group.map((name) => name.slice(first.length + 1));
    if (second === undefined) throw new UsageError(`${first} expects one of: ${seconds.join(", ")}`);
    throw new UsageError(
      `unknown command ${shownText(`${first} ${second}`)}${didYouMean(second, seconds) || `; there is ${seconds.join(", ")}`}`,
    );
  }
  const firsts = [...new Set(commands.map(({ name }) => name.split(" ")[0] as string))];
  const isOption = [commands[0]?.options, COMMON].some((options) => options && Object.hasOwn(options, first));
  const same = OTHER_TOOLS.get(first);
  const hint = isOption ? `; did you mean --${first}?` : same ? `; did you mean ${same}?` : didYouMean(first, firsts);
  throw new UsageError(`unknown command ${shownText(first)}${hint}`);
}

function checkOption(
  options: Options,
  name: string,
  given: string,
  value: string | undefined,
  inline: boolean | undefined,
): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) {
    const known = Object.keys(options).map((each) => `--${each}`);
    throw new UsageError(`unknown option ${shownText(given)}${didYouMean(given, known)}`);
  }
  if (option.type === "boolean" && value !== undefined) throw new UsageError(`--${name} takes no value`);
  if (option.type === "string" && (value === undefined || value === "" || (!inline && value.startsWith("-")))) {
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
