/** What a signed call costs before the code is compiled. */

import { SIGNED_FLOOR, SIGNED_SUM, warm } from "./calls.js";
import { type LoadFigures, measure, SPARE } from "./load.js";
import { type Bench, judgeRatio, type Row, tabulate } from "./report.js";
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
