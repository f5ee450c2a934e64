/** svc-gen in a process of its own, for commands that run until they are interrupted. */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { REPOSITORY } from "../repository.js";
import { atEnd } from "../teardown.js";
import { CliOutput } from "./cli-output.js";

/** A running svc-gen, whose output is awaited. */
export class CliProcess extends CliOutput {
  readonly #process: ChildProcess;
  readonly #ended: Promise<number | null>;

  /** @param bin the script of svc-gen: by default this repository's */
  constructor(root: string, args: readonly string[], bin = join(REPOSITORY, "generator/bin.js")) {
    super();
    this.#process = spawn(process.execPath, [bin, ...args], { cwd: root });
    atEnd(() => this.#process.kill("SIGKILL"));
    this.#process.stdout?.setEncoding("utf8").on("data", (chunk: string) => this.print(chunk));
    this.#process.stderr?.setEncoding("utf8").on("data", (chunk: string) => this.complain(chunk));
    this.#ended = new Promise((resolve) => {
      this.#process.once("close", (code) => {
        this.close();
        resolve(code);
      });
    });
  }

  /** The exit code. */
  exit(): Promise<number | null> {
    return this.#ended;
  }

  /** Closes the reading end of its output, as `head` does. */
  closeOutput(): void {
    this.#process.stdout?.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Ctrl-C, or another signal; the exit code. */
  interrupt(signal: NodeJS.Signals = "SIGINT"): Promise<number | null> {
    this.signal(signal);
    return this.#ended;
  }
}

/** A `svc-gen dev` that serves: the addresses of its tools, its page and its endpoint of MCP. */
export async function startDev(root: string, ...args: string[]) {
  const dev = new CliProcess(root, ["dev", "--port", "0", "--json", ...args]);
  const { url: page, mcp } = await dev.event<{ readonly url: string; readonly mcp: string }>("page");
  const { url } = await dev.event<{ readonly url: string }>("serving");
  return { dev, page, mcp, url };
}
