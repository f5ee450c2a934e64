/**
 * Connection to Redis or Valkey, through a client of ioredis 6 or a copy of the application's own ioredis or iovalkey
 * client. No other file uses the client library.
 *
 * Each connection is a new client that reads its credentials again. A client never queues or resends commands and never
 * reconnects: a command that was sent gets a reply, fails at once if the connection is lost, or fails at its time
 * limit. A watchdog replaces a client that has received no reply for 3 s, or has not connected within 10 s.
 */

import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { hiddenPath, REDIS_VARIABLES, type ReplayUnavailability, StartupError } from "svc-runtime/internal/redis";
import { SCRIPTS, type Script, type ScriptArguments } from "./scripts.js";
import type { RedisTarget } from "./target.js";

/** Instance of ioredis 6 or iovalkey. The store connects with copies that have other options. */
export interface RedisClient {
  duplicate(options: object): unknown;
}

/** Content of the file in each option, for error messages. */
const FILES = {
  passwordFile: "the password",
  caPath: "the CA certificates",
  certPath: "the client certificate",
  keyPath: "the client key",
} as const;

/** Paths of the files that a connection reads. */
export type ConnectionFiles = { readonly [Option in keyof typeof FILES]?: string | undefined };

export interface ConnectionOptions extends ConnectionFiles {
  readonly to: RedisTarget | RedisClient;
  /** Time limit of a command, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum pause between two attempts to connect, in milliseconds: 2,000 by default. */
  readonly maxPauseMs?: number;
}

export interface ConnectionEvents {
  /** Called when a new connection is ready. No command of an earlier connection is in flight then. */
  ready(): void;
  /** Called when the connection is lost or could not be established. */
  lost(fault: RedisFault): void;
}

/** A failed command or connection. Contains no arguments of the command and no text from the server. */
export class RedisFault extends Error {
  override readonly name = "RedisFault";

  constructor(
    readonly reason: Exclude<ReplayUnavailability, "grace">,
    /** Error code, such as `OOM`, `READONLY`, `ECONNREFUSED`. */
    readonly code: string,
    /** Whether the command may have taken effect, or may still do so. */
    readonly inDoubt: boolean,
  ) {
    super(`${reason}: ${code}`);
  }
}

const CONNECT_TIMEOUT_MS = 1_000;
/** Error codes of a server that is a replica, not a primary. */
const NOT_PRIMARY = /^(?:READONLY|MASTERDOWN)$/;
/**
 * Error codes that Redis returns before a script changes anything. Other errors may come from a proxy that has already
 * forwarded the command.
 */
const NOT_EXECUTED = /^(?:OOM|READONLY|MASTERDOWN|LOADING|MISCONF|NOREPLICAS|NOAUTH|NOPERM|NOSCRIPT|BUSY|WRONGTYPE)$/;
const WATCHDOG_INTERVAL_MS = 1_000;
/** Number of the watchdog's intervals without a reply after which a client is replaced. */
const MAX_SILENT = 3;
/** The same while it connects: several Sentinels may have to be asked, each within a time limit. */
const MAX_CONNECTING = 10;
/**
 * Intervals in a command's time limit. A tool that blocks the event loop delays timers and replies, so its block counts as
 * one interval, however long it is.
 */
const INTERVALS = 10;
const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 2_000;

/** Members of an ioredis client that this file uses. Each script is a method. */
interface Client {
  readonly status: string;
  readonly stream: { cork(): void; uncork(): void };
  on(event: "connect" | "ready" | "end", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "message", listener: (channel: string, message: string) => void): unknown;
  info(): Promise<string>;
  subscribe(channel: string): Promise<unknown>;
  duplicate(options: object): unknown;
  disconnect(): void;
  readonly options: {
    readonly sentinels?: readonly { readonly host?: string; readonly port?: number }[] | null;
    readonly name?: string;
    readonly sentinelUsername?: string;
    readonly sentinelPassword?: string;
    readonly sentinelTLS?: object;
  };
}
type RunScript = (...args: ScriptArguments) => Promise<unknown>;

/** Maintains one connection, and reconnects if it is lost. */
export class RedisConnection {
  #client: Client | undefined;
  #watchers: Client[] = [];
  #lastFault = new RedisFault("disconnected", "not connected yet", false);
  #attempts = 0;
  #closed = false;
  /** Intervals of the watchdog since the last reply. */
  #silent = 0;
  #gathering = false;
  #reconnect: NodeJS.Timeout | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  readonly #events: ConnectionEvents;

  constructor(
    readonly options: ConnectionOptions,
    events: ConnectionEvents,
  ) {
    this.#events = events;
  }

  /**
   * Connects for the first time.
   *
   * @throws StartupError if a file of the settings cannot be read
   */
  open(): void {
    this.#readFiles();
    this.#watchdog = setInterval(() => this.#watch(), WATCHDOG_INTERVAL_MS).unref();
    this.#connect();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether commands can be sent. */
  get ready(): boolean {
    return this.#client?.status === "ready";
  }

  get lastFault(): RedisFault {
    return this.#lastFault;
  }

  /**
   * Runs a script.
   *
   * @throws {@link RedisFault}
   */
  run(script: Script, ...args: ScriptArguments): Promise<unknown> {
    return this.#send((client) => (client as Client & Record<string, RunScript>)[`${script.name}Buffer`]?.(...args));
  }

  /**
   * Facts about the server, from `INFO`.
   *
   * @throws {@link RedisFault}
   */
  async info(): Promise<ReadonlyMap<string, string>> {
    const text = (await this.#send((client) => client.info())) as string;
    return new Map(
      text.split(/\r?\n/).flatMap((line) => {
        const colon = line.indexOf(":");
        return colon === -1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
      }),
    );
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#reconnect);
    clearInterval(this.#watchdog);
    this.#discard();
  }

  async #send<T>(command: (client: Client) => Promise<T> | undefined): Promise<T | undefined> {
    const client = this.#client;
    if (client === undefined || client.status !== "ready") {
      throw new RedisFault("disconnected", this.#lastFault.code, false);
    }
    this.#gather(client);
    try {
      const reply = await this.#inTime(command(client));
      this.#alive(client);
      this.#attempts = 0;
      return reply;
    } catch (error) {
      const fault = faultOf(error as Error);
      if (fault.reason === "refused") this.#alive(client);
      // Reported later as the cause of the lost connection, because the client closes its connection to a replica.
      if (NOT_PRIMARY.test(fault.code)) this.#lastFault = fault;
      throw fault;
    }
  }

  /** Waits for a reply, for the time limit of a command. */
  #inTime<T>(reply: Promise<T> | undefined): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      let left = INTERVALS;
      const timer = setInterval(() => {
        if (--left > 0) return;
        clearInterval(timer);
        reject(new RedisFault("timeout", "no reply within the time limit", true));
      }, this.options.timeoutMs / INTERVALS).unref();
      const settled = Promise.resolve(reply).then(resolve, reject);
      void settled.finally(() => clearInterval(timer));
    });
  }

  /**
   * Sends the commands of one turn of the event loop in one write, because a system call costs as much as a command.
   */
  #gather({ stream }: Client): void {
    if (this.#gathering) return;
    this.#gathering = true;
    stream.cork();
    setImmediate(() => {
      this.#gathering = false;
      stream.uncork();
    });
  }

  #alive(client: Client): void {
    if (client === this.#client) this.#silent = 0;
  }

  #connect(): void {
    this.#silent = 0;
    const { to } = this.options;
    let client: Client;
    try {
      const options = this.#clientOptions();
      client = ("duplicate" in to ? to.duplicate(options) : new Redis(options)) as Client;
    } catch (error) {
      const code = error instanceof StartupError ? error.message : codeOf(error as Error);
      this.#failed(new RedisFault("disconnected", code, false));
      return;
    }
    this.#client = client;
    client.on("error", (error) => {
      if (client !== this.#client) return;
      const fault = faultOf(error);
      // The handshake was rejected. After a rejected SELECT, the library would continue with database 0.
      if (fault.reason === "refused") this.#failed(fault);
      else this.#lastFault = fault;
    });
    // The handshake has the time limit of a command: a grace period may wait for it.
    client.on("connect", () => {
      this.#inTime(new Promise<void>((resolve) => client.on("ready", resolve))).catch((fault: RedisFault) => {
        if (client === this.#client) this.#failed(fault);
      });
    });
    client.on("ready", () => {
      if (client !== this.#client) return;
      this.#lastFault = new RedisFault("disconnected", "connection closed", false);
      this.#alive(client);
      this.#watchers = watchSentinels(client, () => {
        if (client === this.#client) this.#failed(new RedisFault("disconnected", "another primary", false));
      });
      this.#events.ready();
    });
    client.on("end", () => {
      if (client === this.#client) this.#failed(new RedisFault("disconnected", this.#lastFault.code, false));
    });
  }

  #failed(fault: RedisFault): void {
    this.#discard();
    this.#lastFault = fault;
    this.#events.lost(fault);
    if (this.#closed) return;
    const { maxPauseMs = MAX_BACKOFF_MS } = this.options;
    const delay = Math.min(MIN_BACKOFF_MS * 2 ** this.#attempts++, maxPauseMs, MAX_BACKOFF_MS);
    // Random, so that processes that lost the server at the same time do not reconnect at the same time.
    this.#reconnect = setTimeout(() => this.#connect(), delay * (0.75 + Math.random() / 4));
  }

  /** Discards the client. Its commands fail, and its later events are ignored. */
  #discard(): void {
    const client = this.#client;
    this.#client = undefined;
    for (const each of [client, ...this.#watchers.splice(0)]) each?.disconnect();
  }

  #watch(): void {
    const most = Math.max(MAX_SILENT, 1 + Math.ceil(this.options.timeoutMs / WATCHDOG_INTERVAL_MS));
    const max = this.#client?.status === "connecting" ? Math.max(MAX_CONNECTING, most) : most;
    if (this.#client === undefined || ++this.#silent < max) return;
    this.#failed(new RedisFault("timeout", `no reply for ${max} s`, false));
  }

  #clientOptions(): object {
    const { to } = this.options;
    const scripts = Object.values(SCRIPTS).map(({ name, lua, keys }) => [name, { lua, numberOfKeys: keys }] as const);
    const shared = {
      scripts: Object.fromEntries(scripts),
      lazyConnect: false,
      enableOfflineQueue: false,
      // The ready check would delay a server that is loading its data, and print an error if INFO is rejected.
      enableReadyCheck: false,
      enableAutoPipelining: false,
      stringNumbers: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: null,
      sentinelRetryStrategy: null,
      connectTimeout: CONNECT_TIMEOUT_MS,
      // A discarded connection need not wait for anything.
      disconnectTimeout: 0,
      sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
      // `watchSentinels` does this instead, because the library's clients would print errors with texts from the
      // Sentinels.
      failoverDetector: false,
      // Reconnects if the primary has become a replica, to find the new primary.
      reconnectOnError: (error: Error) => NOT_PRIMARY.test(codeOf(error)),
      // Limits of a given client, which do not know of the time in which a tool blocks the event loop.
      commandTimeout: undefined,
      socketTimeout: undefined,
      disableClientInfo: true,
      keyPrefix: "",
    };
    return { ...shared, ...("duplicate" in to ? {} : targetOptions(to)), ...this.#readFiles() };
  }

  /** @throws StartupError if a file cannot be read */
  #readFiles(): object {
    const { to } = this.options;
    const read = (setting: keyof typeof FILES) => {
      const path = this.options[setting];
      if (path === undefined) return undefined;
      try {
        return readFileSync(path, "utf8");
      } catch (error) {
        const variable = REDIS_VARIABLES[setting];
        const { code = "unreadable" } = error as NodeJS.ErrnoException;
        // The option may contain the password itself instead of a path.
        const content = hiddenPath(path);
        const isShown = setting !== "passwordFile" && content === undefined;
        const name = isShown ? `${variable} ${JSON.stringify(path)}` : variable;
        throw new StartupError(
          `${name} must be a readable file with ${FILES[setting]}, got ${content ?? code}; correct the path`,
        );
      }
    };
    const password = read("passwordFile")?.replace(/\r?\n$/, "");
    const [ca, cert, key] = [read("caPath"), read("certPath"), read("keyPath")];
    const tls = { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert, key }) };
    return {
      ...(password !== undefined && { password }),
      ...("tls" in to && to.tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
    };
  }
}

function targetOptions({ at, username, password, db }: RedisTarget): object {
  const place = "sentinels" in at ? { sentinels: at.sentinels, name: at.name, role: "master" } : at;
  return { ...place, ...(username !== undefined && { username }), ...(password !== undefined && { password }), db };
}

/** Subscribes to the connection's Sentinels, which announce a new primary even if the old one still responds. */
function watchSentinels(client: Client, onSwitch: () => void): Client[] {
  const { sentinels, name, sentinelUsername = null, sentinelPassword = null, sentinelTLS: tls } = client.options;
  return (sentinels ?? []).map(({ host, port = 26379 }) => {
    const login = { username: sentinelUsername, password: sentinelPassword, tls };
    const retryStrategy = (attempt: number) => Math.min(attempt * MIN_BACKOFF_MS, MAX_BACKOFF_MS);
    const target = { sentinels: null, host, port, db: 0, ...login, retryStrategy, autoResubscribe: false };
    const watcher = client.duplicate(target) as Client;
    // Without a listener, the library prints errors. If a Sentinel is unreachable, its client retries.
    watcher.on("error", () => {});
    watcher.on("ready", () => void watcher.subscribe("+switch-master").catch(() => {}));
    watcher.on("message", (_, announced) => {
      if (announced.startsWith(`${name} `)) onSwitch();
    });
    return watcher;
  });
}

/** Converts an error of the library to one without the command's arguments. */
function faultOf(error: Error & { readonly command?: { readonly name: string } }): RedisFault {
  if (error.name === "ReplyError") {
    const code = codeOf(error);
    if (error.command?.name === "select") return new RedisFault("refused", `SELECT ${code}`, false);
    return new RedisFault("refused", code, !NOT_EXECUTED.test(code));
  }
  if (error instanceof RedisFault) return error;
  return new RedisFault("disconnected", codeOf(error), true);
}

/** Code of an error: the system's code, or the first word of the server's reply. */
function codeOf({ name, message, code }: NodeJS.ErrnoException): string {
  // For scripts, Redis 7.0 reports a missing permission only in the text.
  if (name === "ReplyError" && /executing the script can't|ACL failure in script/.test(message)) return "NOPERM";
  if (name === "ReplyError") return /^-?(?<word>[A-Z]{2,24})\b/.exec(message)?.groups?.word ?? "error";
  if (typeof code === "string" && /^[A-Z_0-9]{2,48}$/.test(code)) return code;
  if (/sentinel/i.test(message)) return "no sentinel reports a primary";
  return "connection closed";
}
