/** A value that does not fit its type: a place, what was expected, what was got. Kinds, never values. */

import { type Path, pathText } from "./fault.js";

export class Mismatch {
  private path: (string | number)[] = [];

  constructor(
    readonly expected: string,
    readonly got: string,
  ) {}

  /** The same, seen from the container; called from the inside out. */
  within(step: string | number): this {
    this.path.push(step);
    return this;
  }

  get depth(): number {
    return this.path.length;
  }

  /** `tags[1]: expected a string, got a number`. */
  describe(root: Path = []): string {
    const place = pathText([...root, ...this.path.toReversed()]);
    return `${place === "" ? "" : `${place}: `}expected ${this.expected}, got ${this.got}`;
  }
}

/** The most telling of the mismatches of a union: the deepest; at the top, all that was expected. */
export function unionMismatch(mismatches: readonly Mismatch[]): Mismatch {
  let best = mismatches[0] as Mismatch;
  for (const mismatch of mismatches) if (mismatch.depth > best.depth) best = mismatch;
  if (best.depth > 0) return best;
  return new Mismatch([...new Set(mismatches.map(({ expected }) => expected))].join(" or "), best.got);
}

/** What a value is, in words. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  switch (typeof value) {
    case "bigint":
      return "an integer";
    case "object":
      return "an object";
    default:
      return `a ${typeof value}`;
  }
}

const QUALIFIED = { int64: [-(2n ** 63n), 2n ** 63n - 1n], uint64: [0n, 2n ** 64n - 1n] } as const;

/** The bounds of a bigint (protocol.md section 5) and their name. */
export function bigintRange(format: "int64" | "uint64" | undefined): { min: bigint; max: bigint; name: string } {
  const [min, max] = format === undefined ? ([QUALIFIED.int64[0], QUALIFIED.uint64[1]] as const) : QUALIFIED[format];
  return { min, max, name: format === undefined ? "an integer from -2^63 to 2^64-1" : `an ${format} integer` };
}
