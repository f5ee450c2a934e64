/** How the cost of a computation grows with its input, whatever the machine. */

import assert from "node:assert/strict";

/** Microseconds of CPU below which a measurement says nothing. */
const NOISE = 1_000;

/**
 * Asserts that eight times the size costs well below the 64 times of a quadratic computation. CPU time of this process,
 * and the least of several measurements: work of others neither adds to it nor decides.
 */
export function assertLinear(what: string, run: (size: number) => void, size: number): void {
  const cost = (count: number): number => {
    const before = process.cpuUsage();
    run(count);
    const { user, system } = process.cpuUsage(before);
    return Math.max(user + system, NOISE);
  };
  const growths: number[] = [];
  while (growths.length < 6 && !growths.some((growth) => growth < 24)) growths.push(cost(size) / cost(size / 8));
  assert.ok(
    growths.some((growth) => growth < 24),
    `${what}: 8 times the size costs ${growths.map((growth) => growth.toFixed(1))} times as much`,
  );
}
