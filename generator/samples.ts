/** The values of `@default` and `@example` against the types that they stand for. */

import { type Diagnostic, diagnostic } from "./diagnostics.js";
import { type Json, JsonObject } from "./json.js";
import type { Definition, Place, Shape } from "./model.js";
import { openChecker } from "./validators.js";

/** One value of a comment, as the wire would carry it. */
export interface Sample {
  readonly value: Json;
  readonly shape: Shape;
  /** Whether `null` stands for an absent value. */
  readonly optional: boolean;
  readonly subject: string;
  /** Of the tag. */
  readonly place: Place;
}

/** A complaint for each value that the type does not take. */
export function findMisfits(samples: readonly Sample[], definitions: readonly Definition[]): Diagnostic[] {
  if (samples.length === 0) return [];
  const check = openChecker(definitions);
  return samples.flatMap(({ value, shape, optional, subject, place }) => {
    const problem = value === null && optional ? undefined : check(shape, plain(value));
    return problem === undefined ? [] : [diagnostic("SVC173", { place, subject }, problem)];
  });
}

/** The tree that a validator sees: integers beyond ±(2^53−1) are bigints. */
function plain(json: Json): unknown {
  if (Array.isArray(json)) return json.map(plain);
  if (!(json instanceof JsonObject)) return json;
  const object = {};
  for (const [name, value] of json.members) {
    Object.defineProperty(object, name, { value: plain(value), enumerable: true });
  }
  return object;
}
