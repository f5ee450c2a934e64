/** A server process under test, on a core of its own. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { leasePort } from "../e2e/process.js";

/** Whether processes can be given a core each. */
export const pinned = cpus().length > 1 && spawnSync("taskset", ["-c", "1", "true"]).status === 0;

/** The cores of the server and of what drives it, as taskset lists them. */
const SERVER_CORE = "0";
export const LOAD_CORE = "1";

/** What node is given to run TypeScript, whatever the working directory. */
export const TYPESCRIPT = ["--import", import.meta.resolve("tsx")] as const;

/** Starts a program on some cores, where the system allows. */
export function spawnOn(cores: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const [command, ...rest] = [...(pinned ? ["taskset", "-c", cores] : []), program, ...args];
  return spawn(command as string, rest, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
}

export interface TargetOptions {
  /** What node is started with. */
  readonly args: readonly string[];
  /** Where its tool is called, `/sum/invoke`. */
  readonly path: string;
  /** The toolkit's configuration; none when absent. */
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
}

const SERVING = '"msg":"serving"';
const RELOADED = "loaded a new version of";

export class Target {
  #log = "";

  readonly #directory: string;

  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
    readonly path: string,
    /** When the process was started, by `performance.now`. */
    readonly startedAt: number,
    directory: string,
  ) {
    this.#directory = directory;
    for (const stream of [process.stdout, process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#log += text;
      });
    }
  }

  /** Starts a program of node that listens at `BIND_ADDR`, and waits until it says that it serves. */
  static async start({ args, path, config, env: given }: TargetOptions): Promise<Target> {
    const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));
    const address = `127.0.0.1:${await leasePort()}`;
    const configPath = join(directory, "config.json");
    if (config !== undefined) writeFileSync(configPath, JSON.stringify(config));
    const env = { ...given, BIND_ADDR: address, ...(config !== undefined && { SVC_TOOLKIT_CONFIG_PATH: configPath }) };
    const startedAt = performance.now();
    const child = spawnOn(SERVER_CORE, process.execPath, args, env);
    const target = new Target(child, `http://${address}`, path, startedAt, directory);
    await target.#said(SERVING);
    return target;
  }

  get pid(): number {
    return this.process.pid as number;
  }

  /** Puts another configuration in force. */
  async configure(config: object): Promise<void> {
    const path = join(this.#directory, "config.json");
    writeFileSync(`${path}.new`, JSON.stringify(config));
    this.#log = "";
    renameSync(`${path}.new`, path);
    this.process.kill("SIGHUP");
    await this.#said(RELOADED);
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const gone = once(this.process, "exit");
      this.process.kill("SIGKILL");
      await gone;
    }
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Resolves when a text stands in the log. */
  #said(text: string): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!this.#log.includes(text)) return;
        this.process.stderr?.off("data", look);
        this.process.off("exit", ended);
        resolve();
      };
      const ended = () => {
        rmSync(this.#directory, { recursive: true, force: true });
        reject(new Error(`the server under test ended before it said ${text}:\n${this.#log}`));
      };
      this.process.stderr?.on("data", look);
      this.process.once("exit", ended);
      look();
    });
  }
}

/** Starts a target, uses it and ends it. */
export async function withTarget<T>(options: TargetOptions, use: (target: Target) => Promise<T>): Promise<T> {
  const target = await Target.start(options);
  try {
    return await use(target);
  } finally {
    await target.stop();
  }
}
