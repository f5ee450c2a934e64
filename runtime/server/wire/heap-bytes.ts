import type { Codec, Contract } from "svc-client/internal/wire/codec/contract";
import type { InputValues } from "svc-client/internal/wire/envelope/input-values";

/** Default maximum number of values of one call. */
export const DEFAULT_MAX_INPUT_VALUES = 300_000;

/** Tape bytes for each value. */
const TAPE_BYTES = 16;
/** Measured heap bytes for each value of an input with such codecs, in the worst case. */
const HEAP_BYTES = { bytes: 240, date: 136, other: 80 } as const;

/**
 * Upper bound, in bytes, of the memory that a decoded input holds in addition to its body: tape, values and strings.
 * Strings take two bytes for each byte of text, or one if the text is ASCII.
 *
 * @returns a function of the counted values and of the body's length in bytes
 */
export function heapBytesOf({
  input,
  definitions = [],
}: Contract): (counted: Pick<InputValues, "count" | "ascii">, bodyBytes: number) => number {
  const kinds = new Set<Codec["kind"]>();
  const visit = (codec: Codec): void => {
    kinds.add(codec.kind);
    switch (codec.kind) {
      case "array":
      case "wrapped":
        visit(codec.item);
        break;
      case "union":
        codec.branches.forEach(visit);
        break;
      case "tuple":
        for (const item of [...codec.items, ...(codec.tail ?? []), codec.rest ?? []].flat()) visit(item);
        break;
      case "object":
        for (const { codec: member } of codec.members) visit(member);
        for (const [, member] of codec.patterns ?? []) visit(member);
        if (codec.rest !== undefined) visit(codec.rest);
    }
  };
  for (const { codec, list = codec } of input) for (const each of [codec, list]) visit(each);
  for (const [, codec] of definitions) visit(codec);
  const { bytes, date, other } = HEAP_BYTES;
  const own = kinds.has("bytes") ? bytes : kinds.has("date") ? date : other;
  const perValue = TAPE_BYTES + own;
  return ({ count, ascii }, bodyBytes) => perValue * count + (ascii ? 1 : 2) * bodyBytes;
}
