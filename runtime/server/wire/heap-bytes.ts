import type { Contract } from "svc-client/internal/wire/codec/contract";
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
  // In JSON text, the quotes of a string's content are escaped, so only a codec's kind matches.
  const codecs = JSON.stringify([input, definitions]);
  const has = (kind: "bytes" | "date") => codecs.includes(`"kind":"${kind}"`);
  const { bytes, date, other } = HEAP_BYTES;
  const own = has("bytes") ? bytes : has("date") ? date : other;
  const perValue = TAPE_BYTES + own;
  return ({ count, ascii }, bodyBytes) => perValue * count + (ascii ? 1 : 2) * bodyBytes;
}
