/** Members that a type does not declare by name: what index signatures make of them, and how unions choose by them. */

import { MAX_MATCHED_LENGTH } from "./constraints.js";
import type { Codec } from "./contract.js";
import { Mismatch, unionMismatch } from "./mismatch.js";

/**
 * Compiles the index signatures of an object.
 *
 * @returns the compiled codec of a name, undefined for a name that no index signature takes (one too long to be matched
 * included); undefined when there are none
 */
export function compileIndexes<T>(
  { patterns, rest }: Extract<Codec, { kind: "object" }>,
  compile: (codec: Codec) => T,
): ((name: string) => T | undefined) | undefined {
  const other = rest === undefined ? undefined : compile(rest);
  if (patterns === undefined) return other && (() => other);
  const named = patterns.map(([pattern, codec]) => [new RegExp(pattern, "u"), compile(codec)] as const);
  return (name) =>
    (name.length > MAX_MATCHED_LENGTH ? undefined : named.find(([pattern]) => pattern.test(name))?.[1]) ?? other;
}

/** What may hold members, and `json`, which leaves none out. */
const HOLDING: ReadonlySet<Codec["kind"]> = new Set(["json", "object", "array", "tuple", "ref"]);

/** Whether a value may fit several branches of a union, of which some do not declare all of its members. */
export function mayShareValues(branches: readonly Codec[]): boolean {
  return branches.flatMap(alternatives).filter(({ kind }) => HOLDING.has(kind)).length > 1;
}

/** A codec, or the branches of one that is a union itself. */
function alternatives(codec: Codec): readonly Codec[] {
  return codec.kind === "union" ? codec.branches.flatMap(alternatives) : [codec];
}

/** What counts members that were passed over since a union began to choose; they are counted only where one does. */
export interface Tally {
  passedOver: number;
}

/**
 * Chooses a branch of a union, and counts the members that it passes over as passed over by the union.
 *
 * @param attempt what a branch makes of the value
 * @returns what the first of those branches makes of it that pass over the fewest members; where none fits, what is wrong
 */
export function chooseBranch<B, T>(
  branches: readonly B[],
  tally: Tally,
  attempt: (branch: B) => T | Mismatch,
): T | Mismatch {
  const before = tally.passedOver;
  const mismatches: Mismatch[] = [];
  let best: T | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const branch of branches) {
    tally.passedOver = 0;
    const made = attempt(branch);
    if (made instanceof Mismatch) mismatches.push(made);
    else if (tally.passedOver < fewest) {
      best = made;
      fewest = tally.passedOver;
      if (fewest === 0) break;
    }
  }
  const fits = mismatches.length < branches.length;
  tally.passedOver = before + (fits ? fewest : 0);
  return fits ? (best as T) : unionMismatch(mismatches);
}
