/** Runs command lines of svc-gen in this process and collects what they print. */

import { type CliHost, run } from "#generator/cli.js";

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
    env: {},
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
