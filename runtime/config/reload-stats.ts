/** Statistics of watched files, for metrics and readiness. */

/** Results of checking a file for new versions. The values are current when read. */
export interface ReloadStats {
  /** Number of new versions that were adopted, not counting the initial version. */
  readonly applied: number;
  /** Number of distinct versions or errors that were rejected; the last valid version stayed in use. */
  readonly refused: number;
  /** Current problem of the file; undefined while it contains the current version. Contains no text from the file. */
  readonly fault: string | undefined;
  /**
   * Milliseconds since the file on disk was last confirmed to match the version in use. Normally at most the check
   * interval.
   */
  readonly lastGoodAgeMs: number;
}

/** Statistics of each file; undefined if there is no such file. */
export interface Reloads {
  readonly config: ReloadStats | undefined;
  /** The allow-list file, if the configuration has one. */
  readonly allowList: ReloadStats | undefined;
  readonly certificate: ReloadStats | undefined;
  /** Expiry of the current certificate, in milliseconds since 1970. */
  readonly certificateExpiresAt: number | undefined;
}

export class ReloadCounter implements ReloadStats {
  applied = 0;
  refused = 0;
  fault: string | undefined;
  #goodAt = performance.now();

  get lastGoodAgeMs(): number {
    return performance.now() - this.#goodAt;
  }

  /** Counts a new version that was adopted. */
  countApplied(): void {
    this.applied++;
    this.seenGood();
  }

  countRefused(fault: string): void {
    this.refused++;
    this.fault = fault;
  }

  /** Records that the file contains the current version. */
  seenGood(): void {
    this.fault = undefined;
    this.#goodAt = performance.now();
  }
}
