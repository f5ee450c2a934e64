/** Checks `@default` and `@example` values against the type, as a server decodes it. */

import { formats, ValueDecoder, WireFault } from "svc-runtime/internal/generator";
import { OutOfTime, runWithin } from "../../process/run-within.js";
import { type Json, printJson } from "../../text/json.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import type { Example, Tool } from "../model.js";
import { codec } from "./codecs.js";

/** Returns a diagnostic for each value that does not fit its type. */
export function checkExamples(examples: readonly Example[], { definitions }: Tool): Diagnostic[] {
  const codecs = definitions.map(({ name, shape }) => [name, codec(shape)] as const);
  return examples.flatMap(({ value, shape, optional, subject, place }) => {
    if (value === null && optional) return [];
    const decoder = new ValueDecoder(codec(shape), codecs, { formats });
    const problem = problemWithin(() => decodingProblem(value, decoder));
    return problem === undefined ? [] : [diagnostic("SVC173", { place, subject }, problem)];
  });
}

/** Time limit for one value, in milliseconds. Most take less than 1 ms, but a pattern can take exponential time. */
const LIMIT_MS = 2_000;

function problemWithin(judge: () => string | undefined): string | undefined {
  try {
    return runWithin(LIMIT_MS, judge);
  } catch (error) {
    if (error instanceof OutOfTime) return `matching it against the pattern takes longer than ${LIMIT_MS} ms`;
    throw error;
  }
}

function decodingProblem(value: Json, decoder: ValueDecoder): string | undefined {
  // JSON has no infinite numbers.
  if (typeof value === "number" && !Number.isFinite(value)) return "expected a number within the range of doubles";
  try {
    decoder.read(Buffer.from(printJson(value)));
    return undefined;
  } catch (error) {
    if (error instanceof WireFault) return error.details;
    throw error;
  }
}
