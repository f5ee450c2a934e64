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

/** A straight line through points: y = intercept + slope · x. */
export interface Line {
  readonly slope: number;
  readonly intercept: number;
  /** The standard error of the slope. */
  readonly slopeError: number;
  /** How much of the variance the line explains, 0 to 1; 1 where there is none to explain. */
  readonly r2: number;
}

/**
 * The line of least squares.
 *
 * @throws RangeError with fewer than three points, or where all of them have one x
 */
export function leastSquares(points: readonly { readonly x: number; readonly y: number }[]): Line {
  const n = points.length;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / n;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / n;
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (const { x, y } of points) {
    xx += (x - meanX) ** 2;
    xy += (x - meanX) * (y - meanY);
    yy += (y - meanY) ** 2;
  }
  if (n < 3 || xx === 0) throw new RangeError("least squares: expected three points or more, not all at one x");
  const slope = xy / xx;
  const rest = Math.max(0, yy - slope * xy);
  return {
    slope,
    intercept: meanY - slope * meanX,
    slopeError: Math.sqrt(rest / (n - 2) / xx),
    r2: yy === 0 ? 1 : 1 - rest / yy,
  };
}
