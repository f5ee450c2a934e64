/**
 * `#platform/http-client` for Node: undici with limits of time and size.
 *
 * undici calls `onRequestStart` immediately before it writes the first byte of a request, after DNS, connection, proxy
 * tunnel and TLS handshake. If a request fails before that call, nothing was sent. If `onRequestStart` is called a
 * second time, because an agent retries, the request is aborted, so no agent can send it twice.
 */

import { channel } from "node:diagnostics_channel";
import type { Agent, buildConnector, EnvHttpProxyAgent } from "undici";
import { isLoopback } from "../../loopback.js";
import { asBuffer } from "../../wire/bytes.js";
import { MAX_TIMEOUT_MS } from "../../wire/protocol.js";
import { LeaderError } from "../error.js";
import { onAbort } from "../waiting.js";
import type { Dispatcher } from "./dispatcher.js";
import {
  aborted,
  type HttpRequest,
  type HttpResponse,
  late,
  type TlsOptions,
  type Transport,
  type TransportOptions,
  tooLarge,
} from "./transport.js";

/** A test compares the version with that of the package. */
const USER_AGENT = "svc-runtime/0.1.0";
/** Limits of a connection: milliseconds for DNS, connection and TLS handshake together, and the lowest TLS version. */
export const CONNECT_LIMITS = { timeout: 10_000, minVersion: "TLSv1.2" } as const;

/** Agents with and without the proxies of the environment. */
type Agents = Partial<Record<"direct" | "proxied", Promise<Agent | EnvHttpProxyAgent>>>;

/** Agents of all clients without options of their own. Idle connections do not keep the process alive. */
const sharedAgents: Agents = {};

export class HttpClient implements Transport {
  readonly #given: Dispatcher | undefined;
  /** Options of connections; undefined for those of the shared agents. */
  readonly #connect: (TlsOptions & { readonly lookup?: unknown }) | undefined;
  #own: Agents = {};

  constructor({ tls, dispatcher, lookup }: TransportOptions = {}) {
    if (tls !== undefined && dispatcher !== undefined) {
      throw new TypeError("tls: cannot be combined with a dispatcher: set the `connect` options of the dispatcher");
    }
    this.#given = dispatcher;
    this.#connect = lookup === undefined ? tls : { ...tls, lookup };
  }

  send(request: HttpRequest): Promise<HttpResponse> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(request, resolve, reject);
      const fired = request.signals.find(({ aborted }) => aborted);
      if (fired !== undefined) return exchange.fail(aborted(fired));
      exchange.watch();
      if (this.#given !== undefined) exchange.begin(this.#given);
      else {
        this.#agent(request.url).then(
          (agent) => exchange.begin(agent),
          (error: Error) => exchange.onResponseError(undefined, error),
        );
      }
    });
  }

  close(): void {
    for (const agent of Object.values(this.#own)) agent.then((made) => made.destroy()).catch(() => undefined);
    this.#own = {};
  }

  /** Returns the agent for a URL. Forgets an agent that cannot be created, so that the next call tries again. */
  #agent({ hostname }: URL): Promise<Dispatcher> {
    const agents = this.#connect === undefined ? sharedAgents : this.#own;
    // Requests to a loopback address bypass the proxy, for which that address is its own machine.
    const kind = isLoopback(hostname) ? "direct" : "proxied";
    const known = agents[kind];
    if (known !== undefined) return known;
    const agent = newAgent(kind, this.#connect ?? {});
    agent.catch(() => delete agents[kind]);
    agents[kind] = agent;
    return agent;
  }
}

/** Loads undici at the first request of a process. */
async function newAgent(kind: keyof Agents, { ca, ...tls }: TlsOptions): Promise<Agent | EnvHttpProxyAgent> {
  const { Agent, EnvHttpProxyAgent, Pool } = await import("undici");
  const connect = {
    ...CONNECT_LIMITS,
    ...tls,
    ...(ca !== undefined && { ca: [ca].flat().map((each) => (typeof each === "string" ? each : asBuffer(each))) }),
  } as buildConnector.BuildOptions;
  const options = { connect, pipelining: 1, allowH2: false };
  if (kind === "direct") return new Agent(options);
  return new EnvHttpProxyAgent({
    ...options,
    requestTls: connect,
    factory: (origin, given: { connect?: unknown }) =>
      new Pool(origin, { ...given, connect: endingConnector(given.connect) }),
  });
}

/**
 * Wraps a proxy's connector so that failures end the request; otherwise undici reconnects forever if a proxy closes the
 * connection.
 */
function endingConnector(connect: unknown): buildConnector.connector {
  if (typeof connect !== "function") return connect as buildConnector.connector;
  return (options, callback) =>
    (connect as buildConnector.connector)(options, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(Object.assign(new Error(error.message, { cause: error }), { code: "UND_ERR_PROXY" }), null);
    });
}

/** Symbol under which all copies of version 1 of the OpenTelemetry API keep what the application has registered. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

interface Telemetry {
  readonly context?: { active(): unknown };
  readonly propagation?: { inject(context: unknown, carrier: object, setter: object): void };
}

/**
 * Headers with the application's active trace, if it has registered OpenTelemetry. None if something observes the
 * requests of undici, because OpenTelemetry's own instrumentation then adds them.
 */
function traceContext(): Record<string, string> {
  const { context, propagation } = (globalThis as { [REGISTERED]?: Telemetry })[REGISTERED] ?? {};
  const headers: Record<string, string> = {};
  if (context === undefined || propagation === undefined || channel("undici:request:create").hasSubscribers)
    return headers;
  const set = (_headers: object, name: string, value: string) => {
    headers[name] = value;
  };
  try {
    propagation.inject(context.active(), headers, { set });
  } catch {
    // A trace must not prevent a call.
  }
  return headers;
}

/** undici's controller of a request whose first byte is about to be sent. */
interface Controller {
  abort(reason: Error): void;
}

/** One request and its answer: the handler of undici's `dispatch`. */
class Exchange {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #status = 0;
  #headers: HttpResponse["headers"] = {};
  #controller: Controller | undefined;
  #failure: LeaderError | undefined;
  #end = () => {};

  readonly #request: HttpRequest;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (error: LeaderError) => void;

  constructor(request: HttpRequest, resolve: (response: HttpResponse) => void, reject: (error: LeaderError) => void) {
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  watch(): void {
    const { timeoutMs } = this.#request;
    const timer = setTimeout(() => this.fail(late(timeoutMs)), Math.min(timeoutMs, MAX_TIMEOUT_MS));
    const ignore = onAbort(this.#request.signals, (signal) => this.fail(aborted(signal)));
    this.#end = () => {
      clearTimeout(timer);
      ignore();
    };
  }

  begin(dispatcher: Dispatcher): void {
    if (this.#failure !== undefined) return;
    const { method, url, body } = this.#request;
    const headers = { "User-Agent": USER_AGENT, ...traceContext(), ...this.#request.headers };
    const target = { origin: url.origin, path: `${url.pathname}${url.search}`, method, headers };
    const limits = { headersTimeout: 0, bodyTimeout: 0 };
    try {
      dispatcher.dispatch({ ...target, ...limits, ...(body !== undefined && { body: asBuffer(body) }) }, this);
    } catch (error) {
      this.onResponseError(undefined, error as Error);
    }
  }

  fail(error: LeaderError): void {
    if (this.#failure !== undefined) return;
    this.#failure = this.#controller === undefined ? error.with({ ran: "no" }) : error;
    this.#end();
    this.#reject(this.#failure);
    this.#controller?.abort(this.#failure);
  }

  onRequestStart(controller: Controller): void {
    const refused = this.#failure ?? (this.#controller && lost(undefined, this.#request.url));
    if (refused !== undefined) {
      controller.abort(refused);
      this.fail(refused);
      return;
    }
    this.#controller = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: HttpResponse["headers"]): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    const { maxBytes, admit } = this.#request;
    this.#size += chunk.length;
    if (this.#size > maxBytes || admit?.(chunk.length) === false) this.fail(tooLarge(maxBytes));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    this.#resolve({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#chunks, this.#size) });
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.fail(lost(error, this.#request.url, this.#status !== 0));
  }
}

function lost(error: NodeJS.ErrnoException | undefined, { protocol, host }: URL, hasBegun = false): LeaderError {
  const { code = "", message = "" } = error ?? {};
  // undici's parser attaches the bytes of a malformed answer, and logs print all members of a cause.
  if (error !== undefined && "data" in error) delete error.data;
  if (protocol === "https:" && /wrong version number|packet length too long/i.test(message)) {
    const hint =
      "the TLS handshake failed, because the server uses plain HTTP: use http:// in the url, or the server's TLS port";
    return new LeaderError("connection_failed", hint, { cause: error });
  }
  // undici's own error codes do not describe the cause.
  const what = code.startsWith("UND_") ? message : code || "the connection broke";
  let hint = code === "ECONNREFUSED" ? `: nothing is listening at ${host}` : "";
  if (code === "ENOTFOUND") hint = `: the name ${host} has no address`;
  if (!hasBegun && /^(?:UND_ERR_SOCKET|ECONNRESET|HPE_.+)$/.test(code)) {
    const scheme = protocol === "http:" ? ", its port uses TLS (use https://)" : "";
    hint = `: the server closed the connection without an answer; perhaps its process ended (see its log)${scheme}, or it has no free connection`;
  } else if (/SELF_SIGNED|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_UNTRUSTED/.test(code)) {
    hint =
      ": the authority of the server's certificate is not trusted; pass its certificate as `ca` (`tls: { ca }`, or `connect: { ca }` of a dispatcher)";
  } else if (code === "ERR_TLS_CERT_ALTNAME_INVALID") hint = ": the server's certificate is for another host name";
  return new LeaderError("connection_failed", `${what}${hint}`, { cause: error });
}
