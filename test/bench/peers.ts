/** The same signed calls to the sum tool of another toolkit, the Rust one, whose program the user gives by its path. */

import { SIGNED_FLOOR, SIGNED_SUM } from "./calls.js";
import { type LoadFigures, type LoadRequest, measure, SPARE } from "./load.js";
import { type Bench, type Row, tabulate } from "./report.js";
import { nexusSignedCalls, SUM, signedCalls, signedConfig } from "./requests.js";
import { type TargetOptions, withTarget } from "./target.js";

const FIGURE = "µs CPU";

/** Calls of a process, in this order. */
interface Stage {
  readonly name: string;
  readonly calls: number;
  readonly measured: boolean;
}

/** A process begins cold, gets warm, and remembers ever more nonces: none expires while it is measured. */
function stagesOf(calls: number, entries: number): Stage[] {
  const ofStart = Math.min(5_000, calls);
  const warmUp = Math.min(10_000, 2 * calls);
  const fill = Math.max(0, entries - ofStart - warmUp - calls);
  return [
    { name: `the first ${ofStart} calls of a process`, calls: ofStart, measured: true },
    { name: "until the code is warm", calls: warmUp, measured: false },
    { name: `warm, ${ofStart + warmUp} live nonces`, calls, measured: true },
    { name: "until the replay cache is full", calls: fill, measured: false },
    { name: `warm, ${ofStart + warmUp + calls + fill} live nonces`, calls, measured: true },
  ].filter((stage) => stage.calls > 0);
}

interface Peer {
  readonly name: string;
  readonly options: TargetOptions;
  readonly requests: (count: number) => LoadRequest[];
}

/** The program of BENCH_PEER: it serves `xyz.demo.sum@1` at `/sum` with the header prefix `X-Nexus-`. */
function peerOf(program: string): Peer {
  const config = signedConfig([SUM.fqn]) as { readonly signed_http: object };
  return {
    name: "the peer",
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

export const peers: Bench = {
  title: "a signed call: the sum tool, beside the same tool of the Rust toolkit (BENCH_PEER: its program)",
  async run({ repeats, calls, entries }) {
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
    const stages = stagesOf(calls, entries);
    const measured = stages.map(() => sides.map((): LoadFigures[] => []));
    for (let repeat = 0; repeat < repeats; repeat++) {
      const order = [...sides.entries()];
      for (const [side, { options, requests }] of repeat % 2 === 0 ? order : order.reverse()) {
        await withTarget(options, async (target) => {
          for (const [at, stage] of stages.entries()) {
            measured[at]?.[side]?.push(await measure(target, requests(stage.calls + SPARE)));
          }
        });
      }
    }
    const rows: Row[] = stages.flatMap((stage, at) => {
      if (!stage.measured) return [];
      console.log(`  ${stage.name}`);
      const figures = sides.map(({ name }, side) => [name, measured[at]?.[side] as LoadFigures[]] as const);
      return tabulate(figures, FIGURE).map((row) => ({ ...row, name: `${stage.name}: ${row.name}` }));
    });
    return { rows };
  },
};
