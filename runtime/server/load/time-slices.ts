/**
 * Time slices of calls. One turn of the event loop reads every connection that is ready, hundreds of them in an
 * overloaded server, and accepts one new connection; probes, signals and timers wait for its end. So calls begin within
 * a slice of each turn, and the others wait in order for the next turn. A server that is not overloaded never makes a
 * call wait.
 */

/** Milliseconds of each turn in which calls begin. */
const SLICE_MS = 10;
/**
 * Milliseconds of waiting up to which new connections go first: a turn that has accepted one begins a single call. A
 * connection costs a fraction of a call. With calls that have waited longer, more connections would only add callers
 * that time out, so further ones stay with the operating system.
 */
const CROWDED_MS = 500;
/** Bytes of bodies that a connection has read before its call begins, at most: one read of node's. */
const READ_AHEAD_BYTES = 65_536;
/** Bytes read ahead by all waiting calls, at most. A call beyond it begins at once, which releases or accounts them. */
const MAX_READ_AHEAD_BYTES = 16_777_216;

interface WaitingCall {
  readonly since: number;
  readonly bytes: number;
  readonly begin: () => void;
}

/** The order in which the calls of a server begin. */
export class TimeSlices {
  readonly #waiting: WaitingCall[] = [];
  #readAhead = 0;
  /** When the last slice began. */
  #began = Number.NEGATIVE_INFINITY;
  /** Whether the end of this turn is awaited. Only a slice that is over awaits it, so quiet servers seldom do. */
  #awaitsTurn = false;
  #sliceMs = SLICE_MS;

  readonly #now: () => number;

  /** @param now the clock, in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Number of waiting calls. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Begins a call or makes it wait.
   *
   * @param length the announced length of its body in bytes
   * @returns undefined when the call begins at once
   */
  enter(length: number): Promise<void> | undefined {
    const since = this.#now();
    if (this.#waiting.length === 0 && since - this.#began < this.#sliceMs) return undefined;
    if (!this.#awaitsTurn) {
      // Either a later turn, or this one has had a slice: it gets one more.
      this.#awaitTurn(since);
      return undefined;
    }
    const bytes = Math.min(length, READ_AHEAD_BYTES);
    if (this.#readAhead + bytes > MAX_READ_AHEAD_BYTES) return undefined;
    this.#readAhead += bytes;
    return new Promise((begin) => {
      this.#waiting.push({ since, bytes, begin });
    });
  }

  /** Records that a connection was accepted or dropped in this turn. Others may wait behind it. */
  accepted(): void {
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#now() - oldest.since < CROWDED_MS) this.#sliceMs = 0;
  }

  /** Runs after the connections of a turn were read. */
  readonly #turn = (): void => {
    const sliceMs = this.#sliceMs;
    this.#sliceMs = SLICE_MS;
    this.#awaitsTurn = false;
    if (this.#waiting.length === 0) return;
    this.#awaitTurn(this.#now());
    this.#beginNext(this.#began + sliceMs);
  };

  #awaitTurn(now: number): void {
    this.#began = now;
    this.#awaitsTurn = true;
    setImmediate(this.#turn);
  }

  #beginNext(end: number): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#readAhead -= next.bytes;
    next.begin();
    // A microtask runs after those of the call, a tick after the call has read its body.
    queueMicrotask(() => {
      if (this.#now() < end) process.nextTick(() => this.#beginNext(end));
    });
  }
}
