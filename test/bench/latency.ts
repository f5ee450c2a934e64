/** How long calls take when the server is half busy: what a caller sees at ordinary load. */

import { SIGNED_FLOOR, SIGNED_SUM, warm } from "./calls.js";
import { measure, SPARE } from "./load.js";
import { latencies, sendAtRate } from "./open-loop.js";
import { type Bench, compare, judgeFigure, type Side } from "./report.js";
import { signedCalls } from "./requests.js";
import { quantile } from "./statistics.js";
import { type TargetOptions, withTarget } from "./target.js";

/** Calls at half of the rate that the server has just been seen to bear. */
function halfLoaded(name: string, options: TargetOptions, calls: number): Side {
  return {
    name,
    measure: () =>
      withTarget(options, async (target) => {
        await warm(target, signedCalls);
        const rate = (await measure(target, signedCalls(calls + SPARE)))["calls/s"] / 2;
        const arrivals = await sendAtRate(target, signedCalls(calls), rate);
        const bad = arrivals.filter(({ status }) => status !== 200).length;
        if (bad > 0) throw new Error(`${bad} of ${calls} calls were not answered 200`);
        const times = latencies(arrivals);
        const p50 = quantile(times, 0.5);
        const p99 = quantile(times, 0.99);
        return {
          "p99 / p50": p99 / p50,
          "calls/s": rate,
          "ms p50": p50,
          "ms p99": p99,
          "ms p99.9": quantile(times, 0.999),
          "ms p99 sent late": quantile(
            arrivals.map(({ due, sent }) => sent - due),
            0.99,
          ),
        };
      }),
  };
}

export const latency: Bench = {
  title: "signed calls at half load, at a constant rate of arrival",
  async run({ repeats, calls }) {
    const sides = [
      halfLoaded("node:http and crypto", SIGNED_FLOOR, calls),
      halfLoaded("svc-runtime signed", SIGNED_SUM, calls),
    ];
    const rows = await compare(repeats, sides, "ms p99");
    return { rows, goals: [judgeFigure("p99 at half load, of p50", rows[1], "p99 / p50", { atMost: 5 })] };
  },
};
