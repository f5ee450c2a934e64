/** Definition of a command of svc-gen: arguments, help and function. */

/**
 * Exit codes. 0: success, 1: diagnostics or a failure, 2: usage error, 3: generated files are stale, 4: a contract is
 * broken.
 */
export const EXIT = { done: 0, failure: 1, usage: 2, stale: 3, broken: 4 } as const;

export { CommandError, UsageError } from "./command-errors.js";

/** Environment of a command line; tests pass their own. */
export interface CliHost {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether text output is coloured. */
  readonly colour: boolean;
  /** Writes results, to standard output. */
  readonly print: (text: string) => void;
  /** Writes diagnostics, notes and progress, to standard error. */
  readonly complain: (text: string) => void;
  /** Reads all of standard input. */
  readonly readInput: () => Promise<Buffer>;
  /**
   * Asks a question and returns the typed line; with `hidden`, the line is not shown. Undefined if there is no
   * terminal.
   */
  readonly ask: ((question: string, hidden?: boolean) => Promise<string>) | undefined;
  /** Resolves when the user ends the command (Ctrl-C, SIGTERM, closing the terminal). */
  readonly interrupted: () => Promise<unknown>;
}

export interface Option {
  readonly type: "boolean" | "string";
  readonly short?: string;
  /** Whether the option may be given several times. */
  readonly multiple?: true;
  /** Name of the value in the help, such as `FILE`. */
  readonly value?: string;
  readonly summary: string;
  /** Options of which one must be given too. */
  readonly needs?: readonly string[];
  /** Options that cannot be given too. */
  readonly excludes?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

/** Values of the options that were given. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]?: O[Name] extends { readonly multiple: true }
    ? readonly string[]
    : ValueOf<O[Name]["type"]>;
};

type ValueOf<Type> = Type extends "boolean" ? boolean : string;

/** One call of a command. */
export interface CommandContext<O extends Options> extends CliHost {
  readonly args: readonly string[];
  readonly values: Values<O>;
  /** `--json`: print results and errors as JSON on standard output. */
  readonly json: boolean;
  /** `--quiet`: print no notes. */
  readonly quiet: boolean;
}

/** What the module of a command exports; the table of commands has its name and summary. */
export interface CommandBody<O extends Options = Options> {
  /** Paragraphs of the command's own help. */
  readonly details?: string;
  readonly options: O;
  /** Command lines, and what each does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** @returns the exit code */
  readonly run: (call: CommandContext<O>) => number | Promise<number>;
}

export interface Command extends CommandBody {
  /** One word, or two: `keys new`. */
  readonly name: string;
  /** Arguments in the help, such as `[OLD NEW]`: at most so many words. If absent, the command takes none. */
  readonly arguments?: string;
  readonly summary: string;
}

/** A command in the table, without its module. */
export interface CommandEntry extends Pick<Command, "name" | "arguments" | "summary"> {
  readonly load: () => Promise<Command>;
}

/** Infers the options of a command for its `run`. */
export function defineCommand<const O extends Options>(command: CommandBody<O>): CommandBody {
  return command as unknown as CommandBody;
}

/** The option of every command that prints data. */
export const JSON_OPTION = { type: "boolean", summary: "print results and errors as JSON on standard output" } as const;
/** Options of commands that read the tool project. */
export const PROJECT_OPTIONS = {
  project: {
    type: "string",
    short: "p",
    value: "FILE",
    summary: "tsconfig.json of the tool project, or its folder (default: the current folder)",
  },
  out: { type: "string", value: "FOLDER", summary: "folder of the generated code (default: src/generated)" },
} as const;

/** Prints JSON for programs: indented, with a final newline. */
export function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
