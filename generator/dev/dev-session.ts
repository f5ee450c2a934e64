/** `svc-gen dev`: generate, compile and serve, again after every change. */

import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { baseOf, isWithin, replaceFiles, UnwritableError } from "../atomic-write.js";
import { type Difference, diffDocuments } from "../contract-diff.js";
import { type Diagnostic, hasErrors } from "../diagnostics/diagnostics.js";
import { readOutput, writeChanged } from "../output-files.js";
import type { Compiled } from "../project/emit-javascript.js";
import { type GenerateOptions, layoutOf } from "../project/layout.js";
import { type WatchResult, watchProject } from "../watch.js";
import { judgeDisputed } from "./author-compiler.js";
import { ensureDevKeys, writeDevConfig } from "./dev-keys.js";
import { DevServer, PortTaken, type Started } from "./dev-server.js";
import { DEV_FOLDER, type DevState, makePrivateFolder, removeDeadStates, stateFile } from "./dev-state.js";
import { type ServedDocument, servedDocuments } from "./served-documents.js";

/** What happens while a project is developed, in order. */
export type DevEvent =
  /** A run of the generator. With errors the last good build keeps serving. */
  | {
      readonly event: "run";
      readonly diagnostics: readonly Diagnostic[];
      readonly wrote: readonly string[];
      readonly milliseconds: number;
      /** What changed in the contracts since the last good run; without tools that are the same. */
      readonly changes: readonly Difference[];
      readonly serving: boolean;
    }
  /** A new build serves. `milliseconds` from the first event of the change to the listening server. */
  | {
      readonly event: "serving";
      readonly url: string;
      readonly signed: boolean;
      readonly tools: readonly ServedDocument[];
      readonly milliseconds: number;
    }
  /** A new build did not start. */
  | { readonly event: "failed"; readonly reason: string; readonly serving: boolean }
  /** The serving process ended by itself. */
  | { readonly event: "ended"; readonly reason: string }
  /** A line of the server's log. */
  | { readonly event: "line"; readonly line: string };

export interface DevOptions {
  readonly project: GenerateOptions;
  /** Port on 127.0.0.1; 0 for one that the system chooses. */
  readonly port: number;
  /** Whether another port may not be used when this one is taken. */
  readonly exactPort: boolean;
  readonly signed: boolean;
  /** Address of the development page, which confirms where this process serves. */
  readonly page: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onEvent: (event: DevEvent) => void;
  readonly end: Promise<unknown>;
}

export { PortTaken };

/**
 * Serves a project until `end` resolves.
 *
 * @throws PortTaken; errors of the disk
 */
export async function develop(options: DevOptions): Promise<void> {
  const { project } = options;
  const folder = makePrivateFolder(project.root, options.env);
  removeDeadStates(folder);
  const session = new DevSession(options, folder);
  try {
    await watchProject(
      project,
      { write: (files) => writeChanged(project.root, files), tell: (result) => session.handle(result) },
      Promise.race([options.end, session.failure]),
    );
  } finally {
    await session.close();
  }
}

/** A compiled project, and when the change that led to it began. */
interface Build extends Compiled {
  /** Text of its `meta.json`. */
  readonly document: string;
  readonly from: number;
}

class DevSession {
  /** Rejects when the session cannot go on. */
  readonly failure: Promise<never>;
  private fail: (error: unknown) => void = () => {};
  private readonly server: DevServer;
  /** The file that names the served address. */
  private state: string | undefined;
  /** Texts of the compiled files by path, as they were last written. */
  private readonly written = new Map<string, string>();
  private document: string | undefined;
  /** The newest build that has not been started. */
  private waiting: Build | undefined;
  private isStarting = false;
  /** Number of the newest run of the generator. */
  private run = 0;

  constructor(
    private readonly options: DevOptions,
    private readonly folder: string,
  ) {
    const { onEvent, project, signed, env, port, exactPort } = options;
    this.failure = new Promise((_, reject) => {
      this.fail = reject;
    });
    const config = signed ? { SVC_TOOLKIT_CONFIG_PATH: join(folder, "config.json") } : {};
    if (signed) ensureDevKeys(folder);
    this.document = readOutput(project.root, "meta.json")?.toString();
    this.server = new DevServer({
      cwd: project.root,
      host: "127.0.0.1",
      port,
      exactPort,
      env: { ...env, ...config },
      onLine: (line) => onEvent({ event: "line", line }),
      onExit: (reason) => {
        this.removeState();
        onEvent({ event: "ended", reason });
      },
    });
  }

  close(): Promise<void> {
    this.removeState();
    return this.server.close();
  }

  private removeState(): void {
    if (this.state !== undefined) rmSync(this.state, { force: true });
    this.state = undefined;
  }

  /** One run of the generator: reports it, and serves its build, unless a newer run comes meanwhile. */
  handle(result: WatchResult): void {
    const run = ++this.run;
    const judged = judgeDisputed(layoutOf(this.options.project), result.diagnostics);
    if (judged === undefined) this.finish(result);
    else {
      judged
        .then((diagnostics) => {
          if (run === this.run) this.finish({ ...result, diagnostics });
        })
        .catch(this.fail);
    }
  }

  private finish(result: WatchResult): void {
    const { diagnostics, wrote, milliseconds } = result;
    const { onEvent } = this.options;
    const report = (changes: readonly Difference[]) =>
      onEvent({ event: "run", diagnostics, wrote, milliseconds, changes, serving: this.server.isServing });
    if (hasErrors(diagnostics)) {
      report([]);
      return;
    }
    const document = result.files.find(({ path }) => path === "meta.json")?.text ?? "[]";
    report(this.changesTo(document));
    if (this.options.signed) writeDevConfig(this.folder, namesOf(document));
    const from = performance.now() - milliseconds;
    this.waiting = { ...result.compile(this.compiledFolder()), document, from };
    // Without another server, one that is starting may become the last good one.
    if (this.server.isServing) this.server.cancelStart();
    this.startWaiting().catch(this.fail);
  }

  /** For a project whose tsconfig names no output folder. Only there are the packages of the project found. */
  private compiledFolder(): string {
    return join(this.options.project.root, DEV_FOLDER, "dist");
  }

  /** Starts the waiting builds, one after another. */
  private async startWaiting(): Promise<void> {
    if (this.isStarting) return;
    this.isStarting = true;
    for (let build = this.waiting; build !== undefined; build = this.waiting) {
      this.waiting = undefined;
      await this.start(build);
    }
    this.isStarting = false;
  }

  private async start({ files, entrypoint, document, from }: Build): Promise<void> {
    const { onEvent, signed } = this.options;
    const changed = files.filter(({ target, content }) => this.written.get(target) !== content);
    if (changed.length === 0 && this.server.isServing) return;
    const started = this.write(changed) ?? (await this.server.start(entrypoint));
    if (started.state === "failed") {
      onEvent({ event: "failed", reason: started.reason, serving: this.server.isServing });
    } else if (started.state === "serving") {
      const { url } = started;
      this.writeState(url);
      const milliseconds = Math.round(performance.now() - from);
      onEvent({ event: "serving", url, signed, tools: servedDocuments(document, url), milliseconds });
    }
  }

  /** Writes the file by which other commands find the server. */
  private writeState(url: string): void {
    const state = stateFile(this.folder, url);
    if (state === this.state) return;
    this.removeState();
    this.state = state;
    const { signed, page } = this.options;
    const content = `${JSON.stringify({ url, signed, pid: process.pid, page } satisfies DevState)}\n`;
    replaceFiles([{ target: state, content, mode: 0o600 }]);
  }

  /** Writes compiled files; the failure if the disk refuses them. */
  private write(files: Compiled["files"]): Extract<Started, { state: "failed" }> | undefined {
    try {
      const { root } = this.options.project;
      const own = join(root, DEV_FOLDER);
      const isOwn = files.some(({ target }) => isWithin(own, target));
      const ignored = isOwn ? [{ target: join(own, ".gitignore"), content: "*\n" }] : [];
      // A link that leads to the outDir of the tsconfig is the author's.
      replaceFiles([...ignored, ...files], (target) => (isOwn ? baseOf(root, dirname(target)) : dirname(target)));
    } catch (error) {
      if (error instanceof UnwritableError) return { state: "failed", reason: error.message };
      throw error;
    }
    for (const { target, content } of files) this.written.set(target, content);
    return undefined;
  }

  /** What changed since the last good run. */
  private changesTo(document: string): readonly Difference[] {
    const before = this.document;
    this.document = document;
    if (before === undefined || before === document) return [];
    const texts = [before, document].map((text) => ({ name: "meta.json", text })) as [NamedDocument, NamedDocument];
    return diffDocuments(...texts).filter(({ verdict }) => verdict !== "same");
  }
}

function namesOf(document: string): string[] {
  return (JSON.parse(document) as readonly { readonly fqn: string }[]).map(({ fqn }) => fqn);
}

type NamedDocument = Parameters<typeof diffDocuments>[0];
