/** What is said of repeated measurements. */

/** The middle of some values and half the distance between their middle quarters. */
export interface Summary {
  readonly median: number;
  readonly spread: number;
}

/** The value below which a share `q` of the values lies, interpolated between neighbours; NaN of none. */
export function quantile(values: ArrayLike<number>, q: number): number {
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  return low + ((sorted[Math.ceil(at)] ?? low) - low) * (at - Math.floor(at));
}

export function summarize(values: ArrayLike<number>): Summary {
  return { median: quantile(values, 0.5), spread: (quantile(values, 0.75) - quantile(values, 0.25)) / 2 };
}

/** The ratios of measurements to those of the other side that were taken in the same repeat: drift cancels out. */
export function ratioOf(values: readonly number[], others: readonly number[]): Summary {
  return summarize(values.map((value, repeat) => value / (others[repeat] as number)));
}

/** Whether a value lies so near to another that its spread covers the difference. */
export function isWithinSpread({ median, spread }: Summary, other: number): boolean {
  return Math.abs(median - other) <= spread;
}
