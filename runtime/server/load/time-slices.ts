/**
 * Delays the start of calls, so that probes, signals and timers are not delayed under overload: these wait for the end
 * of each turn of the event loop, and one turn can read hundreds of connections. Calls start only in the first
 * milliseconds of a turn; the others wait in order for the next turn, and longer while connections arrive. Without
 * overload, no call waits.
 */

/** Milliseconds of each turn in which calls may start. */
const SLICE_MS = 10;
/**
 * Milliseconds after a slice in which no call starts, as long as each turn has accepted a connection: Node accepts one in
 * a turn, and others may wait. Then the next slice begins, so that connections cannot hold up the calls.
 */
const ACCEPT_MS = 10;
/** Maximum bytes of a body that a connection has read before its call starts: one read by Node. */
const READ_AHEAD_BYTES = 65_536;
/** Maximum bytes read ahead for all waiting calls. Beyond it, a call starts at once, and its bytes are counted. */
const MAX_READ_AHEAD_BYTES = 16_777_216;

interface WaitingCall {
  readonly bytes: number;
  readonly begin: () => void;
}

export class TimeSlices {
  readonly #waiting: WaitingCall[] = [];
  #readAhead = 0;
  /** Start time of the last slice. */
  #began = Number.NEGATIVE_INFINITY;
  /** Whether a callback for the end of this turn is scheduled; only a slice that is used up schedules one. */
  #awaitsTurn = false;
  /** Whether a connection was accepted since the last scheduled callback. */
  #accepted = false;

  readonly #now: () => number;

  /** @param now clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Starts a call or makes it wait.
   *
   * @param length declared length of its body, in bytes
   * @returns undefined if the call starts at once
   */
  enter(length: number): Promise<void> | undefined {
    const now = this.#now();
    if (this.#waiting.length === 0 && now - this.#began < SLICE_MS) return undefined;
    if (!this.#awaitsTurn) {
      // Begins a slice: the first one of a new turn, or another one in this turn.
      this.#awaitTurn(now);
      return undefined;
    }
    const bytes = Math.min(length, READ_AHEAD_BYTES);
    if (this.#readAhead + bytes > MAX_READ_AHEAD_BYTES) return undefined;
    this.#readAhead += bytes;
    return new Promise((begin) => {
      this.#waiting.push({ bytes, begin });
    });
  }

  /** Records that a connection was accepted or dropped in this turn; more may be waiting. */
  accepted(): void {
    this.#accepted = true;
  }

  /** Runs after the connections of a turn were read. */
  readonly #turn = (): void => {
    const accepted = this.#accepted;
    this.#accepted = false;
    const now = this.#now();
    if (this.#waiting.length === 0) this.#awaitsTurn = false;
    else if (accepted && now - this.#began < SLICE_MS + ACCEPT_MS) setImmediate(this.#turn);
    else {
      this.#awaitTurn(now);
      this.#beginNext(now + SLICE_MS);
    }
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
    // The microtask runs after those of the call, the tick after the call has read its body.
    queueMicrotask(() => {
      if (this.#now() < end) process.nextTick(() => this.#beginNext(end));
    });
  }
}
