/**
 * The generator and the compiler of `svc-gen dev`, in a thread: while they work, signals are handled and calls are
 * logged, and they can be ended at any time.
 */

import { Worker } from "node:worker_threads";
import type { Diagnostic } from "../compile/diagnostics/diagnostics.js";
import type { Compiled } from "../compile/project/emit-javascript.js";
import type { GenerateOptions } from "../compile/project/layout.js";

export interface BuilderWork {
  readonly project: GenerateOptions;
  /** The output folder of a project whose tsconfig names none. */
  readonly compiledFolder: string;
}

/** A run of the generator. */
export interface BuilderRun {
  readonly diagnostics: readonly Diagnostic[];
  /** Generated files that were written. */
  readonly wrote: readonly string[];
  /** Since the first event that caused the run. */
  readonly milliseconds: number;
  /** With the text of `meta.json`; absent when there are errors. */
  readonly compiled?: Compiled & { readonly document: string };
}

/** `begin` is followed by one of the others. */
export type BuilderMessage =
  | { readonly kind: "begin" }
  | { readonly kind: "unchanged" }
  | { readonly kind: "failed"; readonly reason: string }
  | ({ readonly kind: "run" } & BuilderRun);

export class Builder {
  /** Rejects when the thread ends by itself, such as without memory. */
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

  /** Ends the thread, also within a run. */
  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
