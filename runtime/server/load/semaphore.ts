/** Numbered permits, and a bounded queue of takers who wait for one, first come first served. */

/** Called once, with the number of the permit that is taken. */
export type Taker = (permit: number) => void;

/** A counting semaphore whose permits are numbered. */
export class Semaphore {
  /** Permits that are free again. */
  readonly #free: number[] = [];
  #used = 0;
  readonly #waiting = new Set<Taker>();

  /**
   * @param permits at a time
   * @param maxWaiting takers at a time
   * @param first the lowest number of a permit
   */
  constructor(
    private readonly permits: number,
    private readonly maxWaiting: number,
    private readonly first = 0,
  ) {}

  /** Permits that are taken. */
  get taken(): number {
    return this.#used - this.#free.length;
  }

  /** Takers that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a permit, which {@link give} gives back; undefined when none is free. */
  tryTake(): number | undefined {
    return this.#free.pop() ?? (this.#used < this.permits ? this.first + this.#used++ : undefined);
  }

  /** Adds a taker to the queue; false when the queue is full. */
  wait(taker: Taker): boolean {
    if (this.#waiting.size >= this.maxWaiting) return false;
    this.#waiting.add(taker);
    return true;
  }

  /** Removes a taker from the queue. */
  leave(taker: Taker): void {
    this.#waiting.delete(taker);
  }

  /** Gives a permit back: to the taker that has waited longest, if any waits. */
  give(permit: number): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free.push(permit);
    else {
      this.#waiting.delete(next);
      next(permit);
    }
  }
}
