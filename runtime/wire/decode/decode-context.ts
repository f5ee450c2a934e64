/** State of decoding one document, and the type of compiled decoders. */

import { DefinitionMemo } from "../definitions.js";
import type { JsonDocument } from "../json/document.js";
import type { UnionSteps } from "./union/union-steps.js";

/** Decodes an entry to the tool's value; a {@link Mismatch} when it does not fit. */
export type Decode = (document: JsonDocument, entry: number, context: DecodeContext) => unknown;

/** State of decoding one document. */
export class DecodeContext extends DefinitionMemo {
  /** Number of unions around the current value of which several branches are tried. */
  choices = 0;
  /** Number of values that fit no branch whose mismatch may still describe all branches. */
  explanations = MAX_EXPLANATIONS;

  /**
   * @param strict whether a repeated declared member is a fault; otherwise its last value counts
   * @param steps limit of the work for unions, shared by all documents of a call; none by default
   */
  constructor(
    readonly strict: boolean,
    readonly steps?: UnionSteps,
  ) {
    super();
  }
}

/** Values that fit no branch of a union are described by all branches up to this number, then by the likely ones. */
const MAX_EXPLANATIONS = 100;
