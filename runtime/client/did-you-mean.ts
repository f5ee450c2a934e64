import { distance } from "fastest-levenshtein";

const MAX_DISTANCE = 2;

/** Known names within a small edit distance of `name`, nearest first. Ignores case. */
export function closest(name: string, known: readonly string[], maxDistance = MAX_DISTANCE): readonly string[] {
  if (name.length > 100) return [];
  const wanted = name.toLowerCase();
  const limit = Math.min(maxDistance, Math.floor(wanted.length / 2));
  return known
    .map((each) => ({ each, steps: distance(wanted, each.toLowerCase()) }))
    .filter(({ steps }) => steps <= limit)
    .sort((one, other) => one.steps - other.steps)
    .map(({ each }) => each);
}

/** `"; did you mean X?"`, or an empty text if no name is similar. */
export function didYouMean(name: string, known: readonly string[], maxDistance?: number): string {
  const [nearest] = closest(name, known, maxDistance);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}
