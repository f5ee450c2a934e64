/** The same signed calls to the sum tool of another toolkit, the Rust one, whose program the user gives by its path. */

import { SIGNED_FLOOR, SIGNED_SUM } from "./calls.js";
import { type LoadFigures, type LoadRequest, measure, SPARE } from "./load.js";
import { writePage } from "./page.js";
import { type Bench, type Row, tabulate, withSpread } from "./report.js";
import { nexusSignedCalls, SUM, signedCalls, signedConfig } from "./requests.js";
import type { Summary } from "./statistics.js";
import { type TargetOptions, withTarget } from "./target.js";

const FIGURE = "µs CPU";

/** Where the calls of a process are parted, as shares of all: it begins cold, gets warm, and remembers ever more nonces. */
const PARTS = [0, 0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1];

/** Calls of a process, one after the other; none of their nonces expires while it is measured. */
interface Stage {
  readonly from: number;
  readonly to: number;
}

function stagesOf(entries: number): Stage[] {
  const [first = 0, ...bounds] = PARTS.map((share) => Math.round(share * entries));
  let from = first;
  return bounds.flatMap((to) => {
    const stage = { from, to };
    from = to;
    return stage.to > stage.from ? [stage] : [];
  });
}

const nameOf = ({ from, to }: Stage) => `${from.toLocaleString("en")} to ${to.toLocaleString("en")}`;

interface Peer {
  readonly name: string;
  readonly options: TargetOptions;
  readonly requests: (count: number) => LoadRequest[];
}

/** The program of BENCH_PEER: it serves `xyz.demo.sum@1` at `/sum` with the header prefix `X-Nexus-`. */
function peerOf(program: string): Peer {
  const config = signedConfig([SUM.fqn]) as { readonly signed_http: object };
  return {
    name: "Rust toolkit",
    options: {
      program,
      args: [],
      path: SUM.path,
      config: { ...config, signed_http: { mode: "required", ...config.signed_http } },
      configVariable: "NEXUS_TOOLKIT_CONFIG_PATH",
    },
    requests: nexusSignedCalls,
  };
}

/** The rows of one stage: the peer, svc-runtime, the floor. */
type StageRows = readonly [stage: Stage, rows: readonly Row[]];

const costOf = (row: Row | undefined) => row?.figures[FIGURE] as Summary;

function tableOf(found: readonly StageRows[], sides: readonly Peer[]): string {
  const lines = found.map(([stage, rows]) => {
    const costs = rows.map((row) => withSpread(costOf(row)));
    return `| ${nameOf(stage)} | ${costs.join(" | ")} | ${withSpread(rows[1]?.ratio as Summary)} |`;
  });
  const names = sides.map(({ name }) => name);
  return [
    `| calls of the process | ${names.join(" | ")} | ${names[1]} ÷ ${names[0]} |`,
    "|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}

export const peers: Bench = {
  title: "a signed call: the sum tool, beside the same tool of the Rust toolkit (BENCH_PEER: its program)",
  async run({ repeats, entries, docs }) {
    const program = process.env.BENCH_PEER;
    if (program === undefined) {
      const skipped = "BENCH_PEER is not set: the path of a program that serves the sum tool, see docs/benchmarks.md";
      console.log(`  ${skipped}`);
      return { rows: [], skipped };
    }
    const sides: Peer[] = [
      peerOf(program),
      { name: "svc-runtime", options: SIGNED_SUM, requests: signedCalls },
      { name: "node:http and crypto", options: SIGNED_FLOOR, requests: signedCalls },
    ];
    const stages = stagesOf(entries);
    const measured = stages.map(() => sides.map((): LoadFigures[] => []));
    for (let repeat = 0; repeat < repeats; repeat++) {
      const order = [...sides.entries()];
      for (const [side, { options, requests }] of repeat % 2 === 0 ? order : order.reverse()) {
        await withTarget(options, async (target) => {
          for (const [at, { from, to }] of stages.entries()) {
            measured[at]?.[side]?.push(await measure(target, requests(to - from + SPARE)));
          }
        });
      }
    }
    const found = stages.map((stage, at): StageRows => {
      console.log(`  calls ${nameOf(stage)} of a process`);
      const figures = sides.map(({ name }, side) => [name, measured[at]?.[side] as LoadFigures[]] as const);
      return [stage, tabulate(figures, FIGURE)];
    });
    writePage(docs, "peers", tableOf(found, sides));
    return { rows: found.flatMap(([stage, rows]) => rows.map((row) => ({ ...row, calls: nameOf(stage) }))) };
  },
};
