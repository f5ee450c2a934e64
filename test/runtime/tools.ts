/** Tools on contracts written by hand, and servers for them: in process, on a port that is free. */

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { decodeOutput } from "#client/wire/bcs/bcs.js";
import { SignatureHeaders } from "#client/wire/protocol.js";
import { type Ed25519Engine, prepareSigningKey, publicKeyOf, selectEngine } from "#client/wire/signature/ed25519.js";
import { InputHasher } from "#client/wire/signature/input-hash.js";
import { outputHash, toolSignatureMessage } from "#client/wire/signature/signature.js";
import {
  type Address,
  type BootstrapOptions,
  type RunningServer,
  type ServerLogger,
  serve,
  ToolkitRuntimeConfig,
} from "#runtime/index.js";
import { AllowedOrigins } from "#runtime/server/call/allowed-origins.js";
import { InvokeService, type ServiceOptions } from "#runtime/server/call/invoke-service.js";
import { Observers } from "#runtime/server/call/observers.js";
import { serveTools } from "#runtime/server/call/run/served-tool.js";
import { buildApp, type ServeOptions } from "#runtime/server/http/http-server.js";
import { type ConnectionLimits, DEADLINES } from "#runtime/server/http/limits.js";
import { Shutdown } from "#runtime/server/http/shutdown.js";
import type { TlsSetup } from "#runtime/server/http/tls.js";
import { LoadControl } from "#runtime/server/load/load-control.js";
import { LOAD_REASONS } from "#runtime/server/load/load-options.js";
import { lineLogger } from "#runtime/server/log/safe-logger.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { DEFAULT_MAX_INPUT_VALUES } from "#runtime/server/wire/heap-bytes.js";
import { atEnd } from "../teardown.js";
import { type Behaviour, type CountingTool, countingTool } from "./counting-tool.js";
import { exchange, expectError, type RawResponse, requestText } from "./raw.js";

export const RESULT = "application/vnd.nexus.canonical-tool-response+bcs";

export * from "./counting-tool.js";

// ---- leaders and configuration ----

const { engine } = selectEngine();

/** A leader with one key. */
export interface Leader {
  readonly id: string;
  readonly kid: bigint;
  readonly seed: Buffer;
}

export const alice: Leader = { id: "alice", kid: 0n, seed: Buffer.alloc(32, 1) };
/** alice with another key. */
export const aliceKey2: Leader = { id: "alice", kid: 18446744073709551615n, seed: Buffer.alloc(32, 2) };
export const bob: Leader = { id: "bob", kid: 0n, seed: Buffer.alloc(32, 3) };
export const TOOL_SEED = Buffer.alloc(32, 9);
export const TOOL_KEY = publicKeyOf(TOOL_SEED);

/** Identity and key of a leader, for a `LeaderClient`. */
export const signerOf = ({ id, kid, seed }: Leader) => ({ id, keyId: kid, key: seed });

/** An allow-list of leaders, as JSON text because of its u64s. */
export function allowList(leaders: readonly Leader[]): string {
  const entries = leaders.map(
    ({ id, kid, seed }) =>
      `{"leader_id":"${id}","keys":[{"kid":${kid},"public_key":"${Buffer.from(publicKeyOf(seed)).toString("hex")}"}]}`,
  );
  return `{"version":1,"leaders":[${entries}]}`;
}

interface SignedOptions {
  readonly ttlMs?: number | undefined;
  readonly key?: boolean | undefined;
  readonly maxBody?: number | undefined;
}

/** A configuration that requires signatures of alice and bob. */
export function signedConfig(
  fqns: readonly string[],
  { ttlMs, key = true, maxBody }: SignedOptions = {},
): ToolkitRuntimeConfig {
  const entry = {
    ...(key && { response_signing_key: TOOL_SEED.toString("hex") }),
    ...(ttlMs !== undefined && { replay_cache_ttl_ms: ttlMs }),
  };
  const tools = JSON.stringify(Object.fromEntries(fqns.map((fqn) => [fqn, entry])));
  const limit = maxBody === undefined ? "" : `"invoke_max_body_bytes":${maxBody},`;
  return ToolkitRuntimeConfig.fromJsonStr(
    `{${limit}"signed_http":{"allowed_leaders":${allowList([alice, aliceKey2, bob])},"tools":${tools}}}`,
  );
}

export const UNSIGNED = ToolkitRuntimeConfig.fromJsonStr("{}");

// ---- servers ----

export interface LogEntry {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A log that is kept. */
export function keptLog(): ServerLogger & { readonly entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const logger = (bound: object): ServerLogger => ({
    ...lineLogger((level, own, message = "") => {
      const fields: Readonly<Record<string, unknown>> = { ...bound, ...own };
      // The variables of the tests themselves, which a server names as unknown.
      if (!/^SVC_(?:TEST_|TYPE_|WRITE_)/.test(`${fields.variable}`)) entries.push({ level, fields, message });
    }),
    child: (fields) => logger({ ...bound, ...fields }),
  });
  return { ...logger({}), entries };
}

export interface TestServer extends RunningServer {
  readonly log: readonly LogEntry[];
}

/** The refusals of a server that has refused nothing for load. */
export const NOTHING_REFUSED = Object.fromEntries(LOAD_REASONS.map((reason) => [reason, 0]));

/** An address of this machine: on Linux one on which nothing else listens, so that a port stays free once it is closed. */
export const OWN_ADDRESS: Address = [process.platform === "linux" ? [127, 0, 83, 1] : [127, 0, 0, 1], 0];

/** Serves tools on a free port until the end of the test file; unsigned unless a configuration is given. */
export async function serveFor(tools: readonly CountingTool[], options: BootstrapOptions = {}): Promise<TestServer> {
  const logger = keptLog();
  const server = await serve(
    tools.map((tool) => tool.class),
    {
      ...{ address: [[127, 0, 0, 1], 0], config: UNSIGNED, logger },
      // Parts of the memory do not depend on the machine.
      memoryLimit: 2 ** 34,
      // Results are compared byte for byte.
      unsignedResults: "bcs",
      ...options,
    },
  );
  atEnd(() => server.close());
  return { ...server, log: logger.entries };
}

/** The same, signed. */
export async function serveSigned(
  tools: readonly CountingTool[],
  { ttlMs, key, maxBody, ...options }: BootstrapOptions & SignedOptions = {},
): Promise<TestServer> {
  const fqns = tools.map(({ fqn }) => fqn);
  return serveFor(tools, { config: signedConfig(fqns, { ttlMs, key, maxBody }), ...options });
}

/** A service without a transport. */
export function invokeService(
  options: Pick<ServiceOptions, "config" | "store" | "log"> & Partial<ServiceOptions>,
): InvokeService {
  const { config, log } = options;
  const signed = config.signedHttpIsRequired();
  return new InvokeService({
    headers: new SignatureHeaders("X-Svc-"),
    engine,
    maxInputValues: DEFAULT_MAX_INPUT_VALUES,
    load: new LoadControl({}, { tools: [], signed, bodyBytes: 2 * Number(config.invokeMaxBodyBytes()), log }),
    allowedOrigins: new AllowedOrigins(),
    unsignedResults: "json",
    observers: new Observers([], log),
    ...options,
  });
}

/** A server whose patience is short, with what is inside of it; closed at the end of the test file. */
export async function serveHasty(
  tools: readonly CountingTool[],
  deadlines: Partial<ConnectionLimits> = {},
  config: ToolkitRuntimeConfig = UNSIGNED,
  work: Ed25519Engine = engine,
  more: Partial<ServiceOptions> = {},
  tls?: TlsSetup,
  bounds: Pick<ServeOptions, "maxPipelined" | "maxUnreadBytes"> = {},
) {
  const log = keptLog();
  const store = new ReplayMemory();
  const service = invokeService({ config, engine: work, store, log, unsignedResults: "bcs", ...more });
  const served = serveTools(tools.map((tool) => tool.class));
  const { app, requests } = await buildApp({
    tools: served,
    service,
    log,
    shutdown: new Shutdown(),
    tls,
    memory: { maxConnections: 4_096 },
    deadlines: { ...DEADLINES, checkMs: 50, ...deadlines },
    ...bounds,
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  atEnd(() => app.close());
  return { url, server: app.server, requests, service, store, log };
}

// ---- signed calls ----

export const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest();

/** One value of a port: the text that is hashed and the item that is sent, which may differ. */
export interface Value {
  readonly hashed: string | Uint8Array;
  readonly item: string;
}

/** A `data` item; `hashed` when the hash is over another form of it. */
export const data = (json: string, hashed: string = json): Value => ({
  hashed,
  item: `{"kind":"data","data":${json}}`,
});
/** A `bytes` item. */
export const bytes = (content: string | Uint8Array): Value => ({
  hashed: content,
  item: `{"kind":"data","bytes":"${Buffer.from(content).toString("base64")}"}`,
});

export interface CallOptions {
  readonly leader?: Leader;
  readonly nonce?: Uint8Array;
  readonly prefix?: string;
  /** Instead of the hash of the values. */
  readonly hash?: Uint8Array;
}

/** A signed request, ready to be sent any number of times. */
export class SignedCall {
  readonly hash: Buffer;
  readonly signature: Buffer;
  readonly nonce: Buffer;
  /** In the order of protocol.md section 5. */
  readonly headers: [name: string, value: string][];

  constructor(
    readonly target: string,
    readonly body: Buffer,
    hash: Uint8Array,
    { leader = alice, nonce = randomBytes(32), prefix = "X-Svc-" }: CallOptions = {},
  ) {
    this.hash = Buffer.from(hash);
    this.signature = engine.sign(prepareSigningKey(leader.seed), this.hash);
    this.nonce = Buffer.from(nonce);
    this.headers = [
      [`${prefix}Sig-V`, "3"],
      [`${prefix}Leader-Id`, leader.id],
      [`${prefix}Leader-Key-Id`, `${leader.kid}`],
      [`${prefix}Input-Hash`, this.hash.toString("base64url")],
      [`${prefix}Leader-Signature`, this.signature.toString("base64url")],
      [`${prefix}Nonce`, this.nonce.toString("base64url")],
    ];
  }

  /** The same inputs and nonce, signed by somebody else. */
  by(leader: Leader): SignedCall {
    return new SignedCall(this.target, this.body, this.hash, { leader, nonce: this.nonce });
  }

  /** The request as it goes over the wire. */
  text(...extra: (readonly [name: string, value: string])[]): Buffer {
    const headers = [...this.headers, ...extra, ["Content-Length", `${this.body.length}`] as const];
    return requestText("POST", this.target, headers, this.body);
  }

  /** Sends it on a connection of its own. */
  async send(url: string): Promise<RawResponse> {
    return exchange(url, this.text(), "POST");
  }
}

/** The values of a call by port: one value for a `one` port, a list for a `many` port. */
export type Values = Readonly<Record<string, Value | readonly Value[]>>;

/** Signs a call of a tool, its ports in the order of the contract. */
export function signedCall(tool: CountingTool, values: Values, options: CallOptions = {}): SignedCall {
  const ports = tool.contract.input.map(({ name, many }) => {
    const given = values[name] ?? assert.fail(`no value for port ${name}`);
    const list = Array.isArray(given) ? (given as readonly Value[]) : [given as Value];
    const items = list.map(({ item }) => item);
    const value = many ? `{"many":[${items}]}` : `{"one":${items}}`;
    return {
      text: `{"port_name":${JSON.stringify(name)},"value":${value}}`,
      commitments: list.map((v) => sha256(v.hashed)),
    };
  });
  const hash = options.hash ?? new InputHasher(tool.contract.input).hash(ports.map(({ commitments }) => commitments));
  return new SignedCall(tool.target, Buffer.from(`{"ports":[${ports.map(({ text }) => text)}]}`), hash, options);
}

/** A call of an echo tool: one port `value`. */
export const echoCall = (tool: CountingTool, json: string, options: CallOptions = {}): SignedCall =>
  signedCall(tool, { value: data(json) }, options);

/** A request without a socket, its headers as node:http would give them. */
export function bareRequest(pairs: readonly (readonly [name: string, value: string])[], body: Buffer) {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    const earlier = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = earlier === undefined ? value.trim() : `${earlier}, ${value.trim()}`;
  }
  return {
    headers,
    rawHeaders: pairs.flat(),
    id: "1",
    peer: () => undefined,
    connection: {},
    readBody: async () => ({ input: body }),
    isGone: () => false,
    onDisconnect: () => {},
  };
}

// ---- answers ----

/** BCS of a result whose values are all inline JSON texts: an array is a port of several values. */
export function resultBcs(
  tag: string,
  ports: readonly (readonly [name: string, texts: string | readonly string[]])[],
): Buffer {
  const length = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...length(n >>> 7)]);
  const vec = (content: Uint8Array) => Buffer.concat([Buffer.from(length(content.length)), content]);
  return Buffer.concat([
    vec(Buffer.from(tag)),
    Buffer.from(length(ports.length)),
    ...ports.flatMap(([name, given]) => {
      const texts = typeof given === "string" ? [given] : given;
      const values = texts.map((text) => Buffer.concat([Buffer.from([1]), vec(Buffer.from(text))]));
      return [vec(Buffer.from(name)), Buffer.from(length(texts.length)), ...values];
    }),
  ]);
}

/** The result of an echo tool. */
export const echoed = (json: string): Buffer => resultBcs("ok", [["value", json]]);

/** The JSON form of a result whose values are all inline, one for each port. */
function jsonOf(bcs: Uint8Array): string {
  const { tag, ports } = decodeOutput(bcs);
  const members = ports.map(({ name, values: [value, ...more] }) => {
    assert.ok(value?.kind === "inline" && more.length === 0);
    return `${JSON.stringify(name)}:${Buffer.from(value.bytes)}`;
  });
  return `{${JSON.stringify(tag)}:{${members}}}`;
}

/**
 * Checks a result, which may be JSON without a call. Of a signed one: exactly its bytes, a signature for exactly this call, and no header of the protocol but those of the
 * signature and the name of the replay memory.
 */
export function expectResult(response: RawResponse, body: Uint8Array, call?: SignedCall, seed = TOOL_SEED): void {
  assert.equal(response.status, 200, response.body.toString());
  const isJson = call === undefined && response.headers.get("content-type") === "application/json";
  if (isJson) assert.equal(response.body.toString(), jsonOf(body));
  else {
    assert.equal(response.headers.get("content-type"), RESULT);
    assert.equal(response.body.toString("latin1"), Buffer.from(body).toString("latin1"));
  }
  assert.ok(response.headers.get("x-request-id"), "every answer has an id");
  assert.equal(response.headers.get("cache-control"), "no-store");
  const others = ["x-svc-replay-memory", "x-request-id"];
  const isProtocol = (name: string) => name.startsWith("x-") && !others.includes(name);
  const protocol = [...response.headers.keys()].filter(isProtocol).sort();
  if (call === undefined) {
    assert.deepEqual(protocol, []);
    return;
  }
  assert.deepEqual(protocol, ["x-svc-sig-v", "x-svc-tool-signature"]);
  assert.equal(response.headers.get("x-svc-sig-v"), "3");
  const message = toolSignatureMessage(call.signature, call.nonce, outputHash(body));
  const expected = engine.sign(prepareSigningKey(seed), message).toString("base64url");
  assert.equal(response.headers.get("x-svc-tool-signature"), expected);
}

/** A call without signatures as it goes over the wire. */
export function plainCall(
  target: string,
  body: string | Uint8Array,
  ...extra: (readonly [name: string, value: string])[]
): Buffer {
  return requestText("POST", target, [...extra, ["Content-Length", `${Buffer.byteLength(body)}`]], body);
}

/** Sends plain JSON to a tool in unsigned mode. */
export async function sendPlain(
  url: string,
  target: string,
  body: string | Uint8Array,
  ...extra: (readonly [name: string, value: string])[]
): Promise<RawResponse> {
  return exchange(url, plainCall(target, body, ...extra), "POST");
}

/** Sends plain JSON and checks that it is refused; gives the details. */
export async function plainError(
  url: string,
  target: string,
  body: string | Uint8Array,
  status: number,
  code: string,
): Promise<string | undefined> {
  return expectError(await sendPlain(url, target, body), status, code);
}

/** Does something, such as the start of a server, with variables of the environment. */
export async function withVariables<T>(
  variables: Readonly<Record<string, string>>,
  work: () => Promise<T>,
): Promise<T> {
  Object.assign(process.env, variables);
  try {
    return await work();
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name];
  }
}

/** A promise that a test resolves; without a value at the end of the test file, so that no run outlives it. */
export function gate<T = void>(): { readonly promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    open = resolve;
  });
  atEnd(open as () => void);
  return { promise, open };
}

/** An echo tool whose runs wait until the test lets all of them go. */
export function waitingTool(behaviour: Behaviour = {}) {
  const { promise, open } = gate();
  const tool = countingTool({ invoke: ({ value }) => promise.then(() => ({ ok: { value } })), ...behaviour });
  return { tool, open: () => open() };
}

/**
 * Repeats an attempt until one succeeds. For what has to happen within a time of the server's own: a machine that stands
 * still in the middle spoils an attempt, not the verdict.
 */
export async function attempt(what: string, once: () => Promise<boolean>): Promise<void> {
  for (let left = 10; !(await once()); left--) assert.ok(left > 1, `${what}: in none of ten attempts`);
}

/** Milliseconds between two looks of `until`. */
const LOOK_MS = 2;

/**
 * Waits until something holds. Patience is counted in looks: a process that stands still for a while does not lose any,
 * so no verdict depends on the speed of the machine.
 */
export async function until(holds: () => boolean | Promise<boolean>, what: string, ms = 60_000): Promise<void> {
  for (let looks = ms / LOOK_MS; !(await holds()); looks--) {
    assert.ok(looks > 0, `${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
