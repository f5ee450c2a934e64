/** Redis servers of the tests: processes on a loopback port that tests pause, kill, empty and start again. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { until } from "../../runtime/tools.js";
import { atEnd } from "../../teardown.js";
import { leasePort } from "../process.js";
import { REDIS } from "./installed.js";

/** The rights that docs/replicas.md names. */
const RIGHTS =
  "~svc:* -@all +evalsha +eval +get +getrange +set +del +exists +pexpire +pttl +time +info +ping +hello +auth";

/** Directives of redis.conf by name, such as `{ appendonly: "yes" }`. */
export type Directives = Readonly<Record<string, string>>;

const DEFAULTS: Directives = {
  bind: "127.0.0.1",
  save: '""',
  appendonly: "no",
  maxmemory: "256mb",
  "maxmemory-policy": "noeviction",
  // A replica is in step at once, and an idle link is noticed soon.
  "repl-diskless-sync-delay": "0",
  "repl-ping-replica-period": "1",
};

export interface RedisServerOptions {
  readonly directives?: Directives;
  /** The program: `redis-server` by default. */
  readonly program?: string;
  /** Arguments after the configuration file, such as `--sentinel`. */
  readonly args?: readonly string[];
  /** Lines of its configuration in place of the directives: a Sentinel knows other ones. */
  readonly lines?: readonly string[];
}

/** One server process, on the same port and in the same folder across its restarts. */
export class RedisServer {
  readonly directory = mkdtempSync(join(tmpdir(), "svc-redis-"));
  #process: ChildProcess | undefined;
  #client: Redis | undefined;
  #log = "";

  readonly #options: RedisServerOptions;

  private constructor(
    readonly port: number,
    options: RedisServerOptions,
  ) {
    this.#options = options;
    atEnd(() => this.end());
  }

  /** Starts a server and waits until it answers. */
  static async start(options: RedisServerOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await leasePort(), options);
    await server.start();
    return server;
  }

  /** Its address for `SVC_REPLAY_REDIS_URL`. */
  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Its own log. */
  get log(): string {
    return this.#log;
  }

  /** A client for the test's own commands. */
  get client(): Redis {
    this.#client ??= clientOf(this.port, this.#options.directives?.requirepass);
    return this.#client;
  }

  /** Starts it again, empty or with what its append-only file holds. */
  async start(): Promise<void> {
    const { directives = {}, program = REDIS, args = [], lines } = this.#options;
    const own = lines ?? Object.entries({ ...DEFAULTS, ...directives }).map(([name, value]) => `${name} ${value}`);
    const config = [...own, `port ${this.port}`, `dir ${this.directory}`];
    const path = join(this.directory, "redis.conf");
    writeFileSync(path, `${config.join("\n")}\n`);
    const child = spawn(program, [path, ...args], {
      cwd: this.directory,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#log += text;
      });
    }
    await until(async () => {
      assert.equal(child.exitCode, null, `the server ended:\n${this.#log}`);
      const answer = await this.client.ping().catch((error: Error) => error.message);
      return answer === "PONG";
    }, "a server that answers");
  }

  /** Ends it in an instant, as a crash would. Its folder stays. */
  async kill(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  /** Stops the process without closing a connection. */
  pause(): void {
    this.#process?.kill("SIGSTOP");
  }

  resume(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Adds a user with the documented rights; returns the address of the server for it. */
  async addUser(name: string, password = "secret"): Promise<string> {
    await this.client.call("ACL", "SETUSER", name, "on", `>${password}`, ...RIGHTS.split(" "));
    return this.url.replace("://", `://${name}:${password}@`);
  }

  /** A figure of INFO, such as `used_memory`. */
  async info(name: string): Promise<string | undefined> {
    return new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(await this.client.info())?.[1];
  }

  /** Makes it a replica of the server at a port, and waits until it has a copy. */
  async replicate(port: number): Promise<void> {
    await this.client.replicaof("127.0.0.1", port);
    await until(async () => (await this.info("master_link_status")) === "up", "a replica in step");
  }

  /** Ends the process and removes its folder. */
  async end(): Promise<void> {
    this.#client?.disconnect();
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A client that waits for nothing: a command without a connection fails at once. */
export function clientOf(port: number, password?: string): Redis {
  const client = new Redis({
    host: "127.0.0.1",
    port,
    lazyConnect: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: () => 20,
    ...(password !== undefined && { password }),
  });
  client.on("error", () => {});
  return client;
}
