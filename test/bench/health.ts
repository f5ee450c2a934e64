/** How long others wait while one process reads the largest permitted body of a type. */

import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_MAX_INPUT_VALUES } from "#client/wire/decode/input-values.js";
import { LARGE_INPUTS, largeBody, largeTarget, serveLargeInputs } from "../runtime/large-inputs.js";
import type { Bench } from "./report.js";
import { type Summary, summarize } from "./statistics.js";

/** The longest answer of `/health`, in milliseconds, from before the body is sent until its answer. */
async function longestWait(url: string, type: string, body: string): Promise<number> {
  const path = largeTarget(type);
  let longest = 0;
  let isOver = false;
  const probes: Promise<void>[] = [];
  const probe = async () => {
    const started = performance.now();
    await (await fetch(url + path.replace("invoke", "health"))).arrayBuffer();
    longest = Math.max(longest, performance.now() - started);
  };
  const probing = async () => {
    while (!isOver) {
      probes.push(probe());
      await sleep(10);
    }
  };
  const done = probing();
  await (await fetch(url + path, { method: "POST", body })).arrayBuffer();
  isOver = true;
  await done;
  await Promise.all(probes);
  return longest;
}

export const health: Bench = {
  title: "/health while the largest permitted body of a type is read, without signatures",
  run: async ({ repeats }) => {
    const server = serveLargeInputs();
    const url = await server.url;
    const rows: { readonly name: string; readonly figures: Readonly<Record<string, Summary>> }[] = [];
    for (const type of Object.keys(LARGE_INPUTS)) {
      const body = largeBody(type, DEFAULT_MAX_INPUT_VALUES);
      const waits: number[] = [];
      for (let i = 0; i < repeats; i++) waits.push(await longestWait(url, type, body));
      const wait = summarize(waits);
      console.log(`  ${type.padEnd(46)} ${wait.median.toFixed(0)} ± ${wait.spread.toFixed(0)} ms`);
      rows.push({ name: type, figures: { "longest /health, ms": wait } });
    }
    server.process.kill();
    await server.ended;
    return { rows };
  },
};
