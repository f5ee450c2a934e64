const MAX_DISTANCE = 2;

/** Known names within a small edit distance of `name`, nearest first. Ignores case. */
export function closest(name: string, known: readonly string[], maxDistance = MAX_DISTANCE): readonly string[] {
  if (name.length > 100) return [];
  const wanted = name.toLowerCase();
  const limit = Math.min(maxDistance, Math.floor(wanted.length / 2));
  return known
    .map((each) => {
      const steps = distance(wanted, each.toLowerCase());
      // As many steps as missing characters: an abbreviation, such as `kid` of `keyId`.
      const isShort = steps <= maxDistance && steps < wanted.length && steps === each.length - wanted.length;
      return { each, steps: isShort ? Math.min(steps, 0.5) : steps };
    })
    .filter(({ steps }) => steps <= limit)
    .sort((one, other) => one.steps - other.steps)
    .map(({ each }) => each);
}

/** `"; did you mean X?"`, or an empty text if no name is similar. */
export function didYouMean(name: string, known: readonly string[], maxDistance?: number): string {
  const [nearest] = closest(name, known, maxDistance);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

/** Edit distance (Levenshtein): the least number of characters to insert, delete or replace. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] as number) + (one[i] === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[other.length] as number;
}
