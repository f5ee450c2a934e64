// The runtime's configuration: one strict JSON object (specification 2.4, protocol section 10).

import { resolve } from "node:path";
import { asBuffer } from "../wire/bytes.js";
import type { SigningKey } from "../wire/ed25519-keys.js";
import {
  checkAllowListShape,
  fileLeaders,
  inlineLeaders,
  type LeaderResolver,
  noLeaders,
  sameLeaders,
} from "./allowed-leaders.js";
import { readSigningKey } from "./keys.js";
import { digestOf, isWorldReadable, readOperatorFile } from "./operator-file.js";
import { ConfigError, DocumentNode, type DocumentSource } from "./strict-json.js";

export { ConfigError };

/** The environment variable that holds the path of the configuration file. */
export const ENV_TOOLKIT_CONFIG_PATH = "SVC_TOOLKIT_CONFIG_PATH";

/** Limit of an `/invoke` body in bytes, when the configuration gives none: 12 MiB. */
export const DEFAULT_INVOKE_MAX_BODY_BYTES = 12_582_912n;

/** Lifetime of a completed replay entry in milliseconds, when the configuration gives none. */
export const DEFAULT_REPLAY_CACHE_TTL_MS = 300_000;

/** Whether `/invoke` asks for signatures. */
export const SignedHttpMode = {
  /** Signature headers are not required. */
  Disabled: "disabled",
  /** A request that lacks a valid signature is rejected. */
  Required: "required",
} as const;

export type SignedHttpMode = (typeof SignedHttpMode)[keyof typeof SignedHttpMode];

/** What signed mode needs to know of one tool. */
export interface ToolSigningConfig {
  /** Signs the tool's results; without it they leave unsigned. */
  readonly signingKey?: SigningKey;
  /** Lifetime of completed replay entries in milliseconds, 1 to 2^53 − 1 (a larger setting counts as that). */
  readonly replayTtlMs: number;
}

/** Everything that one version of a configuration says, validated; never changed afterwards. */
interface ConfigSnapshot {
  readonly invokeMaxBodyBytes: bigint;
  readonly mode: SignedHttpMode;
  readonly tools: ReadonlyMap<string, ToolSigningConfig>;
  readonly leaders: LeaderResolver;
  /** Whether a private key is written in it, in force or not. */
  readonly holdsKey: boolean;
  /** Whether it names an allow-list's file beside a list in place, which counts alone. */
  readonly idlePath?: true;
}

/** Who may do what with a file, as node says it in `BigIntStats`. */
export interface FileRights {
  readonly mode: bigint;
}

/** The file that a configuration was read from. */
export interface ConfigFile {
  /** Absolute: the working directory may change. */
  readonly path: string;
  /** As it was given, for messages. */
  readonly source: DocumentSource;
  /** Of what was read at first; the bytes hold keys and are not kept. */
  readonly digest: string;
  readonly stats: FileRights;
}

/** The file behind a configuration; undefined when it was given in code, or when there is none. */
export let configFile: (config: ToolkitRuntimeConfig) => ConfigFile | undefined;
let snapshotOf: (config: ToolkitRuntimeConfig) => ConfigSnapshot;
let servedBy: (config: ToolkitRuntimeConfig) => Set<string>;
let replaceSnapshot: (config: ToolkitRuntimeConfig, snapshot: ConfigSnapshot) => void;

/**
 * The validated configuration of a process. One that was read from a file follows the file while a server uses it: a new
 * version that is valid as a whole takes the place of the old one between two look-ups.
 */
export class ToolkitRuntimeConfig {
  #snapshot: ConfigSnapshot;
  readonly #file: ConfigFile | undefined;
  /** Tools that are or were served with it, by whichever server. */
  readonly #served = new Set<string>();

  private constructor(snapshot: ConfigSnapshot, file?: ConfigFile) {
    this.#snapshot = Object.freeze(snapshot);
    this.#file = file;
  }

  static {
    configFile = (config) => config.#file;
    snapshotOf = (config) => config.#snapshot;
    servedBy = (config) => config.#served;
    replaceSnapshot = (config, snapshot) => {
      config.#snapshot = Object.freeze(snapshot);
    };
  }

  /**
   * Loads the file that `SVC_TOOLKIT_CONFIG_PATH` names, else takes the defaults: 12 MiB, unsigned.
   *
   * @throws ConfigError when the variable is set but empty, or as {@link fromPath}
   */
  static fromEnv(env: Readonly<Record<string, string | undefined>> = process.env): ToolkitRuntimeConfig {
    const path = env[ENV_TOOLKIT_CONFIG_PATH];
    if (path === undefined) return new ToolkitRuntimeConfig(defaults());
    if (path !== "") return ToolkitRuntimeConfig.fromPath(path);
    const fault = `${ENV_TOOLKIT_CONFIG_PATH} must be a path, got an empty text; unset it or name the file`;
    throw new ConfigError(fault, { title: "configuration" });
  }

  /**
   * Loads a file.
   *
   * @param path relative to the working directory of the process
   * @throws ConfigError when it, or the allow-list that it names, is missing, unreadable or invalid; TypeError when the
   * path is no string
   */
  static fromPath(path: string): ToolkitRuntimeConfig {
    if (typeof path !== "string") throw new TypeError(`configuration path must be a string, got ${typeof path}`);
    const source: DocumentSource = { title: "configuration", file: path };
    const reading = readOperatorFile(path);
    if ("fault" in reading) throw new ConfigError(reading.fault, source);
    const { bytes, stats } = reading;
    const file: ConfigFile = { path: resolve(path), source, digest: digestOf(bytes), stats };
    return new ToolkitRuntimeConfig(readConfig(bytes, source), file);
  }

  /**
   * Parses JSON bytes.
   *
   * @throws ConfigError as {@link fromPath}, TypeError when it is no Uint8Array
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
   * @throws ConfigError as {@link fromPath}, TypeError when it is no string
   */
  static fromJsonStr(json: string): ToolkitRuntimeConfig {
    if (typeof json !== "string") throw new TypeError(`configuration text must be a string, got ${typeof json}`);
    const bytes = Buffer.from(json);
    if (bytes.toString() === json) return ToolkitRuntimeConfig.fromJsonBytes(bytes);
    throw new ConfigError("must be well-formed text, got a lone surrogate; correct it", { title: "configuration" });
  }

  /** Maximum `/invoke` request body size in bytes, a u64. */
  invokeMaxBodyBytes(): bigint {
    return this.#snapshot.invokeMaxBodyBytes;
  }

  /** Whether signed requests are required. */
  signedHttpIsRequired(): boolean {
    return this.#snapshot.mode === SignedHttpMode.Required;
  }

  /** Whether the signed-request configuration has an entry for exactly this tool id; false while disabled. */
  hasTool(toolId: string): boolean {
    return this.#snapshot.tools.has(toolId);
  }

  /** The entry of exactly this tool id, if there is one; none while disabled. */
  toolConfig(toolId: string): ToolSigningConfig | undefined {
    return this.#snapshot.tools.get(toolId);
  }

  /** Finds leader keys; nobody's while disabled. */
  get leaders(): LeaderResolver {
    return this.#snapshot.leaders;
  }
}

/** What a new version changed, in terms that a log may show. */
export interface ConfigChange {
  /** Served tools whose results are signed with another key from now on, or no longer, or for the first time. */
  readonly signingKeys: readonly string[];
  /** Served tools whose replay entries live for another time. */
  readonly replayTtls: readonly string[];
  /** Whether the allow-list is another one; one in a file of its own follows that file by itself. */
  readonly leaders: boolean;
  /** A limit of bodies that waits for a restart. */
  readonly waitingBodyLimit: bigint | undefined;
}

/** Notes tools that are served with a configuration: no new version may be without their entries. */
export function keepEntries(config: ToolkitRuntimeConfig, tools: readonly string[]): void {
  for (const fqn of tools) servedBy(config).add(fqn);
}

/**
 * Puts a new version of a configuration's file in force, whole or not at all.
 *
 * @throws ConfigError when it is invalid, or changes what only a restart may: the mode, and that each served tool has an
 * entry; the old version then stays in force
 */
export function replaceConfig(config: ToolkitRuntimeConfig, bytes: Uint8Array, source: DocumentSource): ConfigChange {
  const served = [...servedBy(config)];
  const old = snapshotOf(config);
  const next = readConfig(bytes, source, old.leaders);
  if (next.mode !== old.mode) {
    const fault = `must keep signed requests ${old.mode}, got them ${next.mode}; restart the process to change the mode`;
    throw new ConfigError(fault, source);
  }
  const dropped = next.mode === SignedHttpMode.Required ? served.filter((fqn) => !next.tools.has(fqn)) : [];
  if (dropped.length > 0) {
    const fault = `must keep the entries of all served tools, got none for ${dropped.join(", ")}; put them back`;
    throw new ConfigError(`${fault}, or restart the process without these tools`, source);
  }
  // What is in force until the restart.
  const { invokeMaxBodyBytes } = old;
  next.leaders.onWarning = old.leaders.onWarning;
  replaceSnapshot(config, { ...next, invokeMaxBodyBytes });
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

/** What is wrong with how a configuration's file is kept, though it can be used. */
export function configWarning(config: ToolkitRuntimeConfig, stats: FileRights): string | undefined {
  if (!snapshotOf(config).holdsKey || !isWorldReadable(stats)) return undefined;
  return "holds a private key and everybody on this machine can read it: take that right away (chmod o-r)";
}

/** A day: a longer TTL is more often a slip of the unit than meant. */
const LONG_TTL_MS = 86_400_000;

/** Sentences about what is valid in a configuration and hardly meant. */
export function configDoubts(config: ToolkitRuntimeConfig): string[] {
  const { invokeMaxBodyBytes, mode, leaders, tools, idlePath } = snapshotOf(config);
  const doubts: string[] = [];
  if (invokeMaxBodyBytes === 0n) doubts.push("invoke_max_body_bytes is 0: every call will be refused");
  if (mode === SignedHttpMode.Disabled) return doubts;
  if (leaders.isEmpty) doubts.push("no leader's key is in the allow-list: every call will be refused");
  if (idlePath === true) doubts.push("allowed_leaders counts alone: the file at allowed_leaders_path is not read");
  for (const [id, { replayTtlMs }] of tools) {
    if (replayTtlMs <= LONG_TTL_MS) continue;
    const days = Math.floor(replayTtlMs / LONG_TTL_MS);
    doubts.push(
      `replay_cache_ttl_ms of ${JSON.stringify(id)} is ${days} days or more: it counts milliseconds, and a full replay memory refuses calls`,
    );
  }
  return doubts;
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

/** @param previous the leaders that are in force, if any */
function readConfig(bytes: Uint8Array, source: DocumentSource, previous?: LeaderResolver): ConfigSnapshot {
  const root = DocumentNode.read(bytes, source).members({ optional: ["invoke_max_body_bytes", "signed_http"] });
  const invokeMaxBodyBytes = root.invoke_max_body_bytes?.orAbsent()?.u64() ?? DEFAULT_INVOKE_MAX_BODY_BYTES;
  const signed = root.signed_http?.orAbsent();
  return { ...(signed === undefined ? defaults() : readSignedHttp(signed, previous)), invokeMaxBodyBytes };
}

/** First the shape, which holds in both modes, then the values, which count only when signatures are required. */
function readSignedHttp(node: DocumentNode, previous?: LeaderResolver): Omit<ConfigSnapshot, "invokeMaxBodyBytes"> {
  const section = node.members({ optional: ["mode", "allowed_leaders_path", "allowed_leaders", "tools"] });
  const mode = section.mode === undefined ? SignedHttpMode.Required : readMode(section.mode);
  const path = section.allowed_leaders_path?.orAbsent()?.text();
  const inline = section.allowed_leaders?.orAbsent();
  if (inline !== undefined) checkAllowListShape(inline);
  const tools = section.tools?.entries().map(([id, tool]) => ({ id, ...readToolShape(tool) })) ?? [];
  const holdsKey = tools.some(({ signingKey }) => signingKey !== undefined);
  if (mode === SignedHttpMode.Disabled) return { mode, tools: new Map(), leaders: noLeaders(), holdsKey };

  if (tools.length === 0) {
    const got = section.tools === undefined ? "one without tools" : "one whose tools are empty";
    throw node.fault("an object with at least one entry in tools", got, "add the served tools or set mode to disabled");
  }
  const entries = new Map(tools.map((tool) => [tool.id, readTool(tool)]));
  if (inline !== undefined) {
    const leaders = inlineLeaders(inline, previous);
    return { mode, tools: entries, leaders, holdsKey, ...(path !== undefined && { idlePath: true }) };
  }
  if (path !== undefined) return { mode, tools: entries, leaders: fileLeaders(path, previous), holdsKey };
  throw node.fault(
    "an object with allowed_leaders or allowed_leaders_path",
    "one with neither",
    "add one of them or set mode to disabled",
  );
}

function readMode(node: DocumentNode): SignedHttpMode {
  const mode = node.text();
  if (mode === SignedHttpMode.Disabled || mode === SignedHttpMode.Required) return mode;
  throw node.fault('"disabled" or "required"', "another text", "write one of the two");
}

interface ToolShape {
  readonly signingKey: DocumentNode | undefined;
  readonly ttl: DocumentNode | undefined;
}

function readToolShape(node: DocumentNode): ToolShape {
  const members = node.members({ optional: ["response_signing_key", "replay_cache_ttl_ms"] });
  const signingKey = members.response_signing_key?.orAbsent();
  const ttl = members.replay_cache_ttl_ms?.orAbsent();
  signingKey?.text();
  ttl?.u64();
  return { signingKey, ttl };
}

function readTool({ signingKey, ttl }: ToolShape): ToolSigningConfig {
  const replayTtlMs = ttl === undefined ? DEFAULT_REPLAY_CACHE_TTL_MS : readTtl(ttl);
  return Object.freeze(signingKey === undefined ? { replayTtlMs } : { signingKey: readKey(signingKey), replayTtlMs });
}

function readTtl(node: DocumentNode): number {
  const milliseconds = node.u64();
  if (milliseconds === 0n) throw node.fault("at least 1", "0", "write milliseconds, or leave it out for 300000");
  return milliseconds > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(milliseconds);
}

function readKey(node: DocumentNode): SigningKey {
  const reading = readSigningKey(node.text());
  if ("key" in reading) return reading.key;
  throw node.fault(
    "an Ed25519 private key of 32 bytes, or 33 with a leading zero flag, in hex, base64 or base64url",
    reading.got,
    "write the key again",
  );
}
