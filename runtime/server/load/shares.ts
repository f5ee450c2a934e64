/** A verified leader by its id, or an unsigned connection. */
export type Holder = string | object;

/**
 * Amounts of a limited resource, by holder. One holder may hold at most as much as remains for all others, so there is
 * always room for another holder. If only one holder can exist, it may hold everything.
 */
export class Shares {
  /** Total of all holders. */
  total = 0;
  readonly #held = new Map<Holder, number>();

  readonly #isOnly: () => boolean;

  /**
   * @param most maximum total, at most 2^53 − 1 so that sums are exact
   * @param isOnly whether only one holder can exist, such as a single leader in the allow-list
   */
  constructor(
    readonly most: number,
    isOnly: () => boolean = () => false,
  ) {
    this.#isOnly = isOnly;
  }

  /** Maximum amount of one holder, while no other holds anything. */
  get mostOfOne(): number {
    return this.#isOnly() ? this.most : Math.floor(this.most / 2);
  }

  /**
   * Whether a holder may take more.
   *
   * @param used amount in use, including amounts without a holder; the total by default
   */
  allows(holder: Holder, amount: number, used = this.total): boolean {
    const left = this.most - used - amount;
    return left >= 0 && ((this.#held.get(holder) ?? 0) + amount <= left || this.#isOnly());
  }

  /** Adds to the amount of a holder; a negative amount releases. */
  add(holder: Holder, amount: number): void {
    this.total += amount;
    const held = (this.#held.get(holder) ?? 0) + amount;
    if (held === 0) this.#held.delete(holder);
    else this.#held.set(holder, held);
  }
}
