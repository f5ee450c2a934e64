/** Index signatures of objects, and the choice of a union's branch by the number of undeclared members. */

import { MAX_MATCHED_LENGTH } from "../constraints.js";
import type { Codec, CodecOf } from "../contract.js";
import { Mismatch, unionMismatch } from "../mismatch.js";

/**
 * Compiles the index signatures of an object.
 *
 * @returns undefined if there are none; otherwise a function from a name to its compiled codec. That function returns
 * undefined for a name that no index signature matches, or that is too long to be matched.
 */
export function compileIndexes<A, B, C extends Tally, T>(
  { patterns, rest }: CodecOf<"object">,
  compile: (codec: Codec) => Walk<A, B, C, T>,
): ((name: string) => Walk<A, B, C, T> | undefined) | undefined {
  const other = rest === undefined ? undefined : compile(rest);
  if (patterns === undefined) return other && (() => other);
  const named = patterns.map(([pattern, codec]) => [new RegExp(pattern, "u"), compile(codec)] as const);
  return (name) => {
    if (named.length > 0 && name.length > MAX_MATCHED_LENGTH) return undefined;
    const [first, ...more] = named.flatMap(([pattern, compiled]) => (pattern.test(name) ? [compiled] : []));
    return first === undefined ? other : more.length === 0 ? first : fitAll(first, more);
  };
}

/** Compiled codec, which decodes or encodes a value. Returns a {@link Mismatch} if the value does not fit. */
type Walk<A, B, C extends Tally, T> = (one: A, other: B, context: C) => T;

/** Decodes or encodes by the first codec if the value fits all of them. */
function fitAll<A, B, C extends Tally, T>(
  first: Walk<A, B, C, T>,
  others: readonly Walk<A, B, C, T>[],
): Walk<A, B, C, T> {
  return (one, other, context) => {
    const made = first(one, other, context);
    if (made instanceof Mismatch) return made;
    const { undeclaredCount } = context;
    for (const check of others) {
      const checked = check(one, other, context);
      if (checked instanceof Mismatch) return checked;
    }
    context.undeclaredCount = undeclaredCount;
    return made;
  };
}

/** Codecs of values that may have members. Includes `json`, which accepts all members and counts none as undeclared. */
const CONTAINER_KINDS: ReadonlySet<Codec["kind"]> = new Set(["json", "object", "array", "tuple", "ref"]);

/** Whether a value may fit several branches of a union that differ in their declared members. */
export function branchesOverlap(branches: readonly Codec[]): boolean {
  return branches.flatMap(flattenBranches).filter(({ kind }) => CONTAINER_KINDS.has(kind)).length > 1;
}

/** Branches of a codec, without wrappers and with nested unions flattened. */
function flattenBranches(codec: Codec): readonly Codec[] {
  if (codec.kind === "wrapped") return flattenBranches(codec.item);
  return codec.kind === "union" ? codec.branches.flatMap(flattenBranches) : [codec];
}

/** Count of undeclared members, by which a union chooses a branch. */
export interface Tally {
  undeclaredCount: number;
}

/**
 * Chooses, of the branches that fit, the first of those with the fewest undeclared members. Adds that number to the
 * tally.
 *
 * @param attempt decodes or encodes the value by a branch
 * @param explain creates the mismatch if no branch fits; by default the most specific one
 * @returns the result of the chosen branch, or the mismatch
 */
export function chooseBranch<B, T>(
  branches: readonly B[],
  tally: Tally,
  attempt: (branch: B) => T | Mismatch,
  explain: (mismatches: readonly Mismatch[]) => Mismatch = unionMismatch,
): T | Mismatch {
  const before = tally.undeclaredCount;
  const mismatches: Mismatch[] = [];
  let best: T | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const branch of branches) {
    tally.undeclaredCount = 0;
    const made = attempt(branch);
    if (made instanceof Mismatch) mismatches.push(made);
    else if (tally.undeclaredCount < fewest) {
      best = made;
      fewest = tally.undeclaredCount;
      if (fewest === 0) break;
    }
  }
  const fits = mismatches.length < branches.length;
  const mismatch = fits ? undefined : explain(mismatches);
  tally.undeclaredCount = before + (fits ? fewest : 0);
  return mismatch ?? (best as T);
}
