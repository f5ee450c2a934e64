/**
 * The server of `svc-gen dev`: one process for each build. A new build takes over the port when it serves; until then
 * the last good build keeps serving. Node's `cluster` shares the listening socket between both processes. Under a
 * debugger the old process ends first, because the inspector's port cannot be shared.
 */

import cluster, { type Worker } from "node:cluster";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { portOf } from "./dev-state.js";
import type { Started } from "./newest-build.js";

/** Callbacks for events of a server process. */
export interface DevServerEvents {
  /** The server wrote a line to its standard output or error. */
  readonly onLine: (line: string) => void;
  /** The serving process ended unexpectedly: nothing is served until the next start. */
  readonly onExit: (reason: string) => void;
  /** The starting process has not served for this many seconds. */
  readonly onSlow: (seconds: number) => void;
  /** The event loop of the serving process has been blocked for this many seconds; 0 when it is no longer blocked. */
  readonly onBlocked: (seconds: number) => void;
}

export interface DevServerOptions extends DevServerEvents {
  readonly cwd: string;
  readonly host: string;
  /** Whether a start throws {@link PortTaken} if the port is not available, instead of using another port. */
  readonly exactPort: boolean;
  /** Debugger's port on 127.0.0.1, and whether each process waits for the debugger before its first line. */
  readonly inspect: { readonly port: number; readonly isBreak: boolean } | undefined;
}

/** Thrown if the requested port is in use or not permitted. */
export class PortTaken extends Error {}

// Each process accepts connections itself. A connection that the primary handed to an ending process would hang.
cluster.schedulingPolicy = cluster.SCHED_NONE;

/** Seconds until a start is reported as slow. */
const SLOW_START_S = 20;
/** Seconds without a sign of life until the serving process is reported as blocked. */
const BLOCKED_S = 5;
/**
 * Sends the signs of life of a server process, but not of the processes and threads that it starts. Names the call that
 * was running when the process ended.
 */
const HEARTBEAT = `data:text/javascript,${encodeURIComponent(`import cluster from "node:cluster";
import { subscribe } from "node:diagnostics_channel";
const { exit } = process, here = process.cwd() + "/", running = new Set();
if (cluster.isWorker) {
  setInterval(() => process.connected && process.send({ alive: true }, () => {}), 1000).unref();
  subscribe("http.server.request.start", ({ request, response }) => {
    running.add(request);
    response.once("close", () => running.delete(request));
  });
  process.once("exit", () => {
    for (const { method, url, headers: { "x-request-id": id } } of running)
      if (method === "POST") console.error("the process ended during " + method + " " + url.replace(/[^-./%\\w]/g, "?") + (id ? ", request " + id : ""));
  });
}
process.exit = (code) => {
  const at = new Error().stack.split("\\n").find((line) => line.includes(here) && !line.includes("node_modules"));
  if (at) console.error("process.exit was called " + at.trim().replace("file://", "").replace(here, "") + ": throw an error instead");
  return exit(code);
};`)}`;
/** Milliseconds between the stop signal and SIGKILL. */
const STOP_MS = 15_000;
/** Shorter time for a process that serves no calls, and for one that may be paused in a debugger. */
const SHORT_STOP_MS = 2_000;

export class DevServer {
  readonly #options: DevServerOptions;
  /** Port that was last wanted. */
  #wanted: number | undefined;
  /** Port that the next process will request. */
  #port = 0;
  /** Address of the last process that served. */
  #url: string | undefined;
  #serving: Worker | undefined;
  #starting: Worker | undefined;
  readonly #running = new Set<Worker>();
  #isClosed = false;

  constructor(options: DevServerOptions) {
    this.#options = options;
    process.once("exit", this.#killAll);
  }

  /**
   * Starts a process with this script. Only one start may be in progress.
   *
   * @param port port of the tools; 0 lets the system choose
   * @throws PortTaken
   */
  async start(script: string, env: NodeJS.ProcessEnv, port: number): Promise<Started> {
    if (this.#options.inspect !== undefined) await this.#stopAll();
    // Processes that request the same port, even port 0, share a socket. If no process serves, the last port is free,
    // so the next process requests it.
    if (port !== this.#wanted) {
      this.#wanted = port;
      this.#port = port;
    } else if (this.#serving === undefined && this.#url !== undefined) this.#port = Number(portOf(this.#url));
    let outcome = await this.#run(script, env);
    if ("listenError" in outcome && this.#port !== 0) {
      const { host, exactPort } = this.#options;
      const reason = portFault(`port ${this.#port} of ${host}`, outcome.listenError);
      // If the port is lost later, the session continues and the next start tries the port again.
      if (exactPort && this.#url !== undefined) return { state: "failed", reason };
      if (exactPort) throw new PortTaken(reason);
      this.#port = 0;
      outcome = await this.#run(script, env);
    }
    return outcome;
  }

  /** Whether a process serves. */
  get isServing(): boolean {
    return this.#serving !== undefined;
  }

  cancelStart(): void {
    if (this.#starting !== undefined) stop(this.#starting, SHORT_STOP_MS);
    this.#starting = undefined;
  }

  /** Stops all processes. Resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stopAll();
    process.off("exit", this.#killAll);
  }

  async #stopAll(): Promise<void> {
    this.cancelStart();
    this.#serving = undefined;
    await Promise.all(
      [...this.#running].map((worker) => {
        stop(worker, this.#options.inspect === undefined ? STOP_MS : SHORT_STOP_MS);
        return new Promise<void>((ended) => worker.once("exit", () => ended()));
      }),
    );
  }

  /** Kills all processes when this one exits. */
  readonly #killAll = () => {
    for (const worker of this.#running) worker.process.kill("SIGKILL");
  };

  /** Starts a process on the current port. When it serves, the previous process is retired. */
  async #run(script: string, env: NodeJS.ProcessEnv): Promise<Started | ListenFailure> {
    if (this.#isClosed) return { state: "cancelled" };
    const { cwd, host, inspect } = this.#options;
    const debugging = inspect && [`--inspect${inspect.isBreak ? "-brk" : ""}=127.0.0.1:${inspect.port}`];
    const execArgv = ["--enable-source-maps", ...(debugging ?? [`--import=${HEARTBEAT}`])];
    // Without `inspectPort`, each process would get the next port.
    cluster.setupPrimary({ exec: script, args: [], cwd, silent: true, execArgv, inspectPort: inspect?.port });
    const worker = cluster.fork({ ...env, BIND_ADDR: `${host}:${this.#port}` });
    this.#starting = worker;
    const outcome = await this.#outcome(worker);
    if (this.#starting !== worker) return { state: "cancelled" };
    this.#starting = undefined;
    // The last message of a process may arrive after its exit.
    if (outcome.state === "serving" && worker.isDead())
      return { state: "failed", reason: "it ended right after it started to serve" };
    if (outcome.state === "serving") {
      if (this.#serving !== undefined) retire(this.#serving);
      this.#serving = worker;
      this.#url = outcome.url;
    }
    return outcome;
  }

  /** Resolves when the process serves, or with the reason why it will not. */
  #outcome(worker: Worker): Promise<Started | ListenFailure> {
    const { host, onLine, onExit, onSlow, onBlocked, inspect } = this.#options;
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
      let reason = "it ended";
      let seconds = 0;
      // Counts only while this process runs: it may be suspended together with the starting process.
      const timer = setInterval(() => {
        seconds++;
        if (inspect !== undefined) return;
        if (seconds === SLOW_START_S && this.#starting === worker) onSlow(seconds);
        if (seconds === BLOCKED_S && this.#serving === worker) onBlocked(seconds);
      }, 1000);
      worker.on("message", (message: unknown) => {
        const { serving } = Object(message) as { readonly serving?: unknown };
        if (seconds >= BLOCKED_S && this.#serving === worker) onBlocked(0);
        if (typeof serving === "string" || this.#serving === worker) seconds = 0;
        if (typeof serving !== "string") return;
        settle({ state: "serving", url: serving });
      });
      worker.once("exit", (code, signal) => {
        this.#running.delete(worker);
        reason = exitReason(code, signal);
        if (this.#serving !== worker) return;
        this.#serving = undefined;
        onExit(reason);
      });
      // After the last line of output.
      worker.process.once("close", () => {
        clearInterval(timer);
        settle({ state: "failed", reason, ...(listenError !== undefined && { listenError }) });
      });
    });
  }
}

/** Describes a blocked event loop. */
export function blockedText(seconds: number): string {
  return `the server has not answered for ${seconds} s: a tool blocks its event loop, by an endless loop or other synchronous work; correct and save it to restart the server`;
}

/** A start that failed because the port is not available. `listenError` is the code of the system error. */
type ListenFailure = Extract<Started, { state: "failed" }> & { readonly listenError: string };

/** Last line of a server that cannot listen: code and address. */
const LISTEN_FAULT = /^cannot start: (?:bind|listen) (E[A-Z]+)\b.* ([\d.]+:\d+)(?:;|$)/;

function portFault(port: string, code: string): string {
  return code === "EADDRINUSE" ? `${port} is taken` : `${port} cannot be used: ${code}`;
}

function exitReason(code: number | null, signal: string | null): string {
  return signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
}

/**
 * Takes the port from a process, then tells it to finish its calls and end. Connections that it has not accepted go to
 * the next process.
 */
function retire(worker: Worker): void {
  worker.disconnect();
  // Sent immediately: otherwise a disconnected process without calls would exit without calling `close()` of its tools.
  stop(worker, STOP_MS);
}

/** Processes that were told to end. A second signal would end them before their calls. */
const stopping = new WeakSet<Worker>();

/** Tells a process to finish its calls and end. */
function stop(worker: Worker, limitMs: number): void {
  if (stopping.has(worker)) return;
  stopping.add(worker);
  worker.process.kill("SIGTERM");
  const timer = setTimeout(() => worker.process.kill("SIGKILL"), limitMs);
  worker.once("exit", () => clearTimeout(timer));
}

function eachLine(stream: Readable | null, onLine: (line: string) => void): void {
  if (stream !== null) createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on("line", onLine);
}
