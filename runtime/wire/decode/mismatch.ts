/** Mismatches between values and their types. */

import { type Path, pathText } from "../fault.js";
import { MAX_I64, MAX_U64, MIN_I64 } from "./integer-bounds.js";

/** A value that does not fit its type: its path, the expected and the actual kind. Never contains the value. */
export class Mismatch {
  /**
   * Innermost step first. Copied at each step, because a grown array has spare capacity and a union may hold many
   * mismatches.
   */
  #path: readonly (string | number)[] = [];
  #isOther = false;
  #fitting = 0;

  readonly #constraint: boolean;

  /**
   * @param constraint whether the value has the expected type but violates a constraint. In a union that is a strong sign
   * that this branch was meant
   */
  constructor(
    readonly expected: string,
    readonly got: string,
    constraint = false,
  ) {
    this.#constraint = constraint;
  }

  /** Prepends the step from the container, in place. Called from the innermost container outwards. */
  within(step: string | number): this {
    this.#path = [...this.#path, step];
    this.#isOther = false;
    this.#fitting = 0;
    return this;
  }

  /** Records the number of members of the object that fitted before this one. */
  after(fitting: number): this {
    this.#fitting = fitting;
    return this;
  }

  /** Marks the mismatch of a literal member: the value is probably meant for another branch of the union. */
  asOtherBranch(): this {
    this.#isOther = true;
    return this;
  }

  /** Whether a literal member ruled this branch out, which is cheap to find again. */
  get isOtherBranch(): boolean {
    return this.#isOther;
  }

  /** A copy, for callers of {@link within}, which changes the mismatch in place. */
  copy(expected = this.expected): Mismatch {
    const copy = new Mismatch(expected, this.got, this.#constraint);
    copy.#path = this.#path;
    copy.#isOther = this.#isOther;
    copy.#fitting = this.#fitting;
    return copy;
  }

  /**
   * Whether this mismatch comes from a branch that fits the value better than the other's branch: it has the deeper
   * path, else it violates only a constraint, else more members fitted before it.
   */
  isMoreSpecificThan(other: Mismatch): boolean {
    if (this.#depth !== other.#depth) return this.#depth > other.#depth;
    return this.#constraint === other.#constraint ? this.#fitting > other.#fitting : this.#constraint;
  }

  get #depth(): number {
    return this.#isOther ? 0.5 : this.#path.length;
  }

  hasPathOf(other: Mismatch): boolean {
    const path = other.#path;
    return path.length === this.#path.length && path.every((step, i) => step === this.#path[i]);
  }

  /** The message, such as `tags[1]: expected a string, got a number`. */
  describe(root: Path = []): string {
    const place = pathText([...root, ...this.#path.toReversed()]);
    return `${place === "" ? "" : `${place}: `}expected ${this.expected}, got ${this.got}`;
  }
}

/** The most specific mismatch of a union's branches, with every kind that was expected at its path. */
export function unionMismatch(mismatches: readonly Mismatch[]): Mismatch {
  let best = mismatches[0] as Mismatch;
  for (const mismatch of mismatches) if (mismatch.isMoreSpecificThan(best)) best = mismatch;
  const equals = mismatches.filter((mismatch) => !best.isMoreSpecificThan(mismatch) && mismatch.hasPathOf(best));
  return best.copy([...new Set(equals.map(({ expected }) => expected))].join(" or "));
}

/** Makes the mismatch of a value that equals none of the literals, by the kind of the value. */
export function literalMismatch(literals: readonly unknown[]): (kind: string) => Mismatch {
  const expected = literals.map((literal) => JSON.stringify(literal)).join(" or ");
  const kinds = new Set(literals.map(kindOf));
  return (kind) => new Mismatch(expected, kinds.has(kind) ? kind.replace(/^an?/, "another") : kind);
}

/** The kind of a value, for messages. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  if (value instanceof Promise) return "a Promise that was not awaited";
  switch (typeof value) {
    case "bigint":
      return "an integer";
    case "object":
      return "an object";
    default:
      return `a ${typeof value}`;
  }
}

const FORMAT_BOUNDS = { int64: [MIN_I64, MAX_I64], uint64: [0n, MAX_U64] } as const;

/** The bounds of a bigint codec (protocol.md section 5), and their name for messages. */
export function bigintRange(format: "int64" | "uint64" | undefined): { min: bigint; max: bigint; name: string } {
  const [min, max] = format === undefined ? ([MIN_I64, MAX_U64] as const) : FORMAT_BOUNDS[format];
  return { min, max, name: format === undefined ? "an integer from -2^63 to 2^64-1" : `an ${format} integer` };
}
