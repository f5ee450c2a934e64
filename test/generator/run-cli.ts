/** Runs command lines of svc-gen in this process and collects what they print. */

import { type CliHost, run } from "#generator/cli/cli.js";
import { atEnd } from "../teardown.js";
import { CliOutput } from "./cli-output.js";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** One command line in a folder, without a terminal, without input; `host` overrides that. */
export async function svcGenIn(cwd: string, args: readonly string[], host: Partial<CliHost> = {}): Promise<Ran> {
  let out = "";
  let err = "";
  const code = await run(args, {
    cwd,
    env: { XDG_STATE_HOME: process.env.XDG_STATE_HOME },
    colour: false,
    print: (text) => {
      out += text;
    },
    complain: (text) => {
      err += text;
    },
    readInput: async () => Buffer.alloc(0),
    ask: undefined,
    interrupted: () => new Promise(() => {}),
    ...host,
  });
  return { code, out, err };
}

/** A command line that runs in this process until it is interrupted. */
export class CliRun extends CliOutput {
  readonly #ended: Promise<number>;
  #interrupt: () => void = () => {};

  constructor(cwd: string, args: readonly string[]) {
    super();
    const interrupted = new Promise<void>((resolve) => {
      this.#interrupt = resolve;
    });
    atEnd(() => this.interrupt());
    const host = {
      print: (text: string) => this.print(text),
      complain: (text: string) => this.complain(text),
      interrupted: () => interrupted,
    };
    this.#ended = svcGenIn(cwd, args, host).then(({ code }) => {
      this.close();
      return code;
    });
  }

  /** The exit code. */
  exit(): Promise<number> {
    return this.#ended;
  }

  /** What Ctrl-C does; the exit code. */
  interrupt(): Promise<number> {
    this.#interrupt();
    return this.#ended;
  }
}
