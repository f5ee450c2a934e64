import { Piscina } from "piscina";
import { type InvokeContext, SvcTool } from "svc-runtime";
import type { Measure } from "./distance.js";

export interface Input {
  /**
   * The text to compare with each candidate.
   * @maxLength 20000
   */
  text: string;
  /** Candidate texts by name. The caller chooses the names. */
  candidates: Record<string, string>;
  /** Default: `edits`. */
  measure?: Measure;
  /** Number of nearest texts to return, or a maximum distance. Default: one text. */
  keep?: Count | { upTo: Distance };
  /**
   * Costs of inserting, deleting and replacing a character, for `edits`. Default: 1 each.
   * @acknowledge SVC156
   */
  costs?: [insertion: Cost, deletion: Cost, replacement: Cost];
}

/**
 * @asType integer
 * @minimum 1
 * @maximum 50
 */
export type Count = number;

/**
 * 0 for equal texts, 1 for texts with nothing in common.
 * @minimum 0
 * @maximum 1
 */
export type Distance = number;

/**
 * @minimum 0.01
 * @maximum 100
 */
export type Cost = number;

export interface Named {
  name: string;
}

export interface Measured {
  distance: Distance;
}

export interface Found {
  matches: (Named & Measured)[];
}

export type Output = {
  ok: {
    /** Nearest first, then by name. The list is inside an object because it may be empty. */
    found: Found;
  };
};

/** Finds the nearest of several texts. The comparison runs on worker threads, because it uses much CPU time. */
export class Nearest extends SvcTool<Input, Output> {
  static #pool: Piscina<Input, Found>;

  static override fqn() {
    return "text.similar.nearest@1";
  }

  static override description() {
    return "Finds the nearest of some texts, by edits or by words.";
  }

  static override path() {
    return "nearest";
  }

  static override timeout() {
    return 3_000;
  }

  static override create() {
    Nearest.#pool = new Piscina({
      filename: new URL("./search.js", import.meta.url).href,
      minThreads: 2,
      maxThreads: 2,
      maxQueue: 100,
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
  }

  static override async close() {
    await Nearest.#pool.destroy();
  }

  /** At the deadline, the signal makes the pool end the thread of the call and start another one. */
  override async invoke(input: Input, { signal }: InvokeContext): Promise<Output> {
    return { ok: { found: await Nearest.#pool.run(input, { signal }) } };
  }
}
