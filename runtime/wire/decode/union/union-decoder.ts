/** Decodes unions that have no discriminator. */

import type { Codec } from "../../contract.js";
import { ARRAY, endAt, type JsonDocument, kindAt, startAt } from "../../json/document.js";
import type { Decode, DecodeContext } from "../decode-context.js";
import { Mismatch, unionMismatch } from "../mismatch.js";
import { BranchFilter } from "./branch-filter.js";
import { chooseBranch } from "./union-choice.js";

/** Steps for each attempt at a branch, in addition to the members and items that it reads. */
const STEPS_OF_TRY = 4;
/** Bytes of a string or number that cost one step. */
const BYTES_OF_STEP = 64;

export class UnionDecoder {
  readonly #filter: BranchFilter;

  readonly #branches: readonly Decode[];

  /** @param branches decoders of the codecs, in the same order */
  constructor(codecs: readonly Codec[], resolve: (name: string) => Codec | undefined, branches: readonly Decode[]) {
    this.#branches = branches;
    this.#filter = new BranchFilter(codecs, resolve);
  }

  /** Tries only the branches that may fit. */
  decode(document: JsonDocument, entry: number, context: DecodeContext): unknown {
    const branches = this.#branches;
    const candidates = this.#filter.candidates(document, entry, context.steps);
    if (candidates.length === 1) {
      const value = (branches[candidates[0] as number] as Decode)(document, entry, context);
      return value instanceof Mismatch ? this.#mismatch(document, entry, context, candidates, [value]) : value;
    }
    return chooseBranch(
      candidates,
      context,
      (at) => this.#attempt(document, entry, context, at),
      (mismatches) => this.#mismatch(document, entry, context, candidates, mismatches),
    );
  }

  #attempt(document: JsonDocument, entry: number, context: DecodeContext, at: number): unknown {
    const isScalar = kindAt(document, entry) < ARRAY;
    const length = isScalar ? endAt(document, entry) - startAt(document, entry) : 0;
    context.steps?.take(STEPS_OF_TRY + Math.floor(length / BYTES_OF_STEP));
    context.choices++;
    const value = (this.#branches[at] as Decode)(document, entry, context);
    context.choices--;
    return value;
  }

  /**
   * Combined mismatch of all branches. After `MAX_EXPLANATIONS` failed values, combines only the branches tried so far.
   */
  #mismatch(
    document: JsonDocument,
    entry: number,
    context: DecodeContext,
    tried: readonly number[],
    mismatches: readonly Mismatch[],
  ): Mismatch {
    if (tried.length === this.#branches.length) return unionMismatch(mismatches);
    if (context.explanations === 0) {
      return mismatches.length > 0 ? unionMismatch(mismatches) : new Mismatch("a value of the union", "another");
    }
    context.explanations--;
    const all = this.#branches.map((_, at) => {
      const place = tried.indexOf(at);
      return place < 0 ? this.#attempt(document, entry, context, at) : mismatches[place];
    });
    return unionMismatch(all.filter((each) => each instanceof Mismatch));
  }
}
