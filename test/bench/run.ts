/**
 * `npm run bench [-- NAME…]`: what a call costs the server, beside a floor measured in the same run.
 *
 * The two sides of a comparison alternate; each figure is the median over the repeats, with half the distance of the
 * middle quarters as its spread. The figures go to bench-results.json too. docs/benchmarks.md explains them.
 */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { entrypoint } from "../e2e/process.js";
import { benchGeneration } from "./gen.js";
import {
  generator,
  type LoadRequest,
  type Measurement,
  measure,
  pinned,
  SPARE,
  startTarget,
  stopTarget,
  type Target,
} from "./load.js";
import { LEADER_KEY, SIGNED_CONFIG, signedCalls, TOOL_SEED, unsignedCalls } from "./requests.js";
import { benchStorage } from "./storage.js";

const REPEATS = Number(process.env.BENCH_REPEATS ?? 5);
const CALLS = Number(process.env.BENCH_CALLS ?? 8_000);

interface Side {
  readonly name: string;
  start(): Promise<Target>;
}

interface Comparison {
  readonly title: string;
  /** The first is the floor. */
  readonly sides: readonly Side[];
  requests(count: number): LoadRequest[];
}

const directory = mkdtempSync(join(tmpdir(), "svc-bench-"));

function floor(kind: string): Side {
  const program = fileURLToPath(new URL("servers.ts", import.meta.url));
  const keys = [LEADER_KEY.toString("hex"), TOOL_SEED.toString("hex")];
  return { name: kind, start: () => startTarget((port) => ["--import", "tsx", program, kind, String(port), ...keys]) };
}

function sum(name: string, config: object): Side {
  const path = join(directory, `${name.replaceAll(/\W/g, "-")}.json`);
  writeFileSync(path, JSON.stringify(config));
  return { name, start: () => startTarget(() => [entrypoint("sum")], { SVC_TOOLKIT_CONFIG_PATH: path }) };
}

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  signed: {
    title: "a signed call: the sum tool with signing required, beside node:http with one verify and one sign",
    sides: [floor("node:http and crypto"), sum("svc-runtime signed", SIGNED_CONFIG)],
    requests: signedCalls,
  },
  unsigned: {
    title: "an unsigned call: the sum tool, beside fastify with a JSON body",
    sides: [floor("fastify"), floor("node:http"), sum("svc-runtime unsigned", {})],
    requests: unsignedCalls,
  },
};

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] as number;
  return low + ((sorted[Math.ceil(at)] as number) - low) * (at - Math.floor(at));
}

const summary = (values: readonly number[]) => ({
  median: quantile(values, 0.5),
  spread: (quantile(values, 0.75) - quantile(values, 0.25)) / 2,
});

async function compare({ title, sides, requests }: Comparison) {
  console.log(`\n${title}`);
  const measured = new Map<string, Measurement[]>(sides.map(({ name }) => [name, []]));
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    for (const { name, start } of sides) {
      const target = await start();
      await measure(target, requests(Math.ceil(CALLS / 4) + SPARE)); // until the code is compiled
      measured.get(name)?.push(await measure(target, requests(CALLS + SPARE)));
      await stopTarget(target);
    }
  }
  const base = summary((measured.get(sides[0]?.name ?? "") ?? []).map(({ cpuMicros }) => cpuMicros));
  return [...measured].map(([name, runs]) => {
    const cpu = summary(runs.map(({ cpuMicros }) => cpuMicros));
    const row = {
      name,
      cpuMicros: cpu,
      ratio: cpu.median / base.median,
      callsPerSecond: summary(runs.map(({ callsPerSecond }) => callsPerSecond)),
      p50: summary(runs.map(({ p50 }) => p50)),
      p99: summary(runs.map(({ p99 }) => p99)),
    };
    console.log(
      `  ${name.padEnd(24)} ${cpu.median.toFixed(0).padStart(4)} µs CPU ± ${cpu.spread.toFixed(0)}   ` +
        `${row.ratio.toFixed(2)} × floor   ${row.callsPerSecond.median.toFixed(0)} calls/s   ` +
        `p50 ${row.p50.median} ms   p99 ${row.p99.median} ms`,
    );
    return row;
  });
}

const NAMES = [...Object.keys(COMPARISONS), "gen", "storage"];
const names = process.argv.slice(2);
const wanted = (name: string) => names.length === 0 || names.includes(name);
for (const name of names) {
  if (!NAMES.includes(name)) throw new Error(`no bench ${name}: choose of ${NAMES.join(", ")}`);
}
const results: Record<string, unknown> = {};
console.log(
  `${cpus()[0]?.model}, node ${process.version}, ${pinned ? "server and load pinned to a core each" : "not pinned"}, load by ${generator}`,
);
try {
  for (const [name, comparison] of Object.entries(COMPARISONS)) {
    if (wanted(name)) results[name] = await compare(comparison);
  }
  if (wanted("gen")) results.gen = benchGeneration(REPEATS);
  if (wanted("storage")) results.storage = await benchStorage(REPEATS);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
writeFileSync(
  "bench-results.json",
  `${JSON.stringify({ node: process.version, generator, pinned, repeats: REPEATS, calls: CALLS, results }, null, 2)}\n`,
);
