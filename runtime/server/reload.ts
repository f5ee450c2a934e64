/** Reloads the configuration file, the allow-list and the certificate without a restart (protocol.md section 10). */

import { FileLeaders } from "../config/allowed-leaders.js";
import {
  configFile,
  configFileWarning,
  configWarnings,
  type FileRights,
  pinServedTools,
  replaceConfig,
  type ToolkitRuntimeConfig,
  type ToolSigningConfig,
} from "../config/config.js";
import { FileFollower, type FollowerOptions } from "../config/file-follower.js";
import type { HashedFile } from "../config/operator-file.js";
import type { Reloads } from "../config/reload-stats.js";
import { ConfigError, type DocumentSource, titleOf } from "../config/strict-json.js";
import { readPair, TlsFault, type TlsPair, type TlsServer, type TlsSetup, tlsFileTitle } from "./http/tls.js";
import type { ServerLogger } from "./log/safe-logger.js";

/** Warns of a tool without a signing key. */
export function warnIfUnsigned(entry: ToolSigningConfig | undefined, tool: string, log: ServerLogger): void {
  if (entry?.signingKey !== undefined) return;
  const message = "results of the tool are not signed: add response_signing_key to its entry in the configuration";
  log.warn({ tool }, message);
}

/** Logs warnings about valid settings that are probably unintended. */
export function logConfigWarnings(config: ToolkitRuntimeConfig, log: ServerLogger): void {
  for (const warning of configWarnings(config)) log.warn({}, `configuration: ${warning}`);
}

export interface ReloadOptions {
  readonly config: ToolkitRuntimeConfig;
  readonly served: readonly string[];
  readonly log: ServerLogger;
  /** Milliseconds between checks of the files; 1,000 if undefined. */
  readonly intervalMs: number | undefined;
}

/** Watches the files of one server until closed. */
export class ServerReload {
  readonly #options: ReloadOptions;
  readonly #config: FileFollower | undefined;
  /** Leaders from the watched allow-list. */
  #leaders: FileLeaders | undefined;
  #list: FileFollower | undefined;
  #unfollowList: () => void = () => {};
  #certificate: FileFollower | undefined;
  #pair: TlsPair | undefined;
  /** Changed body limit that takes effect after a restart; remembered so that it is logged once. */
  #waitingBodyLimit: bigint | undefined;

  constructor(options: ReloadOptions) {
    this.#options = options;
    pinServedTools(options.config, options.served);
    this.#config = this.#followConfig();
    this.#followList();
  }

  get stats(): Reloads {
    return {
      config: this.#config?.stats,
      allowList: this.#list?.stats,
      certificate: this.#certificate?.stats,
      certificateExpiresAt: this.#pair?.expiresAt,
    };
  }

  /** Checks all files now. Resolves when their content was adopted or rejected; never rejects. */
  async reload(): Promise<void> {
    await Promise.all([this.#config?.reload(), this.#list?.reload(), this.#certificate?.reload()]);
  }

  close(): void {
    this.#config?.close();
    this.#unfollowList();
    this.#certificate?.close();
  }

  #followConfig(): FileFollower | undefined {
    const { config, log } = this.#options;
    const file = configFile(config);
    if (file === undefined) return undefined;
    const title = titleOf(file.source);
    const warnOfRights = (stats: FileRights) => {
      const warning = configFileWarning(config, stats);
      if (warning !== undefined) log.warn({}, `${title} ${warning}`);
    };
    warnOfRights(file.stats);
    const adopt = ({ bytes, stats }: HashedFile) => {
      this.#adoptConfig(bytes, file.source);
      warnOfRights(stats);
    };
    return this.#follow({ titles: [title], paths: [file.path], digests: [file.digest], adopt, refersTo: "allow-list" });
  }

  /** @throws ConfigError for an invalid version */
  #adoptConfig(bytes: Uint8Array, source: DocumentSource): void {
    const { config, log } = this.#options;
    const title = titleOf(source);
    const { waitingBodyLimit, ...change } = replaceConfig(config, bytes, source);
    this.#followList();
    log.info(change, `loaded a new version of ${title}`);
    logConfigWarnings(config, log);
    for (const tool of change.signingKeys) warnIfUnsigned(config.toolConfig(tool), tool, log);
    if (waitingBodyLimit !== undefined && waitingBodyLimit !== this.#waitingBodyLimit) {
      const fields = { inForce: `${config.invokeMaxBodyBytes()}`, waiting: `${waitingBodyLimit}` };
      log.warn(fields, `${title}: the new invoke_max_body_bytes takes effect after a restart`);
    }
    this.#waitingBodyLimit = waitingBodyLimit;
  }

  /** Watches the file of the allow-list in the current configuration, if any. */
  #followList(): void {
    const { config, log } = this.#options;
    const leaders = config.leaders instanceof FileLeaders ? config.leaders : undefined;
    if (leaders === this.#leaders) return;
    this.#unfollowList();
    this.#list = undefined;
    this.#leaders = leaders;
    if (leaders === undefined) return;
    const title = titleOf(leaders.source);
    const adopt = ({ bytes }: HashedFile) => {
      leaders.check(bytes);
      // A look-up may have read a newer version than these bytes.
      leaders.refresh(true);
    };
    const list = this.#follow({ titles: [title], paths: [leaders.path], digests: [leaders.digest], adopt });
    const adopted = (digest: string) => {
      list.countAdopted(digest);
      log.info({}, `loaded a new version of ${title}`);
      if (leaders.isEmpty)
        log.warn({}, `${title} contains no key: every call will be refused; add the key of a leader`);
    };
    leaders.adopted.add(adopted);
    this.#list = list;
    this.#unfollowList = () => {
      leaders.adopted.delete(adopted);
      list.close();
    };
  }

  /** Also watches the certificate and key of an HTTPS server. */
  followCertificate({ files, pair, digests }: TlsSetup, server: TlsServer): void {
    const { log } = this.#options;
    const titles: [string, string] = [tlsFileTitle(files, "cert"), tlsFileTitle(files, "key")];
    const use = (next: TlsPair) => {
      this.#pair = next;
      for (const warning of next.warnings) log.warn({}, warning);
    };
    use(pair);
    const adopt = (cert: HashedFile, key: HashedFile) => {
      const next = readPair(files, cert, key);
      server.setSecureContext(next.context);
      log.info({ expires: new Date(next.expiresAt).toISOString() }, `loaded a new version of ${titles[0]}`);
      use(next);
    };
    this.#certificate = this.#follow({ titles, paths: [files.certPath, files.keyPath], digests, adopt });
  }

  /** @param adopt adopts a version; throws a ConfigError or TlsFault if it is invalid */
  #follow({ adopt, refersTo, ...files }: FollowedFiles): FileFollower {
    const { log, intervalMs } = this.#options;
    const adoptOrRefuse = (...versions: readonly HashedFile[]) => {
      try {
        adopt(...versions);
        return undefined;
      } catch (error) {
        if (!(error instanceof ConfigError || error instanceof TlsFault)) throw error;
        return { refused: error.message, retry: "title" in error && error.title === refersTo };
      }
    };
    return new FileFollower({ ...files, adopt: adoptOrRefuse, log, ...(intervalMs !== undefined && { intervalMs }) });
  }
}

interface FollowedFiles extends Pick<FollowerOptions, "titles" | "paths" | "digests"> {
  /** Another file, which may be corrected without a change of these: a version that it makes invalid is checked again. */
  readonly refersTo?: "allow-list";
  adopt(...versions: readonly HashedFile[]): void;
}
