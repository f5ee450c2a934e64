/** Generates help texts from the table of commands. */

import { sentences } from "../text/sentences.js";
import type { Command, CommandEntry, Options } from "./command.js";

const EXIT_CODES =
  "exit codes: 0 success, 1 failure, 2 invalid arguments, 3 generated files are stale, 4 breaking change of a contract\n";

/** Text of `svc-gen --help`, or of `svc-gen keys --help` for a group of commands. */
export function overview(
  version: string,
  commands: readonly CommandEntry[],
  byDefault: CommandEntry | undefined,
): string {
  const lines = commands.map((command) => {
    const { name, arguments: args, summary } = command;
    const words = ["svc-gen", ...(command === byDefault ? [] : [name]), ...(args === undefined ? [] : [args])];
    return [words.join(" "), summary];
  });
  return [
    `svc-gen ${version}: tool servers from TypeScript classes\n\n`,
    table(lines),
    "\n`svc-gen COMMAND --help` shows the options of a command, with examples.\n",
    EXIT_CODES,
  ].join("");
}

export function commandHelp({ name, arguments: args, summary, details, options, examples }: Command): string {
  const usage = `svc-gen ${name}${args === undefined ? "" : ` ${args}`}${Object.keys(options).length > 0 ? " [OPTIONS]" : ""}`;
  return [
    `${usage}\n\n${sentences(summary)}\n`,
    details === undefined ? "" : `\n${details.trim()}\n`,
    Object.keys(options).length === 0 ? "" : `\noptions:\n${table(optionRows(options))}`,
    `\nexamples:\n${table(examples)}`,
    `\n${EXIT_CODES}`,
  ].join("");
}

function optionRows(options: Options): [string, string][] {
  return Object.entries(options).map(([name, { short, value, summary }]) => [
    `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
    summary,
  ]);
}

/** Maximum width of the first column for which the second stays on the same line. */
const MAX_COLUMN = 44;

function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([first = ""]) => (first.length > MAX_COLUMN ? 0 : first.length)));
  return rows
    .map(([first = "", second]) => {
      const gap = first.length > width ? `\n${" ".repeat(width + 4)}` : " ".repeat(width + 2 - first.length);
      return `  ${first}${gap}${second}\n`;
    })
    .join("");
}
