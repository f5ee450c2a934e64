import { SvcTool } from "svc-runtime";
import { type Costs, editDistance, wordDistance } from "./distance.js";

/** How texts are compared. */
export enum Measure {
  /** By the cost of edits that make one of the other, of the cost of writing it anew. */
  Edits = "edits",
  /** By the words that they do not have in common. */
  Words = "words",
}

export interface Input {
  /**
   * Compared with each candidate.
   * @maxLength 20000
   */
  text: string;
  /** Texts by names of the caller's. */
  candidates: Record<string, string>;
  /** `edits` when it is left out. */
  measure?: Measure;
  /** How many of the nearest, or all up to a distance: one when it is left out. */
  keep?: Count | { upTo: Distance };
  /**
   * Costs of an inserted, a deleted and a replaced character, for `edits`: 1 each when they are left out.
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
 * 0 for equal texts, 1 for those that have nothing in common.
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
    /** The nearest first; those at one distance in the order of their names. A list in an object, since it may be empty. */
    found: { matches: (Named & Measured)[] };
  };
};

/** Finds the nearest of some texts. It computes for long, so its calls run on threads of their own. */
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

  /** A call that goes on 200 ms after its deadline is ended with its thread. */
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

/** The cost of the edits, of that of deleting the one text and inserting the other. */
function shareOfEdits(costs: Costs): (from: string, to: string) => number {
  const [insertion, deletion] = costs;
  return (from, to) => {
    const anew = Array.from(from).length * deletion + Array.from(to).length * insertion;
    return anew === 0 ? 0 : Math.min(1, editDistance(from, to, costs) / anew);
  };
}
