/** Reloads the configuration file and the certificate without a restart (protocol.md section 10). */

import { FileLeaders } from "../config/allowed-leaders.js";
import {
  configFile,
  configFileWarning,
  configWarnings,
  type FileRights,
  pinServedTools,
  replaceConfig,
  type ToolkitRuntimeConfig,
} from "../config/config.js";
import { FileFollower, type VersionRefusal } from "../config/file-follower.js";
import type { Reloads } from "../config/reload-stats.js";
import { ConfigError, titleOf } from "../config/strict-json.js";
import { readPair, TlsFault, type TlsPair, type TlsServer, type TlsSetup, tlsFileTitle } from "./http/tls.js";
import type { ServerLogger } from "./log/safe-logger.js";

export interface ReloadOptions {
  readonly config: ToolkitRuntimeConfig;
  readonly served: readonly string[];
  readonly log: ServerLogger;
  /** Milliseconds between checks of a file that has no change events; 1,000 if undefined. */
  readonly intervalMs: number | undefined;
}

/** Watches the files of one server until closed. */
export class ServerReload {
  readonly #options: ReloadOptions;
  readonly #config: FileFollower | undefined;
  /** Leaders from the watched allow-list. */
  #leaders: FileLeaders | undefined;
  #list: FileFollower | undefined;
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
    this.#list?.close();
    this.#certificate?.close();
  }

  #followConfig(): FileFollower | undefined {
    const { config, log, intervalMs } = this.#options;
    const file = configFile(config);
    if (file === undefined) return undefined;
    const title = titleOf(file.source);
    const warnOfRights = (stats: FileRights) => {
      const warning = configFileWarning(config, stats);
      if (warning !== undefined) log.warn({}, `${title} ${warning}`);
    };
    warnOfRights(file.stats);
    return new FileFollower({
      title,
      paths: [file.path],
      digests: [file.digest],
      describe: (fault) => `${title} ${fault}`,
      adopt: ([version]) => {
        if (version === undefined) return undefined;
        const refusal = this.#adoptConfig(version.bytes, title);
        if (refusal === undefined) warnOfRights(version.stats);
        return refusal;
      },
      log,
      ...(intervalMs !== undefined && { intervalMs }),
    });
  }

  #adoptConfig(bytes: Uint8Array, title: string): VersionRefusal | undefined {
    const { config, log } = this.#options;
    const source = configFile(config)?.source ?? { title: "configuration" as const };
    try {
      const { waitingBodyLimit, ...change } = replaceConfig(config, bytes, source);
      this.#followList();
      log.info(change, `a new version of ${title} is in force`);
      for (const warning of configWarnings(config)) log.warn({}, `configuration: ${warning}`);
      for (const tool of change.signingKeys) {
        if (config.toolConfig(tool)?.signingKey === undefined) {
          log.warn(
            { tool },
            "results of the tool are not signed: add response_signing_key to its entry in the configuration",
          );
        }
      }
      if (waitingBodyLimit !== undefined && waitingBodyLimit !== this.#waitingBodyLimit) {
        const fields = { inForce: `${config.invokeMaxBodyBytes()}`, waiting: `${waitingBodyLimit}` };
        log.warn(fields, `${title}: the new invoke_max_body_bytes takes effect after a restart`);
      }
      this.#waitingBodyLimit = waitingBodyLimit;
      return undefined;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      // The allow-list may be corrected without a change of the configuration file, so it is read again.
      return { refused: error.message, retry: error.title === "allow-list" };
    }
  }

  /** Watches the file of the allow-list in the current configuration, if any. */
  #followList(): void {
    const { config, log, intervalMs } = this.#options;
    const leaders = config.leaders instanceof FileLeaders ? config.leaders : undefined;
    if (leaders === this.#leaders) return;
    this.#list?.close();
    this.#list = undefined;
    this.#leaders = leaders;
    if (leaders === undefined) return;
    const title = titleOf(leaders.source);
    this.#list = new FileFollower({
      title,
      paths: [leaders.path],
      digests: [leaders.digest],
      describe: (fault) => `${title} ${fault}`,
      adopt: async ([version], signal) => {
        if (version === undefined) return undefined;
        try {
          await leaders.adopt(version, signal);
          if (signal.aborted) return undefined;
          log.info({}, `a new version of ${title} is in force`);
          if (leaders.isEmpty)
            log.warn({}, `${title} contains no key: every call will be refused; add the key of a leader`);
          return undefined;
        } catch (error) {
          // Any other error comes from the parsing thread, not from the file.
          const refused = error instanceof ConfigError ? error.message : `${title} could not be loaded`;
          return { refused, retry: !(error instanceof ConfigError) };
        }
      },
      log,
      ...(intervalMs !== undefined && { intervalMs }),
    });
  }

  /** Also watches the certificate and key of an HTTPS server. */
  followCertificate({ files, pair, digests }: TlsSetup, server: TlsServer): void {
    const { log, intervalMs } = this.#options;
    const title = tlsFileTitle(files, "cert");
    this.#pair = pair;
    for (const warning of pair.warnings) log.warn({}, warning);
    this.#certificate = new FileFollower({
      title,
      paths: [files.certPath, files.keyPath],
      digests,
      describe: (fault, index) => `${tlsFileTitle(files, index === 0 ? "cert" : "key")} ${fault}`,
      adopt: ([cert, key]) => {
        if (cert === undefined || key === undefined) return undefined;
        try {
          const next = readPair(files, cert, key);
          server.setSecureContext(next.context);
          this.#pair = next;
          log.info({ expires: new Date(next.expiresAt).toISOString() }, `a new version of ${title} is in force`);
          for (const warning of next.warnings) log.warn({}, warning);
          return undefined;
        } catch (error) {
          if (!(error instanceof TlsFault)) throw error;
          return { refused: error.message };
        }
      },
      log,
      ...(intervalMs !== undefined && { intervalMs }),
    });
  }
}
