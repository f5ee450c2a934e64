import type { JsonDocument } from "../json/document.js";
import { DefinitionMemo } from "./definitions.js";

/** Decodes an entry to the tool's value, or returns a {@link Mismatch} if the entry does not fit. */
export type Decode = (document: JsonDocument, entry: number, context: DecodeContext) => unknown;

/** Limits the work of the unions of one call. */
export interface Steps {
  /** @throws {@link WireFault} when too few steps are left */
  take(steps: number): void;
}

/** State of decoding one document. */
export class DecodeContext extends DefinitionMemo {
  /** Number of unions, around the current value, that are trying several branches. */
  choices = 0;
  /** How many more failed union values may be explained by all branches (see `MAX_EXPLANATIONS`). */
  explanations = MAX_EXPLANATIONS;

  /**
   * @param strict whether a repeated declared member is an error; otherwise its last value is used
   * @param steps budget for the unions of all documents of a call; unlimited by default
   */
  constructor(
    readonly strict: boolean,
    readonly steps?: Steps,
  ) {
    super();
  }
}

/**
 * Maximum number of failed union values whose message considers all branches; later messages consider only likely
 * branches.
 */
const MAX_EXPLANATIONS = 100;
