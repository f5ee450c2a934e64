/** A semaphore with numbered permits and a bounded first-in-first-out queue. */

/** Callback of a queued taker: called once, with the number of its permit. */
export type Taker = (permit: number) => void;

/** A counting semaphore whose permits are numbered. */
export class Semaphore {
  /** Numbers of returned permits. */
  readonly #free: number[] = [];
  #used = 0;
  readonly #waiting = new Set<Taker>();

  /**
   * @param permits number of permits
   * @param maxWaiting maximum number of queued takers
   * @param first lowest permit number
   */
  constructor(
    private readonly permits: number,
    private readonly maxWaiting: number,
    private readonly first = 0,
  ) {}

  /** Number of taken permits. */
  get taken(): number {
    return this.#used - this.#free.length;
  }

  /** Number of queued takers. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a permit, which {@link give} returns; undefined when none is free. */
  tryTake(): number | undefined {
    return this.#free.pop() ?? (this.#used < this.permits ? this.first + this.#used++ : undefined);
  }

  /** Adds a taker to the queue; false when the queue is full. */
  wait(taker: Taker): boolean {
    if (this.#waiting.size >= this.maxWaiting) return false;
    this.#waiting.add(taker);
    return true;
  }

  leave(taker: Taker): void {
    this.#waiting.delete(taker);
  }

  /** Returns a permit, which goes to the taker that has waited longest, if any. */
  give(permit: number): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free.push(permit);
    else {
      this.#waiting.delete(next);
      next(permit);
    }
  }
}
