/** A counting semaphore with a bounded first-in-first-out queue. */
export class Semaphore {
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  readonly #permits: number;
  readonly #maxWaiting: number;

  /**
   * @param permits number of permits
   * @param maxWaiting maximum number of queued takers
   */
  constructor(permits: number, maxWaiting: number) {
    this.#permits = permits;
    this.#maxWaiting = maxWaiting;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Takes a permit, to be returned by {@link give}; false if none is free. */
  tryTake(): boolean {
    if (this.#taken === this.#permits) return false;
    this.#taken++;
    return true;
  }

  /** Queues a taker, which is called when it gets a permit; false if the queue is full. */
  wait(taker: () => void): boolean {
    if (this.#waiting.size >= this.#maxWaiting) return false;
    this.#waiting.add(taker);
    return true;
  }

  leave(taker: () => void): void {
    this.#waiting.delete(taker);
  }

  /** Returns a permit. The taker that has waited longest gets it. */
  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#taken--;
    else {
      this.#waiting.delete(next);
      next();
    }
  }
}
