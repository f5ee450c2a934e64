/**
 * Runs the generator and the compiler of `svc-gen dev` on a thread, so that meanwhile signals are handled and calls are
 * logged. The thread can be terminated at any time.
 */

import { Worker } from "node:worker_threads";
import type { Diagnostic } from "../compile/diagnostics/diagnostics.js";
import type { Compiled } from "../compile/project/emit-javascript.js";
import type { GenerateOptions } from "../compile/project/layout.js";

export interface BuilderWork {
  readonly project: GenerateOptions;
  /** Output folder for a project whose tsconfig has none. */
  readonly compiledFolder: string;
}

/** Result of a run of the generator. */
export interface BuilderRun {
  readonly diagnostics: readonly Diagnostic[];
  readonly wrote: readonly string[];
  /** Milliseconds since the first event that caused the run. */
  readonly milliseconds: number;
  /** Compiled files and the text of `meta.json`; absent if there are errors. */
  readonly compiled?: Compiled & { readonly document: string };
}

/** Messages of the thread, one for each run that is not the same as the one before. */
export type BuilderMessage =
  | { readonly kind: "failed"; readonly reason: string }
  | ({ readonly kind: "run" } & BuilderRun);

export class Builder {
  /** Rejects if the thread ends unexpectedly, for example because it is out of memory. */
  readonly failure: Promise<never>;
  readonly #thread: Worker;

  constructor(work: BuilderWork, onMessage: (message: BuilderMessage) => void) {
    this.#thread = new Worker(new URL("./builder-thread.js", import.meta.url), { workerData: work });
    this.#thread.on("message", onMessage);
    this.failure = new Promise((_, reject) => {
      this.#thread.once("error", reject);
      this.#thread.once("exit", (code) => reject(new Error(`the compiler's thread ended with code ${code}`)));
    });
  }

  /** Terminates the thread, even during a run. */
  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
