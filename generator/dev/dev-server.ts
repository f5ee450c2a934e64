/**
 * The server of `svc-gen dev`: one process a build. A new build takes over the port when it listens; until then, and if
 * it never does, the last good one keeps serving. Node's `cluster` shares the listening socket between the two.
 */

import cluster, { type Worker } from "node:cluster";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** What a server process does, as it happens. */
export interface DevServerEvents {
  /** A line that the server wrote to its standard output or error. */
  readonly onLine: (line: string) => void;
  /** The serving process ended by itself: nothing serves until the next build. */
  readonly onExit: (reason: string) => void;
}

/** The outcome of a start. */
export type Started =
  | { readonly state: "serving" }
  /** The process ended, or did not listen in time. */
  | { readonly state: "failed"; readonly reason: string }
  | { readonly state: "cancelled" };

export interface DevServerOptions extends DevServerEvents {
  readonly cwd: string;
  /** Where the tools are served. A process serves once it listens there; it may have other listeners. */
  readonly port: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** URL of a module that each process loads before the script. */
  readonly preload: string;
  /** Milliseconds that a process may take until it listens: 20,000 by default. */
  readonly startTimeoutMs?: number;
}

/** Milliseconds between the signal to stop and the end by force. */
const STOP_MS = 15_000;

export class DevServer {
  private serving: Worker | undefined;
  private starting: Worker | undefined;
  private readonly running = new Set<Worker>();

  constructor(private readonly options: DevServerOptions) {}

  /** Whether a build serves. */
  get isServing(): boolean {
    return this.serving !== undefined;
  }

  /** Starts a process with this script. One start at a time. */
  async start(script: string): Promise<Started> {
    const worker = this.fork(script);
    this.starting = worker;
    const reason = await this.outcome(worker);
    if (this.starting !== worker) return { state: "cancelled" };
    this.starting = undefined;
    if (reason !== undefined) return { state: "failed", reason };
    if (this.serving !== undefined) retire(this.serving);
    this.serving = worker;
    return { state: "serving" };
  }

  /** Ends a process that is starting, if there is one. */
  cancelStart(): void {
    if (this.starting !== undefined) stop(this.starting);
    this.starting = undefined;
  }

  /** Stops all processes; resolves when they have ended. */
  async close(): Promise<void> {
    this.starting = undefined;
    this.serving = undefined;
    await Promise.all(
      [...this.running].map((worker) => {
        stop(worker);
        return new Promise<void>((ended) => worker.once("exit", () => ended()));
      }),
    );
  }

  private fork(script: string): Worker {
    const { cwd, env, preload, onLine, onExit } = this.options;
    const execArgv = ["--enable-source-maps", "--import", preload];
    cluster.setupPrimary({ exec: script, args: [], cwd, silent: true, execArgv });
    const worker = cluster.fork({ ...env });
    this.running.add(worker);
    for (const stream of [worker.process.stdout, worker.process.stderr]) eachLine(stream, onLine);
    worker.on("error", (error) => onLine(error.message));
    worker.once("exit", (code, signal) => {
      this.running.delete(worker);
      if (this.serving !== worker) return;
      this.serving = undefined;
      onExit(exitReason(code, signal));
    });
    return worker;
  }

  /** Resolves when the process listens, or with the reason why it will not. */
  private outcome(worker: Worker): Promise<string | undefined> {
    const { port, startTimeoutMs = 20_000 } = this.options;
    return new Promise((settle) => {
      const timer = setTimeout(() => {
        stop(worker);
        settle(`it did not listen within ${startTimeoutMs / 1000} s`);
      }, startTimeoutMs);
      worker.on("listening", (address) => {
        if (address.port !== port) return;
        clearTimeout(timer);
        settle(undefined);
      });
      worker.once("exit", (code, signal) => {
        clearTimeout(timer);
        settle(exitReason(code, signal));
      });
    });
  }
}

function exitReason(code: number | null, signal: string | null): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}

/**
 * Takes the port from a process, then asks it to finish its calls and end: a connection that it has not accepted goes to
 * the next process.
 */
function retire(worker: Worker): void {
  worker.disconnect();
  // At once: a process that has nothing left to do would end before it could run the close() of its tools.
  stop(worker);
}

/** Asks a process to finish its calls and end. */
function stop(worker: Worker): void {
  worker.process.kill("SIGTERM");
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), STOP_MS);
  worker.once("exit", () => clearTimeout(timer));
}

function eachLine(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream !== null) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", onLine);
}

/**
 * A port that is free on the host: the given one, or else one that the system chooses.
 *
 * @throws the error of node's `listen` for a port that may not be used
 */
export async function freePort(host: string, port: number): Promise<number> {
  for (const wanted of [port, 0]) {
    const found = await new Promise<number | undefined>((resolve, reject) => {
      const probe = createServer();
      probe.once("error", (error: NodeJS.ErrnoException) =>
        error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
      );
      probe.listen(wanted, host, () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === "object" && address !== null ? address.port : wanted));
      });
    });
    if (found !== undefined) return found;
  }
  throw new Error("no free port");
}
