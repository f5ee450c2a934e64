/** Server of a harness: tools prepared as by `bootstrap`, but called without a listener. */

import { type Checks, checkOptions } from "svc-client/internal/check-options";
import { checkedInteger } from "svc-client/internal/checked-integer";
import type { ValueReader } from "svc-client/internal/leader/result/resolve";
import { replayTtlOf, type ToolkitRuntimeConfig } from "../config/config.js";
import type { InvokeRequest, Reply } from "../server/call/messages.js";
import { createClasses } from "../server/call/run/class-hooks.js";
import { type ServedTool, serveTools } from "../server/call/run/served-tool.js";
import { type App, buildApp } from "../server/http/http-server.js";
import { requestIdOf } from "../server/http/request-id.js";
import { SafeLogger } from "../server/log/safe-logger.js";
import type { ToolOptions } from "../server/options.js";
import { ReplayMemory } from "../server/replay/memory.js";
import { ToolServer } from "../server/tool-server.js";
import type { SvcToolClass } from "../tool.js";
import { type ContractSources, findContracts } from "./find-contracts.js";
import { KeptLog } from "./kept-log.js";
import type { LeaderChoice } from "./leaders.js";
import { TestLeaders } from "./leaders.js";

/** Options of a harness. Server options are those of `bootstrap`. */
export interface HarnessOptions
  extends ContractSources,
    Pick<
      ToolOptions,
      | "allowedOrigins"
      | "around"
      | "engine"
      | "headerPrefix"
      | "load"
      | "maxBodyBytesInFlight"
      | "replayMaxBytes"
      | "replayStore"
    > {
  /**
   * Whether calls must be signed; true by default. If false, `invoke` sends plain JSON and `authorize` is not called.
   */
  readonly signed?: boolean;
  /** Your own configuration, instead of that of the test kit. It determines whether calls are signed. */
  readonly config?: ToolkitRuntimeConfig;
  /** Default leader of calls; `"leader"` by default. */
  readonly leader?: LeaderChoice;
  /**
   * Fetches stored values of results, so that `output` contains them instead of references: for example a `TestStore`
   * of svc-runtime-storage/dev.
   */
  readonly store?: { readonly reader: ValueReader };
}

const HARNESS_OPTIONS = {
  allowedOrigins: true,
  around: true,
  config: true,
  contracts: true,
  engine: true,
  headerPrefix: true,
  leader: true,
  load: true,
  maxBodyBytesInFlight: true,
  project: true,
  replayMaxBytes: true,
  replayStore: true,
  signed: true,
  store: true,
} as const satisfies Checks<HarnessOptions>;

/** A request without a connection. */
export interface RawRequest {
  /** A value may be a list, for a header that is sent several times. `Content-Length` is added if it is missing. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
}

/** A complete answer. */
export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Maximum number of turns of the promise queue until the tool of a call without a socket runs. */
const TURNS = 100;

/** Tools of one harness and their shared state. */
export class TestServer {
  readonly log = new KeptLog();
  readonly signed: boolean;
  #skewMs = 0;
  #opened: Promise<{ readonly app: App; readonly url: string }> | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    readonly tools: readonly ServedTool[],
    readonly leaders: TestLeaders,
    readonly options: HarnessOptions,
  ) {
    this.signed = leaders.config.signedHttpIsRequired();
  }

  #server!: ToolServer;
  #closeClasses: (() => Promise<void>) | undefined;

  static async start(classes: readonly SvcToolClass[], options: HarnessOptions): Promise<TestServer> {
    checkOptions("createHarness", options, HARNESS_OPTIONS);
    if (options.config !== undefined && options.signed !== undefined) {
      throw new TypeError(
        "createHarness: expected config or signed, got both; config determines whether calls are signed",
      );
    }
    await findContracts(classes, options);
    const tools = serveTools(classes);
    const fqns = tools.map(({ fqn }) => fqn);
    const server = new TestServer(tools, new TestLeaders(fqns, options.signed ?? true, options.config), options);
    await server.#prepare();
    return server;
  }

  async #prepare(): Promise<void> {
    const { replayMaxBytes } = this.options;
    const { config } = this.leaders;
    const replayStore =
      this.options.replayStore ??
      new ReplayMemory({
        ...(replayMaxBytes !== undefined && { maxBytes: replayMaxBytes }),
        ttlMs: (fqn) => replayTtlOf(config, fqn),
        now: () => performance.now() + this.#skewMs,
      });
    const options: ToolOptions = { ...this.options, config, replayStore };
    const log = SafeLogger.of(this.log.logger);
    this.#server = await ToolServer.prepare(this.tools, options, { log, scheme: "http" });
    try {
      this.#closeClasses = await createClasses(this.tools, { log });
    } catch (error) {
      await this.#server.release();
      throw error;
    }
  }

  /** Answers a call in process. `error` is the last error that the call logged, such as the tool's exception. */
  async call(
    tool: ServedTool,
    request: RawRequest,
  ): Promise<{ readonly answer: RawResponse; readonly requestId: string; readonly error: unknown }> {
    if (this.#closed !== undefined) throw new Error("the harness is closed: call close() after the last call");
    const { service } = this.#server;
    const invoke = invokeRequest(request);
    const { answer, error } = await this.log.watch(() => service.handle(tool, invoke));
    answer.sent?.();
    return { answer: responseOf(answer, service.memoryHeader), requestId: invoke.id, error };
  }

  async listen(): Promise<string> {
    if (this.#closed !== undefined) throw new Error("the harness is closed: call close() after the last call");
    this.#opened ??= (async () => {
      const app = await buildApp({ ...this.#server, tls: undefined });
      // A test that does not close its harness must still end: connections of clients keep their own process alive.
      const { server } = app.app;
      server.on("connection", (socket) => socket.unref());
      const url = await app.app.listen({ host: "127.0.0.1", port: 0 });
      server.unref();
      return { app, url };
    })();
    return (await this.#opened).url;
  }

  async advance(ms: number): Promise<void> {
    checkedInteger("advance", ms, 0, Number.MAX_SAFE_INTEGER, "milliseconds");
    // Calls already made must reach their tool first.
    await turns();
    this.#skewMs += ms;
    this.#server.service.advance(ms);
    await turns();
  }

  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#server.service.abortRuns();
      await turns();
      // A tool that ignores its abort signal must not keep the process alive until its deadline.
      this.#server.service.advance(Number.POSITIVE_INFINITY);
      const opened = await this.#opened?.catch(() => undefined);
      opened?.app.app.server.closeAllConnections();
      await opened?.app.close();
      await this.#server.release();
      await this.#closeClasses?.();
    })();
    return this.#closed;
  }
}

/** Saved at load time, because tests may replace the timers of the process. */
const immediate = setImmediate;

/** Waits until promises have settled and calls that wait for the next turn of the event loop have begun. */
async function turns(): Promise<void> {
  for (let rounds = 0; rounds < 3; rounds++) {
    for (let i = 0; i < TURNS; i++) await undefined;
    await new Promise<void>((done) => {
      immediate(done);
    });
  }
}

/** The request in the format of node:http. */
function invokeRequest({ headers = {}, body = "" }: RawRequest): InvokeRequest {
  const bytes = typeof body === "string" ? Buffer.from(body) : Buffer.from(body);
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((each) => [name, each] as const),
  );
  if (!pairs.some(([name]) => name.toLowerCase() === "content-length")) {
    pairs.push(["Content-Length", String(bytes.length)]);
  }
  const joined: Record<string, string> = Object.create(null);
  for (const [given, value] of pairs) {
    const name = given.toLowerCase();
    joined[name] = joined[name] === undefined ? value : `${joined[name]}, ${value}`;
  }
  return {
    id: requestIdOf(joined["x-request-id"]),
    peer: () => undefined,
    headers: joined,
    rawHeaders: pairs.flat(),
    connection: {},
    readBody: async (_length, account) => {
      account.charge(bytes.length);
      return { input: bytes };
    },
    isGone: () => false,
    onDisconnect: () => {},
  };
}

function responseOf({ status, headers, body }: Reply, memory: readonly string[] = []): RawResponse {
  const named: Record<string, string> = {};
  const all = [...headers, ...memory];
  for (let i = 0; i + 1 < all.length; i += 2) named[(all[i] as string).toLowerCase()] = all[i + 1] as string;
  return { status, headers: named, body: Buffer.from(body) };
}
