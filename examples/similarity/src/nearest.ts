import { SvcTool } from "svc-runtime";
import { type Costs, editDistance, wordDistance } from "./distance.js";

/** Method of comparison. */
export enum Measure {
  /** Cost of editing one text into the other, relative to the cost of writing it from scratch. */
  Edits = "edits",
  /** Share of words that the texts do not have in common. */
  Words = "words",
}

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

export type Output = {
  ok: {
    /** Nearest first, then by name. The list is inside an object because it may be empty. */
    found: { matches: (Named & Measured)[] };
  };
};

/** Finds the nearest of several texts. Calls run on worker threads, because they use much CPU time. */
export class Nearest extends SvcTool<Input, Output> {
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

  /** A call that still runs 200 ms after its deadline is terminated with its thread. */
  static override isolate() {
    return { threads: 2, memoryMb: 128, graceMs: 200 };
  }

  override async invoke({
    text,
    candidates,
    measure = Measure.Edits,
    keep = 1,
    costs = [1, 1, 1],
  }: Input): Promise<Output> {
    const distance = measure === Measure.Words ? wordDistance : shareOfEdits(costs);
    const matches = Object.entries(candidates)
      .map(([name, candidate]) => ({ name, distance: distance(text, candidate) }))
      .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
    if (typeof keep === "number") return { ok: { found: { matches: matches.slice(0, keep) } } };
    return { ok: { found: { matches: matches.filter((match) => match.distance <= keep.upTo) } } };
  }
}

/** Cost of the edits, relative to deleting one text and inserting the other. */
function shareOfEdits(costs: Costs): (from: string, to: string) => number {
  const [insertion, deletion] = costs;
  return (from, to) => {
    const anew = Array.from(from).length * deletion + Array.from(to).length * insertion;
    return anew === 0 ? 0 : Math.min(1, editDistance(from, to, costs) / anew);
  };
}
