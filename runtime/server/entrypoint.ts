/** Command line of a generated entry point. */

import { basename } from "node:path";
import { KNOWN } from "../config/stray-variables.js";
import { bootstrap, print } from "./bootstrap.js";
import { exitWith } from "./log/log-destination.js";

const USAGE = `usage: node server.js [--meta | --help]

Serves the tools until SIGTERM or SIGINT.

  --meta   print the metadata of the tools as JSON and exit
  --help   print this and exit

Environment, described in docs/settings.md of svc-gen:

${KNOWN.map((name) => `  ${name}\n`).join("")}`;

/**
 * {@link bootstrap} for generated entry points. `--help` prints the usage and exits with 0; an unknown argument exits
 * with 2. Arguments are checked only if the script is named `server`: a program that imports the entry point has its
 * own arguments.
 */
export const bootstrapEntrypoint: typeof bootstrap = (...given: unknown[]) => {
  const [script = "", ...args] = process.argv.slice(1);
  if (/^server(?:\.[cm]?[jt]s)?$/.test(basename(script))) {
    const unknown = args.find((arg) => arg !== "--meta" && arg !== "--help");
    if (unknown !== undefined) {
      const name = JSON.stringify(unknown.slice(0, 64));
      return exitWith(2, `unknown argument ${name}: expected --meta or --help\n\n${USAGE}`);
    }
    if (args.includes("--help")) return print(USAGE);
  }
  return (bootstrap as (...of: unknown[]) => ReturnType<typeof bootstrap>)(...given);
};
