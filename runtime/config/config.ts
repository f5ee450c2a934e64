// Configuration of the runtime: one strict JSON object (protocol.md section 10).

import { resolve } from "node:path";
import { closest } from "svc-client/internal/did-you-mean";
import { readSigningKey } from "svc-client/internal/keys";
import { asBuffer } from "svc-client/internal/wire/bytes";
import { DEFAULT_INVOKE_MAX_BODY_BYTES, DEFAULT_REPLAY_CACHE_TTL_MS, MAX_U64 } from "svc-client/internal/wire/protocol";
import type { SigningKey } from "svc-client/internal/wire/signature/ed25519-keys";
import { checkAllowListShape, fileLeaders, inlineLeaders, noLeaders, sameLeaders } from "./allowed-leaders.js";
import type { LeaderResolver } from "./leader-resolver.js";
import { openDocument } from "./open-document.js";
import { digestOf, EXPOSED_KEY, isWorldReadable } from "./operator-file.js";
import { ConfigError, DocumentNode, type DocumentSource, Faults } from "./strict-json.js";

export { ConfigError };

/** Environment variable with the path of the configuration file. */
export const ENV_TOOLKIT_CONFIG_PATH = "SVC_TOOLKIT_CONFIG_PATH";

/** Whether `/invoke` requires signatures. */
export const SignedHttpMode = {
  /** Signature headers are not required. */
  Disabled: "disabled",
  /** Requests without a valid signature are rejected. */
  Required: "required",
} as const;

export type SignedHttpMode = (typeof SignedHttpMode)[keyof typeof SignedHttpMode];

/** Configuration of one tool in signed mode. */
export interface ToolSigningConfig {
  /** Key that signs the tool's results; without it they are not signed. */
  readonly signingKey?: SigningKey;
  /**
   * Lifetime of completed replay entries in milliseconds, 1 to 2^53 − 1. Larger settings are reduced to the maximum.
   */
  readonly replayTtlMs: number;
}

/** One validated, immutable version of a configuration. */
interface ConfigSnapshot {
  readonly invokeMaxBodyBytes: bigint;
  readonly mode: SignedHttpMode;
  readonly tools: ReadonlyMap<string, ToolSigningConfig>;
  readonly leaders: LeaderResolver;
  /** Whether the document contains `"mode": "disabled"`. */
  readonly isUnsignedByName?: true;
  /** Whether the document contains a private key, even an unused one. */
  readonly holdsKey: boolean;
  /** Whether `allowed_leaders_path` is ignored because there is an inline list. */
  readonly ignoredPath?: true;
}

/** Access rights of a file: part of Node's `BigIntStats`. */
export interface FileRights {
  readonly mode: bigint;
}

export interface ConfigFile {
  /** Absolute, because the working directory may change. */
  readonly path: string;
  /** Path as given, for messages. */
  readonly source: DocumentSource;
  /** Digest of the first version. The bytes are not kept, because they contain keys. */
  readonly digest: string;
  readonly stats: FileRights;
}

interface ConfigParts {
  snapshot: ConfigSnapshot;
  readonly file: ConfigFile | undefined;
  /** Tools that any server serves, or has served, with this configuration. */
  readonly served: Set<string>;
}

let configOf: (snapshot: ConfigSnapshot) => ToolkitRuntimeConfig;
let partsOf: (config: ToolkitRuntimeConfig) => ConfigParts;
const snapshotOf = (config: ToolkitRuntimeConfig) => partsOf(config).snapshot;

/** File of a configuration; undefined for the defaults and a configuration set in code. */
export function configFile(config: ToolkitRuntimeConfig): ConfigFile | undefined {
  return partsOf(config).file;
}

/**
 * The validated configuration of a process. While a server uses a configuration from a file, the file is watched: a new
 * version that is completely valid replaces the old one between two look-ups.
 *
 * @example
 * ```ts run
 * import { ConfigError, ToolkitRuntimeConfig } from "svc-runtime";
 *
 * try {
 *   ToolkitRuntimeConfig.fromJsonStr('{ "invoke_max_body_byte": 1000 }');
 * } catch (error) {
 *   if (error instanceof ConfigError) console.log(error.message); // … did you mean "invoke_max_body_bytes"?
 * }
 * ```
 */
export class ToolkitRuntimeConfig {
  readonly #parts: ConfigParts;

  private constructor(snapshot: ConfigSnapshot, file?: ConfigFile) {
    this.#parts = { snapshot: Object.freeze(snapshot), file, served: new Set() };
  }

  static {
    configOf = (snapshot) => new ToolkitRuntimeConfig(snapshot);
    partsOf = (config) => config.#parts;
  }

  /**
   * Loads the file whose path is in `SVC_TOOLKIT_CONFIG_PATH`, otherwise the defaults: 12 MiB, unsigned.
   *
   * @throws ConfigError if the variable is set but empty, and like {@link fromPath}
   */
  static fromEnv(env: Readonly<Record<string, string | undefined>> = process.env): ToolkitRuntimeConfig {
    const path = env[ENV_TOOLKIT_CONFIG_PATH];
    if (path === undefined) return new ToolkitRuntimeConfig(defaults());
    const setting = ENV_TOOLKIT_CONFIG_PATH;
    if (path !== "") return ToolkitRuntimeConfig.#read(path, setting);
    throw new ConfigError("must be a path, got an empty string; set it to a path, or unset it", {
      title: "configuration",
      setting,
    });
  }

  /**
   * Loads a file.
   *
   * @param path relative to the working directory of the process
   * @throws ConfigError if the file or its allow-list is missing, unreadable or invalid; TypeError if the path is not a
   * string
   */
  static fromPath(path: string): ToolkitRuntimeConfig {
    if (typeof path !== "string") throw new TypeError(`configuration path must be a string, got ${typeof path}`);
    return ToolkitRuntimeConfig.#read(path);
  }

  static #read(path: string, setting?: string): ToolkitRuntimeConfig {
    const source = { title: "configuration", file: path, setting } as const;
    const { bytes, stats } = openDocument(source);
    const file: ConfigFile = { path: resolve(path), source, digest: digestOf(bytes), stats };
    return new ToolkitRuntimeConfig(readConfig(bytes, source), file);
  }

  /**
   * Parses JSON bytes.
   *
   * @throws ConfigError like {@link fromPath}, TypeError if the argument is not a Uint8Array
   */
  static fromJsonBytes(bytes: Uint8Array): ToolkitRuntimeConfig {
    if (!(bytes instanceof Uint8Array)) {
      throw new TypeError(`configuration bytes must be a Uint8Array, got ${typeof bytes}`);
    }
    return new ToolkitRuntimeConfig(readConfig(bytes, { title: "configuration" }));
  }

  /**
   * Parses a JSON string.
   *
   * @throws ConfigError like {@link fromPath}, TypeError if the argument is not a string
   */
  static fromJsonStr(json: string): ToolkitRuntimeConfig {
    if (typeof json !== "string") throw new TypeError(`configuration text must be a string, got ${typeof json}`);
    const bytes = Buffer.from(json);
    if (bytes.toString() === json) return ToolkitRuntimeConfig.fromJsonBytes(bytes);
    throw new ConfigError("must be well-formed text, got a lone surrogate; correct it", { title: "configuration" });
  }

  /** Maximum size of an `/invoke` request body, in bytes: a u64. */
  invokeMaxBodyBytes(): bigint {
    return this.#parts.snapshot.invokeMaxBodyBytes;
  }

  /** Whether signed requests are required. */
  signedHttpIsRequired(): boolean {
    return this.#parts.snapshot.mode === SignedHttpMode.Required;
  }

  /** Whether there is an entry with exactly this tool id; false while signed requests are disabled. */
  hasTool(toolId: string): boolean {
    return this.#parts.snapshot.tools.has(toolId);
  }

  /** Entry with exactly this tool id; undefined while signed requests are disabled. */
  toolConfig(toolId: string): ToolSigningConfig | undefined {
    return this.#parts.snapshot.tools.get(toolId);
  }

  /** Resolver of leader keys, empty while signed requests are disabled. */
  get leaders(): LeaderResolver {
    return this.#parts.snapshot.leaders;
  }
}

/** Lifetime of a tool's completed replay entries, in milliseconds. */
export function replayTtlOf(config: ToolkitRuntimeConfig, fqn: string): number {
  return config.toolConfig(fqn)?.replayTtlMs ?? DEFAULT_REPLAY_CACHE_TTL_MS;
}

/** Changes in a new version, for the log. Contains no secrets. */
export interface ConfigChange {
  /** Served tools whose signing key was added, changed or removed. */
  readonly signingKeys: readonly string[];
  /** Served tools whose lifetime of replay entries changed. */
  readonly replayTtls: readonly string[];
  /** Whether the inline allow-list changed; a list in a file is watched separately. */
  readonly leaders: boolean;
  /** New body limit, which takes effect after a restart; undefined if it did not change. */
  readonly waitingBodyLimit: bigint | undefined;
}

/** Records served tools, so that a new version of the configuration without their entries is rejected. */
export function pinServedTools(config: ToolkitRuntimeConfig, tools: readonly string[]): void {
  for (const fqn of tools) partsOf(config).served.add(fqn);
}

/**
 * Replaces the configuration by a new version of its file, completely or not at all.
 *
 * @throws ConfigError if the version is invalid, changes the mode, or lacks the entry of a served tool, which requires
 * a restart; the current version stays
 */
export function replaceConfig(config: ToolkitRuntimeConfig, bytes: Uint8Array, source: DocumentSource): ConfigChange {
  const served = [...partsOf(config).served];
  const old = snapshotOf(config);
  const next = readConfig(bytes, source, old.leaders);
  if (next.mode !== old.mode) {
    const fault = `must not change the mode of signed requests (${old.mode}), got ${next.mode}; restart the process to change the mode`;
    throw new ConfigError(fault, source);
  }
  const dropped = next.mode === SignedHttpMode.Required ? served.filter((fqn) => !next.tools.has(fqn)) : [];
  if (dropped.length > 0) {
    const fault = `must keep the entries of all served tools, got no entry for ${dropped.join(", ")}; restore it`;
    throw new ConfigError(`${fault}, or restart the process without these tools`, source);
  }
  // The old body limit applies until the restart.
  const { invokeMaxBodyBytes } = old;
  partsOf(config).snapshot = Object.freeze({ ...next, invokeMaxBodyBytes });
  const differing = (same: (a: ToolSigningConfig | undefined, b: ToolSigningConfig | undefined) => boolean) =>
    served.filter((fqn) => !same(old.tools.get(fqn), next.tools.get(fqn)));
  return {
    signingKeys: differing((a, b) => sameKey(a?.signingKey, b?.signingKey)),
    replayTtls: differing((a, b) => a?.replayTtlMs === b?.replayTtlMs),
    leaders: !sameLeaders(old.leaders, next.leaders),
    waitingBodyLimit: next.invokeMaxBodyBytes === invokeMaxBodyBytes ? undefined : next.invokeMaxBodyBytes,
  };
}

function sameKey(a: SigningKey | undefined, b: SigningKey | undefined): boolean {
  return a === undefined || b === undefined ? a === b : asBuffer(a.publicKey).equals(b.publicKey);
}

/** Whether a configuration contains `"mode": "disabled"`; false if it has no `mode`. */
export function isUnsignedByName(config: ToolkitRuntimeConfig): boolean {
  return snapshotOf(config).isUnsignedByName === true;
}

/** Warning about unsafe access rights of a configuration file, if any. */
export function configFileWarning(config: ToolkitRuntimeConfig, stats: FileRights): string | undefined {
  return snapshotOf(config).holdsKey && isWorldReadable(stats) ? EXPOSED_KEY : undefined;
}

/** A TTL of at least one day was probably meant in another unit. */
const DAY_MS = 86_400_000;

/** Warnings about valid settings that are probably unintended. */
export function configWarnings(config: ToolkitRuntimeConfig): string[] {
  const { invokeMaxBodyBytes, mode, leaders, tools, ignoredPath } = snapshotOf(config);
  const warnings: string[] = [];
  if (invokeMaxBodyBytes === 0n)
    warnings.push("invoke_max_body_bytes is 0: every call will be refused; raise it, or remove it");
  if (mode === SignedHttpMode.Disabled) return warnings;
  if (leaders.isEmpty)
    warnings.push("the allow-list contains no key: every call will be refused; add the key of a leader");
  if (ignoredPath === true)
    warnings.push("allowed_leaders_path is ignored because allowed_leaders is set: remove one of the two");
  for (const [id, { replayTtlMs }] of tools) {
    if (replayTtlMs <= DAY_MS) continue;
    const days = Math.floor(replayTtlMs / DAY_MS);
    warnings.push(
      `replay_cache_ttl_ms of ${JSON.stringify(id)} is ${days} days or more: check the unit, which is milliseconds; a replay memory that is full of old answers refuses calls`,
    );
  }
  return warnings;
}

/** Entry of another version of a tool, or of a similar name; undefined if there is none. */
export function similarEntry(config: ToolkitRuntimeConfig, fqn: string): string | undefined {
  const [name] = fqn.split("@");
  const ids = [...snapshotOf(config).tools.keys()];
  return ids.find((id) => id.replace(/@\d{0,10}$/, "") === name) ?? closest(fqn, ids)[0];
}

function defaults(): ConfigSnapshot {
  return {
    invokeMaxBodyBytes: DEFAULT_INVOKE_MAX_BODY_BYTES,
    mode: SignedHttpMode.Disabled,
    tools: new Map(),
    leaders: noLeaders(),
    holdsKey: false,
  };
}

export interface ConfigReading {
  readonly faults: Faults;
  /** Opens the file of an allow-list. */
  readonly openList: (path: string) => LeaderResolver;
  /** Receives the entries of `tools`, in both modes, and the section that contains them. */
  readonly onTools?: (entries: readonly ToolEntry[], section: DocumentNode) => void;
}

export interface ToolEntry {
  readonly id: string;
  readonly node: DocumentNode;
}

/**
 * @param previous current leaders, if any
 * @throws ConfigError the first error
 */
function readConfig(bytes: Uint8Array, source: DocumentSource, previous?: LeaderResolver): ConfigSnapshot {
  const openList = (path: string) => fileLeaders(path, previous);
  return readDocument(bytes, source, { faults: new Faults(), openList }, previous);
}

/**
 * Checks a configuration like {@link readConfig}, but adds errors to those of `reading`.
 *
 * @returns undefined if there is an error
 */
export function checkDocument(
  bytes: Uint8Array,
  source: DocumentSource,
  reading: ConfigReading,
): ToolkitRuntimeConfig | undefined {
  try {
    const snapshot = readDocument(bytes, source, reading);
    return reading.faults.found.length > 0 ? undefined : configOf(snapshot);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    reading.faults.collect(error);
    return undefined;
  }
}

/** For each member, the object that it belongs to, for a hint if it is in another object. */
const elsewhere: Readonly<Record<string, string>> = {
  invoke_max_body_bytes: "the document itself",
  mode: "/signed_http",
  allowed_leaders: "/signed_http",
  allowed_leaders_path: "/signed_http",
  tools: "/signed_http",
  leaders: "/signed_http/allowed_leaders",
  response_signing_key: "an entry of /signed_http/tools",
  replay_cache_ttl_ms: "an entry of /signed_http/tools",
};

function readDocument(
  bytes: Uint8Array,
  source: DocumentSource,
  reading: ConfigReading,
  previous?: LeaderResolver,
): ConfigSnapshot {
  const { faults } = reading;
  const root = DocumentNode.read(bytes, source, faults).members({
    optional: ["invoke_max_body_bytes", "signed_http"],
    elsewhere,
  });
  const invokeMaxBodyBytes =
    faults.attempt(() => root.invoke_max_body_bytes?.orAbsent()?.u64()) ?? DEFAULT_INVOKE_MAX_BODY_BYTES;
  const signed = root.signed_http?.orAbsent();
  const section = signed && faults.attempt(() => readSignedHttp(signed, reading, previous));
  return { ...(section ?? defaults()), invokeMaxBodyBytes };
}

/** Checks the shape in both modes, and the values only if signatures are required. */
function readSignedHttp(
  node: DocumentNode,
  { faults, openList, onTools }: ConfigReading,
  previous?: LeaderResolver,
): Omit<ConfigSnapshot, "invokeMaxBodyBytes"> {
  const section = node.members({ optional: ["mode", "allowed_leaders_path", "allowed_leaders", "tools"], elsewhere });
  const { mode: modeNode, tools: toolsNode } = section;
  const mode = (modeNode && faults.attempt(() => readMode(modeNode))) ?? SignedHttpMode.Required;
  const pathNode = section.allowed_leaders_path?.orAbsent();
  const path = pathNode && faults.attempt(() => pathNode.text());
  const inline = section.allowed_leaders?.orAbsent();
  if (inline !== undefined) faults.attempt(() => checkAllowListShape(inline));
  const entries =
    toolsNode === undefined ? [] : faults.attempt(() => toolsNode.entries().map(([id, tool]) => ({ id, node: tool })));
  onTools?.(entries ?? [], toolsNode ?? node);
  const tools = (entries ?? []).flatMap(({ id, node: tool }) => {
    const shape = faults.attempt(() => readToolShape(tool, mode === SignedHttpMode.Disabled ? 0n : MIN_TTL));
    return shape === undefined ? [] : [{ id, ...shape }];
  });
  const holdsKey = tools.some(({ signingKey }) => signingKey !== undefined);
  if (mode === SignedHttpMode.Disabled) {
    return { mode, tools: new Map(), leaders: noLeaders(), holdsKey, isUnsignedByName: true };
  }

  if (entries?.length === 0) {
    const got = toolsNode === undefined ? "no tools" : "empty tools";
    const wanted = "an object with at least one entry in tools";
    faults.add(node.fault(wanted, got, "add the served tools or set mode to disabled"));
  }
  const settings = new Map(tools.map((tool) => [tool.id, readTool(tool, faults)]));
  const required = { mode, tools: settings, holdsKey };
  if (inline !== undefined) {
    const leaders = faults.attempt(() => inlineLeaders(inline, previous)) ?? noLeaders();
    return { ...required, leaders, ...(path !== undefined && { ignoredPath: true }) };
  }
  if (pathNode !== undefined) {
    return { ...required, leaders: (path !== undefined && faults.attempt(() => openList(path))) || noLeaders() };
  }
  throw node.fault(
    "an object with allowed_leaders or allowed_leaders_path",
    "one with neither",
    "add one of them or set mode to disabled",
  );
}

function readMode(node: DocumentNode): SignedHttpMode {
  const mode = node.text();
  if (mode === SignedHttpMode.Disabled || mode === SignedHttpMode.Required) return mode;
  throw node.fault('"disabled" or "required"', "another string", "write one of the two");
}

interface ToolShape {
  readonly signingKey: DocumentNode | undefined;
  readonly ttl: DocumentNode | undefined;
}

/** @param minTtl 0 if the value is not checked */
function readToolShape(node: DocumentNode, minTtl: bigint): ToolShape {
  const members = node.members({ optional: ["response_signing_key", "replay_cache_ttl_ms"], elsewhere });
  const signingKey = members.response_signing_key?.orAbsent();
  const ttl = members.replay_cache_ttl_ms?.orAbsent();
  node.faults.attempt(() => signingKey?.text());
  node.faults.attempt(() => ttl?.integer(minTtl, MAX_U64, TTL_REMEDY));
  return { signingKey, ttl };
}

function readTool({ signingKey, ttl }: ToolShape, faults: Faults): ToolSigningConfig {
  const replayTtlMs = (ttl && faults.attempt(() => readTtl(ttl))) ?? DEFAULT_REPLAY_CACHE_TTL_MS;
  const key = signingKey && faults.attempt(() => readKey(signingKey));
  return Object.freeze(key === undefined ? { replayTtlMs } : { signingKey: key, replayTtlMs });
}

const MIN_TTL = 1n;
const TTL_REMEDY = `write milliseconds in plain digits, such as ${DEFAULT_REPLAY_CACHE_TTL_MS}`;

function readTtl(node: DocumentNode): number {
  const milliseconds = node.integer(MIN_TTL, MAX_U64, TTL_REMEDY);
  return milliseconds > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(milliseconds);
}

function readKey(node: DocumentNode): SigningKey {
  const reading = readSigningKey(node.text());
  if ("key" in reading) return reading.key;
  throw node.fault(
    "an Ed25519 private key of 32 bytes, or 33 with a leading zero byte, in hex, base64 or base64url",
    reading.got,
    "copy the key again",
  );
}
