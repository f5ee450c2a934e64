/** Statistics of followed files, for metrics and readiness. */

/** Outcomes and ages of the versions of a file, current when read. */
export interface ReloadStats {
  /** Number of new versions put in force; the initial version does not count. */
  readonly applied: number;
  /** Number of distinct versions and faults refused. The last valid version stayed in force. */
  readonly refused: number;
  /** Number of checks that found the version in force again, after a fault or on a forced reload. */
  readonly unchanged: number;
  /** The current fault of the file; undefined while it contains the version in force. Never contains text of the file. */
  readonly fault: string | undefined;
  /** Milliseconds since the current version was put in force. */
  readonly versionAgeMs: number;
  /** Milliseconds since the file last contained the version in force: at most about the interval in normal operation. */
  readonly lastGoodAgeMs: number;
}

/** Statistics of each file; undefined without such a file. */
export interface Reloads {
  /** The configuration file. */
  readonly config: ReloadStats | undefined;
  /** The allow-list file, when the configuration names one. */
  readonly allowList: ReloadStats | undefined;
  /** The certificate and key files. */
  readonly certificate: ReloadStats | undefined;
  /** Expiry of the certificate in force, in milliseconds since 1970. */
  readonly certificateExpiresAt: number | undefined;
}

/** Counter behind {@link ReloadStats}. */
export class ReloadCounter implements ReloadStats {
  applied = 0;
  refused = 0;
  unchanged = 0;
  fault: string | undefined;
  #appliedAt = performance.now();
  #goodAt = this.#appliedAt;

  get versionAgeMs(): number {
    return performance.now() - this.#appliedAt;
  }

  get lastGoodAgeMs(): number {
    return performance.now() - this.#goodAt;
  }

  /** Counts a new version in force. */
  countApplied(): void {
    this.applied++;
    this.#appliedAt = performance.now();
    this.seenGood();
  }

  /** Counts a return to the version in force, or a forced reload without a change. */
  countUnchanged(): void {
    this.unchanged++;
    this.seenGood();
  }

  countRefused(fault: string): void {
    this.refused++;
    this.fault = fault;
  }

  /** Records that the file contains the version in force. */
  seenGood(): void {
    this.fault = undefined;
    this.#goodAt = performance.now();
  }
}
