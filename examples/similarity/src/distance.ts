/** Distances between two texts. */

/** Method of comparison. */
export enum Measure {
  /** Cost of editing one text into the other, relative to the cost of writing it from scratch. */
  Edits = "edits",
  /** Share of words that the texts do not have in common. */
  Words = "words",
}

/** Costs of inserting, deleting and replacing one character. */
export type Costs = readonly [insertion: number, deletion: number, replacement: number];

/**
 * The minimum cost of edits that turn `from` into `to`, by character (Wagner and Fischer). Time is proportional to the
 * product of the lengths, memory to the length of `to`.
 */
export function editDistance(from: string, to: string, [insertion, deletion, replacement]: Costs): number {
  const target = Array.from(to);
  let row = Float64Array.from({ length: target.length + 1 }, (_, at) => at * insertion);
  let above = new Float64Array(row.length);
  for (const character of from) {
    [above, row] = [row, above];
    row[0] = (above[0] as number) + deletion;
    for (let at = 0; at < target.length; at++) {
      const kept = (above[at] as number) + (target[at] === character ? 0 : replacement);
      row[at + 1] = Math.min(kept, (above[at + 1] as number) + deletion, (row[at] as number) + insertion);
    }
  }
  return row[target.length] as number;
}

/** Jaccard distance of the words of two texts, from 0 to 1. */
export function wordDistance(one: string, other: string): number {
  const [first, second] = [wordsOf(one), wordsOf(other)];
  const all = new Set([...first, ...second]);
  if (all.size === 0) return 0;
  return 1 - [...first].filter((word) => second.has(word)).length / all.size;
}

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
