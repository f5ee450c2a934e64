/** The comparison, on a thread of the pool. */

import { type Costs, editDistance, Measure, wordDistance } from "./distance.js";
import type { Found, Input } from "./nearest.js";

export default function search({
  text,
  candidates,
  measure = Measure.Edits,
  keep = 1,
  costs = [1, 1, 1],
}: Input): Found {
  const distance = measure === Measure.Words ? wordDistance : shareOfEdits(costs);
  const matches = Object.entries(candidates)
    .map(([name, candidate]) => ({ name, distance: distance(text, candidate) }))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  if (typeof keep === "number") return { matches: matches.slice(0, keep) };
  return { matches: matches.filter((match) => match.distance <= keep.upTo) };
}

/** Cost of the edits, relative to deleting one text and inserting the other. */
function shareOfEdits(costs: Costs): (from: string, to: string) => number {
  const [insertion, deletion] = costs;
  return (from, to) => {
    const anew = Array.from(from).length * deletion + Array.from(to).length * insertion;
    return anew === 0 ? 0 : Math.min(1, editDistance(from, to, costs) / anew);
  };
}
