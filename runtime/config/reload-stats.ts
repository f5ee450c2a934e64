/** What has become of the versions of a followed file: for metrics and readiness. */

/** Outcomes and ages, as they are when they are read. */
export interface ReloadStats {
  /** New versions that were put in force. The version of the start is not counted. */
  readonly applied: number;
  /** Distinct versions and faults that were refused while the last good version stayed in force. */
  readonly refused: number;
  /** Returns to the version in force, after a fault or on a forced reload. */
  readonly unchanged: number;
  /** What is wrong with the file now; undefined while it holds the version in force. Never holds a text of the file. */
  readonly fault: string | undefined;
  /** Milliseconds since the version in force was put in force. */
  readonly versionAgeMs: number;
  /** Milliseconds since the file was last seen to hold the version in force: about the interval while all is well. */
  readonly lastGoodAgeMs: number;
}

/** What has become of the versions of each file; undefined where there is none. */
export interface Reloads {
  /** The configuration's file. */
  readonly config: ReloadStats | undefined;
  /** The allow-list's, when the configuration names one. */
  readonly allowList: ReloadStats | undefined;
  /** The certificate's and its key's. */
  readonly certificate: ReloadStats | undefined;
  /** When the certificate in force ends, in milliseconds since 1970. */
  readonly certificateExpiresAt: number | undefined;
}

/** The counting side of {@link ReloadStats}. */
export class ReloadCounter implements ReloadStats {
  applied = 0;
  refused = 0;
  unchanged = 0;
  fault: string | undefined;
  readonly #now: () => number;
  #appliedAt: number;
  #goodAt: number;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#appliedAt = this.#goodAt = now();
  }

  get versionAgeMs(): number {
    return this.#now() - this.#appliedAt;
  }

  get lastGoodAgeMs(): number {
    return this.#now() - this.#goodAt;
  }

  /** A new version is in force. */
  countApplied(): void {
    this.applied++;
    this.#appliedAt = this.#now();
    this.seenGood();
  }

  /** The version in force is back, or was looked at because somebody asked. */
  countUnchanged(): void {
    this.unchanged++;
    this.seenGood();
  }

  countRefused(fault: string): void {
    this.refused++;
    this.fault = fault;
  }

  /** The file holds the version in force. */
  seenGood(): void {
    this.fault = undefined;
    this.#goodAt = this.#now();
  }
}
