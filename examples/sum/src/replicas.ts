/** Redis, nginx and replicas of the generated server as child processes, which end with this process. */

import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("generated/server.js", import.meta.url));
const RECORD_RUNS = new URL("record-runs.js", import.meta.url).href;
const NGINX_CONF = fileURLToPath(new URL("../../../docs/deploy/replicas/nginx.conf", import.meta.url));

/** A request that nginx forwarded. */
export interface PassedRequest {
  readonly status: number;
  /** The nonce header of a signed call, `-` for other requests. */
  readonly nonce: string;
  /** The address of the replica that answered. */
  readonly answeredBy: string;
}

/** Polling interval while a process starts, in milliseconds. */
const POLL_MS = 20;

/** Number of log lines of a process shown after a failure. */
const MAX_LOG_LINES = 5;

/** A required program that is not installed. */
export class MissingProgram extends Error {}

/** Finds a program on PATH, or in the `sbin` next to a `bin` on it, because PATH often omits `sbin`. */
export function findProgram(names: readonly string[], packages: string): string {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const beside = folders.filter((folder) => basename(folder) === "bin").map((folder) => join(dirname(folder), "sbin"));
  const paths = [...folders, ...beside].flatMap((folder) => names.map((name) => join(folder, name)));
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new MissingProgram(
    `this demo needs ${names.join(" or ")}, which is not on PATH; it installs nothing itself. ${packages}`,
  );
}

/** A running replica. */
export interface Replica {
  readonly name: string;
  /** Host and port. */
  readonly address: string;
  /** The nonces of its runs in hex, in order, from the file that it writes. */
  runs(): readonly string[];
  /** Kills the replica with SIGKILL as soon as a run has started in it. */
  kill(): Promise<void>;
}

/** The processes of the demo and their folder. */
export class Processes {
  readonly folder = mkdtempSync(join(tmpdir(), "svc-replicas-"));
  readonly #running = new Set<ChildProcess>();
  readonly #logs: string[][] = [];

  /** Kills all processes and removes their files. Synchronous, because it runs when this process exits. */
  end(): void {
    for (const child of this.#running) child.kill("SIGKILL");
    // A killed process may not have exited yet.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The last lines of each process on standard error, except those of level `info`. */
  get log(): string {
    const lines = this.#logs.map((texts) => texts.join("").split("\n"));
    const faults = lines.map((all) => all.filter((line) => !line.includes('"level":30') && line !== ""));
    return faults.flatMap((all) => all.slice(-MAX_LOG_LINES)).join("\n");
  }

  /**
   * Starts an empty Redis on a socket in the folder, without persistence.
   *
   * @returns its URL and its version
   */
  async redis(program: string): Promise<{ readonly url: string; readonly version: string }> {
    const socket = join(this.folder, "redis.sock");
    const settings = ["--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", this.folder];
    const memory = ["--maxmemory", "64mb", "--maxmemory-policy", "noeviction"];
    const child = this.#start(program, [...settings, ...memory], { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout?.resume();
    await this.#until(child, () => existsSync(socket));
    const version = /v=([\d.]+)/.exec(spawnSync(program, ["--version"], { encoding: "utf8" }).stdout)?.[1] ?? "";
    return { url: `unix://${socket}`, version: `${basename(program)} ${version}` };
  }

  /** Starts a replica and waits until it serves. */
  async replica(name: string, env: Readonly<Record<string, string>>): Promise<Replica> {
    const file = join(this.folder, `runs-${name}`);
    writeFileSync(file, "");
    const child = this.#start(process.execPath, ["--import", RECORD_RUNS, SERVER], {
      env: { ...withoutSettings(process.env), ...env, BIND_ADDR: "127.0.0.1:0", RUNS_FILE: file },
      stdio: ["ignore", "inherit", "pipe"],
    });
    let log = "";
    child.stderr?.on("data", (text: string) => {
      log += text;
    });
    const serving = () => /"url":"http:\/\/([^"]+)".*"msg":"serving"/.exec(log)?.[1];
    await this.#until(child, () => serving() !== undefined);
    const runs = () => readFileSync(file, "utf8").split("\n").slice(0, -1);
    return {
      name,
      address: serving() ?? "",
      runs,
      kill: async () => {
        writeFileSync(`${file}.hold`, "");
        const before = runs().length;
        await this.#until(child, () => runs().length > before);
        this.#running.delete(child);
        const ended = once(child, "exit");
        child.kill("SIGKILL");
        await ended;
      },
    };
  }

  /**
   * Starts nginx with docs/deploy/replicas/nginx.conf, without TLS and with a log of the answering replicas.
   */
  async nginx(
    program: string,
    replicas: readonly Replica[],
  ): Promise<{ readonly url: string; passed(): readonly PassedRequest[] }> {
    // nginx does not report its port, so it listens on a socket file, to which a port of this process forwards.
    const socketFile = join(this.folder, "nginx.sock");
    const requests = join(this.folder, "requests");
    const places = replicas.map(({ address }, i) => [`10.89.0.1${i + 1}:8080`, address] as const);
    const text = replaceAll(readFileSync(NGINX_CONF, "utf8").replace(/^ *(?:proxy_)?ssl_.*\n/gm, ""), [
      [" /tmp/", ` ${this.folder}/`],
      ...places,
      ["proxy_pass https://", "proxy_pass http://"],
      ["listen 8443 ssl http2;", `listen unix:${socketFile};`],
      [
        "access_log /dev/stdout svc;",
        `log_format passed '$status $http_x_svc_nonce $upstream_addr'; access_log ${requests} passed;`,
      ],
      ["worker_processes auto;", "worker_processes 1; daemon off; master_process off;"],
    ]);
    const file = join(this.folder, "nginx.conf");
    writeFileSync(file, text);
    const child = this.#start(program, ["-c", file], { stdio: ["ignore", "inherit", "pipe"] });
    // A broken connection is closed on both sides.
    const entrance = createServer((socket) => pipeline(socket, connect(socketFile), socket, () => {})).unref();
    await once(entrance.listen(0, "127.0.0.1"), "listening");
    const url = `http://127.0.0.1:${(entrance.address() as AddressInfo).port}`;
    const answers = () =>
      // A request sent while nginx starts may never get an answer.
      fetch(`${url}/health`, { signal: AbortSignal.timeout(1_000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    await this.#until(child, answers);
    return { url, passed: () => readFileSync(requests, "utf8").split("\n").slice(0, -1).map(passedRequest) };
  }

  #start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
    const child = spawn(program, args, options);
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    const log: string[] = [];
    this.#logs.push(log);
    child.stderr?.setEncoding("utf8").on("data", (text: string) => log.push(text));
    return child;
  }

  /** @throws Error when the process ends first */
  async #until(child: ChildProcess, holds: () => boolean | Promise<boolean>): Promise<void> {
    const failed = new Promise<never>((_, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`${basename(child.spawnfile)} ended with exit code ${code}`)));
    });
    failed.catch(() => {});
    while (!(await Promise.race([holds(), failed]))) {
      await Promise.race([new Promise((resolve) => setTimeout(resolve, POLL_MS)), failed]);
    }
  }
}

/** The environment without the user's own server settings. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SVC_")));
}

/** Parses a line of nginx's log. The last of several addresses answered. */
function passedRequest(line: string): PassedRequest {
  const [status = "", nonce = "", ...addresses] = line.split(/,? /);
  return { status: Number(status), nonce, answeredBy: addresses.at(-1) ?? "" };
}

function replaceAll(text: string, replaced: readonly (readonly [from: string, to: string])[]): string {
  return replaced.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`docs/deploy/replicas/nginx.conf has no ${from}`);
    return result.replaceAll(from, to);
  }, text);
}
