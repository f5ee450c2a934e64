/**
 * Serves the newest build: one start at a time, and a start of an older build is cancelled. Without processes and files,
 * which the server has.
 */

/** If two builds have the same key, no restart is needed. */
export interface Startable {
  readonly key: string;
}

export type Started =
  | { readonly state: "serving"; readonly url: string }
  /** The process ended before it served. */
  | { readonly state: "failed"; readonly reason: string }
  | { readonly state: "cancelled" };

export interface BuildServer<Build> {
  /** Whether a process serves. While a build starts, this may be the process of the build before it. */
  readonly isServing: () => boolean;
  readonly start: (build: Build) => Promise<Started>;
  /** Ends the starting process. Its start resolves as cancelled. */
  readonly cancelStart: () => void;
}

export interface BuildEvents<Build> {
  /** A build is served; `isNew` if by a new process. */
  readonly onServing: (build: Build, url: string, isNew: boolean) => void;
  /** The newest build did not start. */
  readonly onFailed: (reason: string) => void;
}

export class NewestBuild<Build extends Startable> {
  readonly #server: BuildServer<Build>;
  readonly #events: BuildEvents<Build>;
  #newest: Build | undefined;
  #starting: Build | undefined;
  /** The build of the process that served last. */
  #served: { readonly key: string; readonly url: string } | undefined;
  #isStopped = false;

  constructor(server: BuildServer<Build>, events: BuildEvents<Build>) {
    this.#server = server;
    this.#events = events;
  }

  /** Serves a build, unless a process with the same key serves or starts. Rejects if the server cannot start any. */
  async serve(build: Build): Promise<void> {
    this.#newest = build;
    if (this.#starting === undefined) await this.#catchUp();
    else if (this.#starting.key !== build.key) this.#server.cancelStart();
  }

  /** Starts the newest build again after its process ended, unless another one serves or starts. */
  async again(): Promise<void> {
    if (this.#starting === undefined && !this.#server.isServing()) await this.#catchUp();
  }

  /** From now on nothing starts, and there are no events. */
  stop(): void {
    this.#isStopped = true;
  }

  async #catchUp(): Promise<void> {
    // A build that was cancelled may be the newest one again.
    for (let done: string | undefined; this.#newest !== undefined && this.#newest.key !== done; ) {
      if (this.#isStopped) return;
      const build = this.#newest;
      if (this.#server.isServing() && this.#served?.key === build.key) {
        this.#events.onServing(build, this.#served.url, false);
        return;
      }
      this.#starting = build;
      const outcome = await this.#server.start(build);
      this.#starting = undefined;
      done = outcome.state === "cancelled" ? undefined : build.key;
      if (this.#isStopped) return;
      if (outcome.state === "serving") {
        this.#served = { key: build.key, url: outcome.url };
        this.#events.onServing(build, outcome.url, true);
      } else if (outcome.state === "failed" && this.#newest.key === build.key) this.#events.onFailed(outcome.reason);
    }
  }
}
