import { type Path, pathText } from "../fault.js";
import { kindOf } from "../kinds.js";

/** A value that does not fit its type: path, expected kind and actual kind. Never contains the value. */
export class Mismatch {
  /**
   * Steps from the value outwards. Copied at each step because an array that grew by `push` keeps spare capacity, and a
   * union may hold many mismatches.
   */
  #path: readonly (string | number)[] = [];
  #isOther = false;
  #fitting = 0;

  readonly #constraint: boolean;

  /**
   * @param constraint whether the value has the expected type but violates a constraint; in a union, this suggests that
   * the caller meant this branch
   */
  constructor(
    readonly expected: string,
    readonly got: string,
    constraint = false,
  ) {
    this.#constraint = constraint;
  }

  /** Prepends a step to the path, in place. Called from the innermost container outwards. */
  within(step: string | number): this {
    this.#path = [...this.#path, step];
    this.#isOther = false;
    this.#fitting = 0;
    return this;
  }

  /** Records how many members of the object fitted before the member that failed. */
  after(fitting: number): this {
    this.#fitting = fitting;
    return this;
  }

  /** Marks a wrong literal: the caller probably meant another branch of the union. */
  asOtherBranch(): this {
    this.#isOther = true;
    return this;
  }

  /** Whether a wrong literal ruled out this branch. Such a mismatch is cheap to compute again. */
  get isOtherBranch(): boolean {
    return this.#isOther;
  }

  /** Copies this mismatch, for callers of {@link within}, which mutates it. */
  copy(expected = this.expected): Mismatch {
    const copy = new Mismatch(expected, this.got, this.#constraint);
    copy.#path = this.#path;
    copy.#isOther = this.#isOther;
    copy.#fitting = this.#fitting;
    return copy;
  }

  /**
   * Whether this mismatch describes the value better than the other one: its path is deeper; or, at equal depth, it
   * only violates a constraint; or more members fitted before it.
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

  /** Error message, such as `tags[1]: expected a string, got a number`. */
  describe(root: Path = []): string {
    const path = [...root, ...this.#path.toReversed()];
    // A cycle has the largest depth.
    const place = path.length > 32 ? `${pathText(path.slice(0, 8))}…` : pathText(path);
    return `${place === "" ? "" : `${place}: `}expected ${this.expected}, got ${this.got}`;
  }
}

/** Most specific mismatch of a union's branches, with all kinds that branches expected at its path. */
export function unionMismatch(mismatches: readonly Mismatch[]): Mismatch {
  let best = mismatches[0] as Mismatch;
  for (const mismatch of mismatches) if (mismatch.isMoreSpecificThan(best)) best = mismatch;
  const equals = mismatches.filter((mismatch) => !best.isMoreSpecificThan(mismatch) && mismatch.hasPathOf(best));
  return best.copy([...new Set(equals.map(({ expected }) => expected))].join(" or "));
}

/** Returns a function that creates the mismatch of a value unequal to all literals, from the kind of the value. */
export function literalMismatch(literals: readonly unknown[]): (kind: string) => Mismatch {
  const expected = literals.map((literal) => JSON.stringify(literal)).join(" or ");
  const kinds = new Set(literals.map(kindOf));
  return (kind) => new Mismatch(expected, kinds.has(kind) ? kind.replace(/^an?/, "another") : kind);
}
