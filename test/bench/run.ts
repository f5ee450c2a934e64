/**
 * `npm run bench [-- NAME…]`: what the toolkit costs, beside floors measured in the same run.
 *
 * The sides of a comparison alternate; each figure is the median over the repeats, with half the distance of the middle
 * quarters as its spread. The figures go to bench-results.json too. docs/benchmarks.md explains them.
 */

import { writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem } from "node:os";
import { array, string } from "./bodies.js";
import { nonces, retry, signed, unsigned } from "./calls.js";
import { client, mcp } from "./clients.js";
import { first } from "./cold.js";
import { floods } from "./floods.js";
import { start } from "./footprint.js";
import { gen } from "./gen.js";
import { goodput } from "./goodput.js";
import { growth } from "./growth.js";
import { type Bench, DEFAULT_SETTINGS, type Goal, type Outcome, type Settings } from "./report.js";
import { shared } from "./shared.js";
import { pinned } from "./target.js";

/** All of them, by the name that selects them. */
const BENCHES: Readonly<Record<string, Bench>> = {
  signed,
  unsigned,
  retry,
  client,
  mcp,
  nonces,
  first,
  string,
  array,
  start,
  growth,
  goodput,
  shared,
  floods,
  gen,
};

/** @throws RangeError */
function setting(name: string, otherwise: number): number {
  const value = Number(process.env[name] ?? otherwise);
  if (Number.isInteger(value) && value > 0) return value;
  throw new RangeError(`${name}: expected a positive integer, got ${JSON.stringify(process.env[name])}`);
}

function settings(): Settings {
  const { repeats, calls, entries } = DEFAULT_SETTINGS;
  return {
    repeats: setting("BENCH_REPEATS", repeats),
    calls: setting("BENCH_CALLS", calls),
    entries: setting("BENCH_ENTRIES", entries),
  };
}

/** What the figures were measured on. */
const machine = () => ({
  cpu: cpus()[0]?.model,
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  kernel: release(),
  node: process.version,
  pinned,
  loadBefore: loadavg()[0],
});

/** The names that were asked for, or all of them. */
function chosen(names: readonly string[]): [name: string, bench: Bench][] {
  const unknown = names.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) throw new RangeError(`no bench ${unknown}: choose of ${Object.keys(BENCHES).join(", ")}`);
  return Object.entries(BENCHES).filter(([name]) => names.length === 0 || names.includes(name));
}

function printGoals(goals: readonly Goal[]): void {
  if (goals.length === 0) return;
  console.log(`\n${goals.filter(({ met }) => met).length} of ${goals.length} goals met`);
  for (const { text, value, met } of goals)
    console.log(`  ${met ? "met   " : "missed"} ${text}: ${value.median.toFixed(2)}`);
}

async function main(): Promise<void> {
  const benches = chosen(process.argv.slice(2));
  const wanted = settings();
  const facts = machine();
  console.log(
    `${facts.cpu}, ${facts.cores} cores, node ${facts.node}, ` +
      `${pinned ? "server and load pinned to a core each" : "not pinned"}`,
  );
  if ((facts.loadBefore ?? 0) > 0.5)
    console.log(`the machine is busy (load ${facts.loadBefore?.toFixed(1)}): expect noise`);
  const results: Record<string, Outcome> = {};
  for (const [name, bench] of benches) {
    console.log(`\n${name}: ${bench.title}`);
    results[name] = await bench.run(wanted);
    writeFileSync("bench-results.json", `${JSON.stringify({ machine: facts, settings: wanted, results }, null, 2)}\n`);
  }
  printGoals(Object.values(results).flatMap(({ goals = [] }) => goals));
}

try {
  await main();
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
