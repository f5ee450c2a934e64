// The runtime's configuration: one strict JSON object (specification 2.4, protocol section 10).

import { readFileSync } from "node:fs";
import type { SigningKey } from "../wire/ed25519.js";
import { checkAllowListShape, fileLeaders, inlineLeaders, type LeaderResolver, noLeaders } from "./allowed-leaders.js";
import { ConfigError, DocumentNode, type DocumentSource } from "./document.js";
import { readSigningKey } from "./keys.js";

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
}

/** The validated configuration of a process. */
export class ToolkitRuntimeConfig {
  readonly #snapshot: ConfigSnapshot;

  private constructor(snapshot: ConfigSnapshot) {
    this.#snapshot = Object.freeze(snapshot);
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
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "an unknown fault";
      throw new ConfigError(`must be a readable file, got ${code}; correct the path or put the file there`, source);
    }
    return new ToolkitRuntimeConfig(readConfig(bytes, source));
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

function defaults(): ConfigSnapshot {
  return {
    invokeMaxBodyBytes: DEFAULT_INVOKE_MAX_BODY_BYTES,
    mode: SignedHttpMode.Disabled,
    tools: new Map(),
    leaders: noLeaders(),
  };
}

function readConfig(bytes: Uint8Array, source: DocumentSource): ConfigSnapshot {
  const root = DocumentNode.read(bytes, source).members({ optional: ["invoke_max_body_bytes", "signed_http"] });
  const invokeMaxBodyBytes = root.invoke_max_body_bytes?.orAbsent()?.u64() ?? DEFAULT_INVOKE_MAX_BODY_BYTES;
  const signed = root.signed_http?.orAbsent();
  return { ...(signed === undefined ? defaults() : readSignedHttp(signed)), invokeMaxBodyBytes };
}

/** First the shape, which holds in both modes, then the values, which count only when signatures are required. */
function readSignedHttp(node: DocumentNode): Omit<ConfigSnapshot, "invokeMaxBodyBytes"> {
  const section = node.members({ optional: ["mode", "allowed_leaders_path", "allowed_leaders", "tools"] });
  const mode = section.mode === undefined ? SignedHttpMode.Required : readMode(section.mode);
  const path = section.allowed_leaders_path?.orAbsent()?.text();
  const inline = section.allowed_leaders?.orAbsent();
  if (inline !== undefined) checkAllowListShape(inline);
  const tools = section.tools?.entries().map(([id, tool]) => ({ id, ...readToolShape(tool) })) ?? [];
  if (mode === SignedHttpMode.Disabled) return { mode, tools: new Map(), leaders: noLeaders() };

  if (tools.length === 0) {
    const got = section.tools === undefined ? "one without tools" : "one whose tools are empty";
    throw node.fault("an object with at least one entry in tools", got, "add the served tools or set mode to disabled");
  }
  const entries = new Map(tools.map((tool) => [tool.id, readTool(tool)]));
  if (inline !== undefined) return { mode, tools: entries, leaders: inlineLeaders(inline) };
  if (path !== undefined) return { mode, tools: entries, leaders: fileLeaders(path) };
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
