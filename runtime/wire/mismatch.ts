/** A value that does not fit its type: a place, what was expected, what was got. Kinds, never values. */

import { type Path, pathText } from "./fault.js";

export class Mismatch {
  /** From the inside out; exactly as long as it has to be, since a union may keep many. */
  private path: readonly (string | number)[] = [];
  private elsewhere = false;
  private fitting = 0;

  /** @param constraint whether the value is of its type and breaks a constraint: it is meant for this branch of a union */
  constructor(
    readonly expected: string,
    readonly got: string,
    private readonly constraint = false,
  ) {}

  /** The same, seen from the container; called from the inside out. */
  within(step: string | number): this {
    this.path = [...this.path, step];
    this.elsewhere = false;
    this.fitting = 0;
    return this;
  }

  /** How many members of the object fitted before this one did not. */
  after(fitting: number): this {
    this.fitting = fitting;
    return this;
  }

  /** A literal member does not match: the value is hardly meant for this branch of a union. */
  asAnotherBranch(): this {
    this.elsewhere = true;
    return this;
  }

  /** Whether a literal told the value from this branch: that is found again at once. */
  get isOfAnotherBranch(): boolean {
    return this.elsewhere;
  }

  /** One that can be placed anew; {@link within} changes the one that it is called on. */
  copy(expected = this.expected): Mismatch {
    const copy = new Mismatch(expected, this.got, this.constraint);
    copy.path = this.path;
    copy.elsewhere = this.elsewhere;
    copy.fitting = this.fitting;
    return copy;
  }

  /** How much it tells among those of a union: the deeper, and of one depth a constraint or the later, the closer was the branch. */
  tellsMoreThan(other: Mismatch): boolean {
    if (this.depth !== other.depth) return this.depth > other.depth;
    return this.constraint === other.constraint ? this.fitting > other.fitting : this.constraint;
  }

  private get depth(): number {
    return this.elsewhere ? 0.5 : this.path.length;
  }

  isAtPlaceOf({ path }: Mismatch): boolean {
    return path.length === this.path.length && path.every((step, i) => step === this.path[i]);
  }

  /** `tags[1]: expected a string, got a number`. */
  describe(root: Path = []): string {
    const place = pathText([...root, ...this.path.toReversed()]);
    return `${place === "" ? "" : `${place}: `}expected ${this.expected}, got ${this.got}`;
  }
}

/** The most telling of the mismatches of a union: the deepest, with all that was expected at its place. */
export function unionMismatch(mismatches: readonly Mismatch[]): Mismatch {
  let best = mismatches[0] as Mismatch;
  for (const mismatch of mismatches) if (mismatch.tellsMoreThan(best)) best = mismatch;
  const equals = mismatches.filter((mismatch) => !best.tellsMoreThan(mismatch) && mismatch.isAtPlaceOf(best));
  return best.copy([...new Set(equals.map(({ expected }) => expected))].join(" or "));
}

/** Explains values of a kind (in words) that are none of these literals. */
export function literalMismatch(literals: readonly unknown[]): (kind: string) => Mismatch {
  const expected = literals.map((literal) => JSON.stringify(literal)).join(" or ");
  const kinds = new Set(literals.map(kindOf));
  return (kind) => new Mismatch(expected, kinds.has(kind) ? kind.replace(/^an?/, "another") : kind);
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
