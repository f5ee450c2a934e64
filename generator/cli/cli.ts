/** The command line: the list of commands, and the handling of `--help`, `--json` and errors. */

import { refuseContent } from "../commands/options/file-arguments.js";
import { escapeAllButColours, escapeControls } from "../compile/diagnostics/quote.js";
import { UnwritableError } from "../files/atomic-write.js";
import { ForeignFile } from "../files/output-files.js";
import { UnreadableFile } from "../files/read-file.js";
import { VERSION } from "../process/version.js";
import { isStackOverflow } from "../text/json.js";
import { checkUse, findCommand, readArguments } from "./arguments.js";
import { asJson, type CliHost, CommandError, EXIT, type Options, UsageError, type Values } from "./command.js";
import { COMMANDS } from "./commands.js";
import { commandHelp, overview } from "./help-layout.js";

export { type CliHost, EXIT } from "./command.js";

/**
 * Runs one command line.
 *
 * @returns the exit code
 */
export async function run(given: readonly string[], surroundings: CliHost): Promise<number> {
  const { colour, print, complain } = surroundings;
  const printable = colour ? escapeAllButColours : escapeControls;
  // Escapes the output, which contains names and texts from the project, git and servers.
  const host: CliHost = {
    ...surroundings,
    print: (text) => print(printable(text)),
    complain: (text) => complain(printable(text)),
  };
  try {
    const found = findCommand(given, COMMANDS);
    if ("group" in found) {
      const shown = COMMANDS.filter(({ name }) => found.group === "" || name.startsWith(`${found.group} `));
      host.print(overview(VERSION, shown, COMMANDS[0]));
      return EXIT.done;
    }
    const command = await found.entry.load();
    const parsed = readArguments(found.words, command);
    const { args, values } = parsed;
    if (values.help || values.version) {
      host.print(values.help ? commandHelp(command) : `${VERSION}\n`);
      return EXIT.done;
    }
    refuseContent(command, args, values, host.cwd);
    checkUse(command, found.words, parsed);
    return await command.run({ ...host, args, values, json: isSet(values, "json"), quiet: isSet(values, "quiet") });
  } catch (error) {
    const fault = faultOf(error, helpFor(given));
    if (fault === undefined) throw error;
    const { exit, code, message } = fault;
    if (given.includes("--json")) {
      host.print(asJson({ diagnostics: [{ severity: "error", code, message, hint: fault.hint }] }));
    } else host.complain(`svc-gen: ${message} (${fault.hint})\n`);
    return exit;
  }
}

/** Hint that names the help of the typed command or group, or the overview if there is no such command. */
function helpFor(given: readonly string[]): string {
  const [first = "", second = ""] = given.filter((word) => !word.startsWith("-"));
  const names = COMMANDS.slice(1).map(({ name }) => name);
  const named = [`${first} ${second}`, first].find((each) => names.includes(each));
  const group = names.some((name) => name.startsWith(`${first} `)) ? first : undefined;
  return ["see svc-gen", named ?? group, "--help"].filter((word) => word !== undefined).join(" ");
}

function isSet(values: Values<Options>, name: string): boolean {
  return values[name] === true;
}

/** Message of an error that the user can fix; undefined for a defect of svc-gen. */
function faultOf(error: unknown, help: string) {
  if (error instanceof UsageError) return { exit: EXIT.usage, code: "usage", message: error.message, hint: help };
  // The parsers of TypeScript and JSON are recursive.
  if (isStackOverflow(error)) {
    const message = "a type, an expression or a document is nested too deeply";
    return { exit: EXIT.failure, code: "failed", message, hint: "reduce its nesting" };
  }
  if (error instanceof UnreadableFile || error instanceof ForeignFile || error instanceof CommandError) {
    return { exit: EXIT.failure, code: "failed", message: error.message, hint: error.hint };
  }
  if (!(error instanceof UnwritableError)) return undefined;
  return { exit: EXIT.failure, code: "disk", message: error.message, hint: error.hint };
}
