/** Lengths and parts of lists, for the decoder and the encoder. */

import { type Check, countCheck } from "./constraints.js";
import type { Codec, CodecOf } from "./contract.js";
import { Mismatch } from "./mismatch.js";

/** Parts of a tuple codec, or what each of them is compiled to. */
export interface TupleParts<Part> {
  readonly items: readonly Part[];
  readonly rest: Part | undefined;
  readonly tail: readonly Part[];
}

export function mapTuple<Part>(
  { items, rest, tail = [] }: CodecOf<"tuple">,
  map: (codec: Codec) => Part,
): TupleParts<Part> {
  return { items: items.map(map), rest: rest && map(rest), tail: tail.map(map) };
}

/** Part of a tuple for the item at a place of a list with `count` items. */
export function tuplePart<Part>({ items, rest, tail }: TupleParts<Part>, place: number, count: number): Part {
  const fromEnd = count - place;
  return (fromEnd <= tail.length ? tail[tail.length - fromEnd] : (items[place] ?? rest)) as Part;
}

/**
 * Check of the number of items: the lengths of a tuple, and the constraints.
 *
 * @param constrained whether constraints are checked
 */
export function listCheck(codec: CodecOf<"array" | "tuple">, constrained = true): Check<number> | undefined {
  const check = constrained ? countCheck(codec) : undefined;
  if (codec.kind === "array") return check;
  const { items, optional = 0, rest, tail = [] } = codec;
  const min = items.length - optional + tail.length;
  const max = rest === undefined ? items.length + tail.length : Number.POSITIVE_INFINITY;
  const range = max === min ? min : rest === undefined ? `${min} to ${max}` : `${min} or more`;
  return (count) =>
    count < min || count > max ? new Mismatch(`an array of ${range} items`, `${count} items`) : check?.(count);
}
