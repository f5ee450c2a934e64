/** Decodes unions that have no discriminator. */

import { ARRAY, endAt, type JsonDocument, kindAt, startAt } from "../../json/document.js";
import type { Codec } from "../contract.js";
import type { Decode, DecodeContext } from "../decode-context.js";
import type { ResolveDefinition } from "../definitions.js";
import { Mismatch, unionMismatch } from "../mismatch.js";
import { BranchFilter } from "./branch-filter.js";
import { chooseBranch } from "./union-choice.js";

/** Steps for each attempt at a branch, in addition to the members and items that it reads. */
const STEPS_OF_TRY = 4;
/** Bytes of a string or number that cost one step. */
const BYTES_OF_STEP = 64;

/**
 * Decoder of a union, which tries only the branches that may fit.
 *
 * @param branches decoders of the codecs, in the same order
 */
export function unionDecoder(
  codecs: readonly Codec[],
  resolve: ResolveDefinition,
  branches: readonly Decode[],
): Decode {
  const filter = new BranchFilter(codecs, resolve);
  const attempt = (document: JsonDocument, entry: number, context: DecodeContext, at: number): unknown => {
    const isScalar = kindAt(document, entry) < ARRAY;
    const length = isScalar ? endAt(document, entry) - startAt(document, entry) : 0;
    context.steps?.take(STEPS_OF_TRY + Math.floor(length / BYTES_OF_STEP));
    context.choices++;
    const value = (branches[at] as Decode)(document, entry, context);
    context.choices--;
    return value;
  };
  /** Combined mismatch of all branches. After `MAX_EXPLANATIONS` failed values, combines only the branches tried so far. */
  const explain = (
    document: JsonDocument,
    entry: number,
    context: DecodeContext,
    tried: readonly number[],
    mismatches: readonly Mismatch[],
  ): Mismatch => {
    if (tried.length === branches.length) return unionMismatch(mismatches);
    if (context.explanations === 0) {
      return mismatches.length > 0 ? unionMismatch(mismatches) : new Mismatch("a value of the union", "another value");
    }
    context.explanations--;
    const all = branches.map((_, at) => {
      const place = tried.indexOf(at);
      return place < 0 ? attempt(document, entry, context, at) : mismatches[place];
    });
    return unionMismatch(all.filter((each) => each instanceof Mismatch));
  };
  return (document, entry, context) => {
    const candidates = filter.candidates(document, entry, context.steps);
    if (candidates.length === 1) {
      const value = (branches[candidates[0] as number] as Decode)(document, entry, context);
      return value instanceof Mismatch ? explain(document, entry, context, candidates, [value]) : value;
    }
    return chooseBranch(
      candidates,
      context,
      (at) => attempt(document, entry, context, at),
      (mismatches) => explain(document, entry, context, candidates, mismatches),
    );
  };
}
