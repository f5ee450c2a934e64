/**
 * The server of `svc-gen dev`: one process a build. A new build takes over the port when it serves; until then, and if
 * it never does, the last good one keeps serving. Node's `cluster` shares the listening socket between the two.
 */

import cluster, { type Worker } from "node:cluster";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { portOf } from "./dev-state.js";

/** What a server process does, as it happens. */
export interface DevServerEvents {
  /** A line that the server wrote to its standard output or error. */
  readonly onLine: (line: string) => void;
  /** The serving process ended by itself: nothing serves until the next build. */
  readonly onExit: (reason: string) => void;
}

/** The outcome of a start. */
export type Started =
  | { readonly state: "serving"; readonly url: string }
  /** The process ended, or did not serve in time. */
  | { readonly state: "failed"; readonly reason: string }
  | { readonly state: "cancelled" };

export interface DevServerOptions extends DevServerEvents {
  readonly cwd: string;
  readonly host: string;
  /** Port of the tools; 0 for one that the system chooses. */
  readonly port: number;
  /** Whether a start throws {@link PortTaken} when the port cannot be listened on, instead of taking another port. */
  readonly exactPort: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The requested port is in use, or may not be used. */
export class PortTaken extends Error {}

/** Milliseconds that a process may take until it serves. */
const START_MS = 20_000;
/** Milliseconds between the signal to stop and the end by force. */
const STOP_MS = 15_000;

export class DevServer {
  readonly #options: DevServerOptions;
  /** The port that a process is asked for. */
  #port: number;
  /** Where the last process served. */
  #url: string | undefined;
  #serving: Worker | undefined;
  #starting: Worker | undefined;
  readonly #running = new Set<Worker>();

  constructor(options: DevServerOptions) {
    this.#options = options;
    this.#port = options.port;
  }

  /** Whether a build serves. */
  get isServing(): boolean {
    return this.#serving !== undefined;
  }

  /**
   * Starts a process with this script. One start at a time.
   *
   * @throws PortTaken
   */
  async start(script: string): Promise<Started> {
    // Processes share a socket when they ask for the same port, also for port 0. Without one the last port is free again.
    if (this.#serving === undefined && this.#url !== undefined) this.#port = Number(portOf(this.#url));
    let outcome = await this.#run(script);
    if ("listenError" in outcome && this.#port !== 0) {
      const { host, exactPort } = this.#options;
      const reason = portFault(`port ${this.#port} of ${host}`, outcome.listenError);
      // A port that is lost later does not end the session: the next start tries it again.
      if (exactPort && this.#url !== undefined) return { state: "failed", reason };
      if (exactPort) throw new PortTaken(reason);
      this.#port = 0;
      outcome = await this.#run(script);
    }
    return outcome;
  }

  /** Ends a process that is starting, if there is one. */
  cancelStart(): void {
    if (this.#starting !== undefined) stop(this.#starting);
    this.#starting = undefined;
  }

  /** Stops all processes; resolves when they have ended. */
  async close(): Promise<void> {
    this.#starting = undefined;
    this.#serving = undefined;
    await Promise.all(
      [...this.#running].map((worker) => {
        stop(worker);
        return new Promise<void>((ended) => worker.once("exit", () => ended()));
      }),
    );
  }

  async #run(script: string): Promise<Started | ListenFailure> {
    const { cwd, env, host } = this.#options;
    cluster.setupPrimary({ exec: script, args: [], cwd, silent: true, execArgv: ["--enable-source-maps"] });
    const worker = cluster.fork({ ...env, BIND_ADDR: `${host}:${this.#port}` });
    this.#starting = worker;
    const outcome = await this.#outcome(worker);
    if (this.#starting !== worker) return { state: "cancelled" };
    this.#starting = undefined;
    // Its last message may come after its exit.
    if (outcome.state === "serving" && worker.isDead())
      return { state: "failed", reason: "it ended as it began to serve" };
    if (outcome.state === "serving") {
      if (this.#serving !== undefined) retire(this.#serving);
      this.#serving = worker;
      this.#url = outcome.url;
    }
    return outcome;
  }

  /** Resolves when the process serves, or with the reason why it will not. */
  #outcome(worker: Worker): Promise<Started | ListenFailure> {
    const { host, onLine, onExit } = this.#options;
    const address = `${host}:${this.#port}`;
    let listenError: string | undefined;
    const onOutput = (line: string) => {
      const [, code, at] = LISTEN_FAULT.exec(line) ?? [];
      if (at === address) listenError = code;
      else onLine(line);
    };
    this.#running.add(worker);
    for (const stream of [worker.process.stdout, worker.process.stderr]) eachLine(stream, onOutput);
    worker.on("error", (error) => onLine(error.message));
    return new Promise((settle) => {
      let reason = `it did not serve within ${START_MS / 1000} s`;
      const timer = setTimeout(() => {
        stop(worker);
        settle({ state: "failed", reason });
      }, START_MS);
      worker.on("message", (message: unknown) => {
        const { serving } = Object(message) as { readonly serving?: unknown };
        if (typeof serving !== "string") return;
        clearTimeout(timer);
        settle({ state: "serving", url: serving });
      });
      worker.once("exit", (code, signal) => {
        this.#running.delete(worker);
        reason = exitReason(code, signal);
        if (this.#serving !== worker) return;
        this.#serving = undefined;
        onExit(reason);
      });
      // After the last line of its output.
      worker.process.once("close", () => {
        clearTimeout(timer);
        settle({ state: "failed", reason, ...(listenError !== undefined && { listenError }) });
      });
    });
  }
}

/** A start that failed because the port cannot be listened on: the code of the system's error. */
type ListenFailure = Extract<Started, { state: "failed" }> & { readonly listenError: string };

/** The last line of a server that cannot listen: the code and the address. */
const LISTEN_FAULT = /^cannot start: (?:bind|listen) (E[A-Z]+)\b.* ([\d.]+:\d+)(?:;|$)/;

function portFault(port: string, code: string): string {
  return code === "EADDRINUSE" ? `${port} is taken` : `${port} cannot be used: ${code}`;
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
