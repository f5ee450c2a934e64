/** What a signed call costs before the code is compiled, and what it leaves to the garbage collector. */

import { SIGNED_FLOOR, SIGNED_SUM, warm } from "./calls.js";
import { type LoadFigures, measure, SPARE } from "./load.js";
import { type Bench, compare, type Figures, judgeRatio, type Row, tabulate } from "./report.js";
import { signedCalls } from "./requests.js";
import { type TargetOptions, withTarget } from "./target.js";

const FIGURE = "µs CPU";
const FIRST = 5_000;

const SERVERS: readonly (readonly [name: string, options: TargetOptions])[] = [
  ["node:http and crypto", SIGNED_FLOOR],
  ["svc-runtime signed", SIGNED_SUM],
];

export const first: Bench = {
  title: `the first ${FIRST} signed calls of a process, beside warm ones of the same process`,
  async run({ repeats, calls }) {
    const count = Math.min(FIRST, calls);
    const measured = SERVERS.map(() => ({ warm: [] as LoadFigures[], first: [] as LoadFigures[] }));
    for (let repeat = 0; repeat < repeats; repeat++) {
      const order = [...SERVERS.entries()];
      for (const [at, [, options]] of repeat % 2 === 0 ? order : order.reverse()) {
        await withTarget(options, async (target) => {
          measured[at]?.first.push(await measure(target, signedCalls(count + SPARE)));
          await warm(target, signedCalls);
          measured[at]?.warm.push(await measure(target, signedCalls(calls + SPARE)));
        });
      }
    }
    const rows = SERVERS.map(([name], at): Row[] => {
      const { warm: later = [], first: earlier = [] } = measured[at] ?? {};
      return tabulate(
        [
          [`${name}, warm`, later],
          [`${name}, the first ${count}`, earlier],
        ],
        FIGURE,
      );
    });
    const goal = `CPU of the first ${count} calls, of warm ones`;
    return { rows: rows.flat(), goals: [judgeRatio(goal, rows[1]?.[1], { atMost: 1.25 })] };
  },
};

/**
 * Kilobytes that a process has allocated on the heap between two collections of `--trace-gc`: what each collection
 * found, less what the one before it left.
 */
export function allocatedKilobytes(trace: string): number {
  const collections = [...trace.matchAll(/ ms: .*?(\d+\.\d) \(\d+\.\d\) -> (\d+\.\d) \(\d+\.\d\) MB/g)];
  const [, ...later] = collections;
  return later.reduce((sum, [, found], at) => sum + 1024 * (Number(found) - Number(collections[at]?.[2])), 0);
}

/** The young generation is collected whenever it is full, so the calls of one collection are missing or too many. */
const COLLECTED = 4;

export const allocated: Bench = {
  title: "what a warm signed call allocates on the heap, by V8's trace of its collections",
  async run({ repeats, calls }) {
    const count = COLLECTED * calls;
    const sides = SERVERS.map(([name, { args, ...options }]) => ({
      name,
      measure: () =>
        withTarget({ ...options, args: ["--trace-gc", ...args] }, async (target): Promise<Figures> => {
          await warm(target, signedCalls);
          const before = target.printed.length;
          await measure(target, signedCalls(count + SPARE));
          return { "kB a call": allocatedKilobytes(target.printed.slice(before)) / count };
        }),
    }));
    return { rows: await compare(repeats, sides, "kB a call") };
  },
};
