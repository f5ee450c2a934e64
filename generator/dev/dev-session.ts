/** `svc-gen dev`: generates, compiles and serves, and repeats this after every change. */

import { rmSync, unwatchFile, watchFile } from "node:fs";
import { dirname, join } from "node:path";
import { type Diagnostic, hasErrors } from "../compile/diagnostics/diagnostics.js";
import type { Compiled } from "../compile/project/emit-javascript.js";
import { contentHash } from "../compile/project/file-hash.js";
import { type GenerateOptions, layoutOf } from "../compile/project/layout.js";
import { type Difference, diffDocuments } from "../contract/diff.js";
import { baseOf, isWithin, replaceFiles, UnwritableError } from "../files/atomic-write.js";
import { ENV_FILE, withEnvFile } from "../files/env-file.js";
import { readMetaJson } from "../files/output-files.js";
import { readRegular } from "../files/read-file.js";
import { KeyFileError } from "../keys/key-file.js";
import { fqnOf, metaDocuments } from "../tools/meta-documents.js";
import { judgeDisputed } from "./author-compiler.js";
import { Builder, type BuilderMessage, type BuilderRun } from "./builder.js";
import { type DevLeaders, ensureDevKeys, writeDevConfig } from "./dev-keys.js";
import { blockedText, DevServer, type DevServerOptions, PortTaken } from "./dev-server.js";
import { DEV_FOLDER, type DevState, makePrivateFolder, removeDeadStates, stateFile } from "./dev-state.js";
import { NewestBuild, type Started } from "./newest-build.js";
import { type ServedDocument, servedDocuments } from "./served-documents.js";

/** Events during the development of a project, in order. */
export type DevEvent =
  /** A step that takes long enough to be mentioned. `seconds` is set if it takes unusually long. */
  | { readonly event: "progress"; readonly step: "building" | "starting"; readonly seconds?: number }
  /** A run of the generator. If it has errors, the last good build keeps serving. */
  | {
      readonly event: "run";
      readonly diagnostics: readonly Diagnostic[];
      readonly wrote: readonly string[];
      readonly milliseconds: number;
      /** Changes in the contracts since the last good run, without unchanged tools. */
      readonly changes: readonly Difference[];
      readonly serving: boolean;
    }
  /** A build is served. `milliseconds` is the time since the first report of a changed file. */
  | {
      readonly event: "serving";
      readonly url: string;
      readonly signed: boolean;
      readonly tools: readonly ServedDocument[];
      readonly milliseconds: number;
      /** Whether a new process serves the build. */
      readonly restarted: boolean;
      /** Whether it is the newest build; false if newer sources have errors. */
      readonly newest: boolean;
    }
  /** A new build did not start, or a step before that failed. */
  | { readonly event: "failed"; readonly reason: string; readonly serving: boolean }
  /** The serving process ended unexpectedly. */
  | { readonly event: "ended"; readonly reason: string }
  /** The event loop of the serving process has been blocked for some seconds, or, with 0, no longer is. */
  | { readonly event: "blocked"; readonly seconds: number }
  /** A line of the server's log. */
  | { readonly event: "line"; readonly line: string };

export interface DevOptions {
  readonly project: GenerateOptions;
  /** Port on 127.0.0.1 for an environment; 0 lets the system choose. */
  readonly portIn: (env: NodeJS.ProcessEnv) => number;
  /** Whether it is an error if this port is taken; otherwise another one is used. */
  readonly exactPort: boolean;
  readonly signed: boolean;
  readonly leaders: DevLeaders;
  readonly inspect: DevServerOptions["inspect"];
  /** Address of the development page, which confirms the address that this process serves. */
  readonly page: string;
  /** Address for MCP clients; undefined if there is none. */
  readonly mcp: string | undefined;
  /** Variables that take precedence over those of `.env`. */
  readonly env: NodeJS.ProcessEnv;
  /** Variables over which those of `.env` take precedence. */
  readonly defaults: Readonly<Record<string, string>>;
  readonly onEvent: (event: DevEvent) => void;
  readonly end: Promise<unknown>;
}

export { blockedText, PortTaken };

/**
 * Serves a project until `end` resolves.
 *
 * @throws PortTaken; errors of the file system
 */
export async function develop(options: DevOptions): Promise<void> {
  const folder = makePrivateFolder(options.project.root, options.env);
  removeDeadStates(folder);
  const session = new DevSession(options, folder);
  try {
    await Promise.race([options.end, session.failure]);
  } finally {
    await session.close();
  }
}

/** A compiled project and its variables. */
interface Build extends Compiled {
  /** Hash of the compiled files and the environment: builds with the same key need no restart. */
  readonly key: string;
  /** Text of its `meta.json`. */
  readonly document: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Milliseconds after which a start is mentioned. The first one is mentioned at once. */
const PROGRESS_MS = 400;
/** Milliseconds before the first restart of a build whose process ended. Each further one waits twice as long. */
const RESTART_MS = 250;
const MAX_RESTART_MS = 30_000;
/** Interval, in milliseconds, at which `.env` is checked, which no build reads. */
const POLL_MS = 500;

class DevSession {
  /** Rejects if the session cannot continue. */
  readonly failure: Promise<never>;
  readonly #options: DevOptions;
  readonly #folder: string;
  readonly #builder: Builder;
  readonly #server: DevServer;
  readonly #newest: NewestBuild<Build>;
  #fail: (error: unknown) => void = () => {};
  /** File with the address that is served. */
  #state: string | undefined;
  #document: string | undefined;
  #restartMs = RESTART_MS;
  #compiled: BuilderRun["compiled"];
  /** Time at which the change that leads to the next start began. */
  #changedAt = performance.now();
  /** Aborts the project's own compiler if its run is no longer the newest one. */
  #judging: AbortController | undefined;
  /** Whether the last run of the generator had errors or failed, so that the newest sources are not served. */
  #isBehind = false;
  #hasStarted = false;
  #isStopping = false;

  constructor(options: DevOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
    const { onEvent, project, signed, exactPort, inspect } = options;
    const { root } = project;
    this.failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    if (signed) ensureDevKeys(folder);
    this.#document = readMetaJson(root);
    this.#server = new DevServer({
      cwd: root,
      host: "127.0.0.1",
      exactPort,
      inspect,
      onLine: (line) => onEvent({ event: "line", line }),
      onSlow: (seconds) => onEvent({ event: "progress", step: "starting", seconds }),
      onBlocked: (seconds) => onEvent({ event: "blocked", seconds }),
      onExit: (reason) => this.#ended(reason),
    });
    this.#newest = new NewestBuild<Build>(
      {
        isServing: () => this.#server.isServing,
        start: (build) => this.#start(build),
        cancelStart: () => this.#server.cancelStart(),
      },
      {
        onServing: (build, url, isNew) => this.#served(build, url, isNew),
        onFailed: (reason) => this.#failed(reason),
      },
    );
    onEvent({ event: "progress", step: "building" });
    // The thread starts in the project's folder, where it finds the project's packages.
    this.#builder = new Builder({ project, compiledFolder: join(root, DEV_FOLDER, "dist") }, (message) =>
      this.#handle(message),
    );
    this.#builder.failure.catch(this.#fail);
    watchFile(join(root, ENV_FILE), { interval: POLL_MS }, () => this.#renew());
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    this.#newest.stop();
    this.#removeState();
    this.#judging?.abort();
    unwatchFile(join(this.#options.project.root, ENV_FILE));
    await Promise.all([this.#builder.close(), this.#server.close()]);
  }

  #served({ document }: Build, url: string, restarted: boolean): void {
    const { onEvent, signed } = this.#options;
    this.#writeState(url);
    const milliseconds = Math.round(performance.now() - this.#changedAt);
    const tools = servedDocuments(document, url);
    onEvent({ event: "serving", url, signed, tools, milliseconds, restarted, newest: !this.#isBehind });
  }

  #failed(reason: string): void {
    this.#options.onEvent({ event: "failed", reason, serving: this.#server.isServing });
  }

  #ended(reason: string): void {
    if (this.#isStopping) return;
    this.#removeState();
    this.#options.onEvent({ event: "ended", reason });
    this.#changedAt = performance.now();
    setTimeout(() => this.#newest.again().catch(this.#fail), this.#restartMs).unref();
    this.#restartMs = Math.min(2 * this.#restartMs, MAX_RESTART_MS);
  }

  #handle(message: BuilderMessage): void {
    if (this.#isStopping) return;
    if (message.kind === "run") {
      this.#judge(message);
      return;
    }
    this.#judging?.abort();
    this.#isBehind = true;
    this.#failed(message.reason);
  }

  /** Finishes a run after the project's own compiler has judged it, unless a newer run begins first. */
  #judge(run: BuilderRun): void {
    this.#judging?.abort();
    const judging = new AbortController();
    this.#judging = judging;
    const judged = judgeDisputed(layoutOf(this.#options.project), run.diagnostics, judging.signal);
    if (judged === undefined) {
      this.#finish(run);
      return;
    }
    judged
      .then((diagnostics) => {
        if (!judging.signal.aborted) this.#finish({ ...run, diagnostics });
      })
      .catch(this.#fail);
  }

  #finish({ diagnostics, wrote, milliseconds, compiled }: BuilderRun): void {
    const { onEvent } = this.#options;
    const isGood = compiled !== undefined && !hasErrors(diagnostics);
    const changes = isGood ? this.#changesTo(compiled.document) : [];
    onEvent({ event: "run", diagnostics, wrote, milliseconds, changes, serving: this.#server.isServing });
    this.#isBehind = !isGood;
    if (!isGood) return;
    this.#compiled = compiled;
    this.#changedAt = performance.now() - milliseconds;
    this.#offer(compiled);
  }

  /** Serves the newest build with the current variables. */
  #renew(): void {
    this.#changedAt = performance.now();
    if (this.#compiled !== undefined) this.#offer(this.#compiled);
  }

  /** Serves a compiled project with the current variables. */
  #offer(compiled: Omit<Build, "key" | "env">): void {
    const { env: own, defaults, signed, leaders, project } = this.#options;
    this.#restartMs = RESTART_MS;
    const config = signed ? { SVC_TOOLKIT_CONFIG_PATH: join(this.#folder, "config.json") } : {};
    let variables: NodeJS.ProcessEnv;
    try {
      variables = withEnvFile(project.root, own);
      if (signed) writeDevConfig(this.#folder, metaDocuments(compiled.document).map(fqnOf), leaders);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      const reason = code === undefined ? message : `cannot read ${ENV_FILE}: ${code}`;
      if (error instanceof KeyFileError) this.#fail(error);
      else this.#failed(reason);
      return;
    }
    const env = { ...defaults, ...variables, ...config };
    const key = contentHash(JSON.stringify([compiled.files, compiled.entrypoint, env]));
    this.#newest.serve({ ...compiled, env, key }).catch(this.#fail);
  }

  async #start({ files, entrypoint, env }: Build): Promise<Started> {
    const mention = () => {
      if (!this.#isStopping) this.#options.onEvent({ event: "progress", step: "starting" });
    };
    const timer = setTimeout(mention, this.#hasStarted ? PROGRESS_MS : 0);
    this.#hasStarted = true;
    try {
      return this.#write(files) ?? (await this.#server.start(entrypoint, env, this.#options.portIn(env)));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Writes the compiled files that differ from those on disk; returns the failure if that is not possible. */
  #write(files: Compiled["files"]): Extract<Started, { state: "failed" }> | undefined {
    const { root } = this.#options.project;
    const own = join(root, DEV_FOLDER);
    const isOwn = files.some(({ target }) => isWithin(own, target));
    const wanted = isOwn ? [{ target: join(own, ".gitignore"), content: "*\n" }, ...files] : files;
    try {
      // The author may have made the outDir of the tsconfig a symbolic link, which is therefore followed.
      replaceFiles(wanted.filter(differs), (target) => (isOwn ? baseOf(root, dirname(target)) : dirname(target)));
    } catch (error) {
      if (error instanceof UnwritableError) return { state: "failed", reason: error.message };
      throw error;
    }
    return undefined;
  }

  /** Writes the file from which other commands read the server's address. */
  #writeState(url: string): void {
    const state = stateFile(this.#folder, url);
    if (state === this.#state) return;
    this.#removeState();
    this.#state = state;
    const { signed, page, mcp } = this.#options;
    const content = `${JSON.stringify({ url, signed, pid: process.pid, page, mcp } satisfies DevState)}\n`;
    try {
      replaceFiles([{ target: state, content, mode: 0o600 }]);
    } catch (error) {
      if (!(error instanceof UnwritableError)) throw error;
      // The server works; only other commands cannot find it.
      this.#options.onEvent({ event: "line", line: error.message });
    }
  }

  #removeState(): void {
    if (this.#state !== undefined) rmSync(this.#state, { force: true });
    this.#state = undefined;
  }

  /** Changes in the contracts since the last good run. */
  #changesTo(document: string): readonly Difference[] {
    const before = this.#document;
    this.#document = document;
    if (before === undefined || before === document) return [];
    const texts = [before, document].map((text) => ({ name: "meta.json", text })) as [NamedDocument, NamedDocument];
    return diffDocuments(...texts).filter(({ verdict }) => verdict !== "same");
  }
}

/** Whether a file on disk has another text. */
function differs({ target, content }: Compiled["files"][number]): boolean {
  try {
    return readRegular(target).toString() !== content;
  } catch {
    return true;
  }
}

type NamedDocument = Parameters<typeof diffDocuments>[0];
