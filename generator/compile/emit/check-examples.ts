/** Checks `@default` and `@example` values against the type, as a server decodes it. */

import { formats, ValueDecoder, WireFault } from "svc-runtime/internal/generator";
import { OutOfTime, runWithin } from "../../process/run-within.js";
import { type Json, JsonObject, printJson } from "../../text/json.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import type { Example, Tool } from "../model.js";
import { codec } from "./codecs.js";

/** Diagnostics of the values that do not fit their types, and the tool without such values of dependencies. */
export function checkExamples(examples: readonly Example[], tool: Tool): { tool: Tool; unfit: readonly Diagnostic[] } {
  const codecs = tool.definitions.map(({ name, shape }) => [name, codec(shape)] as const);
  const dropped = new Set<unknown>();
  const unfit = examples.flatMap(({ value, shape, optional, subject, place, foreign }) => {
    if (value === null && optional) return [];
    const decoder = new ValueDecoder(codec(shape), codecs, { formats });
    const problem = problemWithin(() => decodingProblem(value, decoder));
    if (problem === undefined) return [];
    if (foreign === undefined) return [diagnostic("SVC173", { place, subject }, problem)];
    dropped.add(foreign);
    return [];
  });
  return { tool: dropped.size === 0 ? tool : (without(tool, dropped) as Tool), unfit };
}

/** Copy of plain data without some elements of its lists. */
function without(value: unknown, dropped: ReadonlySet<unknown>): unknown {
  if (Array.isArray(value)) return value.filter((each) => !dropped.has(each)).map((each) => without(each, dropped));
  if (value === null || typeof value !== "object" || value instanceof JsonObject) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, without(each, dropped)]));
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
