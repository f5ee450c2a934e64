/** What one call costs the server, beside a floor: signed, and beside many live nonces. */

import { fileURLToPath } from "node:url";
import { entrypoint } from "../e2e/process.js";
import { type LoadFigures, type LoadRequest, measure, SPARE } from "./load.js";
import { type Bench, compare, judgeRatio, type Side } from "./report.js";
import { LEADER_KEY, SUM, signedCalls, signedConfig, TOOL_SEED, unsignedCalls } from "./requests.js";
import { type Target, type TargetOptions, TYPESCRIPT, withTarget } from "./target.js";

const FIGURE = "µs CPU";

/** A floor of servers.ts. */
export function floor(kind: string): TargetOptions {
  const program = fileURLToPath(new URL("servers.ts", import.meta.url));
  const keys = [Buffer.from(LEADER_KEY).toString("hex"), TOOL_SEED.toString("hex")];
  return { args: [...TYPESCRIPT, program, kind, ...keys], path: SUM.path };
}

/** The sum tool as an operator starts it. */
export function sum(config: object, env: Readonly<Record<string, string>> = {}): TargetOptions {
  return { args: [entrypoint("sum")], path: SUM.path, config, env };
}

export const SIGNED_SUM = sum(signedConfig([SUM.fqn]));
export const SIGNED_FLOOR = floor("node:http and crypto");

type Calls = (count: number) => LoadRequest[];

/** Calls after which their cost was seen to be level: the first 4,000 cost up to twice as much, for compiling. */
export const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 8_000);

/** Lets a server answer until its code is compiled. */
export async function warm(target: Target, requests: Calls, calls = WARM_UP): Promise<void> {
  await measure(target, requests(calls + SPARE));
}

function loaded(name: string, options: TargetOptions, calls: number, requests: Calls): Side {
  return {
    name,
    measure: () =>
      withTarget(options, async (target) => {
        await warm(target, requests);
        return measure(target, requests(calls + SPARE));
      }),
  };
}

export const signed: Bench = {
  title: "a signed call: the sum tool with signing required, beside node:http with one verify and one sign",
  async run({ repeats, calls }) {
    const sides = [
      loaded("node:http and crypto", SIGNED_FLOOR, calls, signedCalls),
      loaded("svc-runtime signed", SIGNED_SUM, calls, signedCalls),
    ];
    const rows = await compare(repeats, sides, FIGURE);
    return { rows, goals: [judgeRatio("CPU a signed call, of the floor", rows[1], { atMost: 1.3 })] };
  },
};

export const unsigned: Bench = {
  title: "an unsigned JSON call, beside a bare fastify route that checks the same input by its schema",
  async run({ repeats, calls }) {
    const sides = [
      loaded("fastify", floor("fastify"), calls, unsignedCalls),
      loaded("svc-runtime unsigned", { args: [entrypoint("sum")], path: SUM.path }, calls, unsignedCalls),
    ];
    const rows = await compare(repeats, sides, FIGURE);
    return { rows, goals: [judgeRatio("CPU an unsigned call, of fastify", rows[1], { atMost: 1.2 })] };
  },
};

/** Longer than a bench lasts. */
export const LONG_TTL_MS = 3_600_000;

export const retry: Bench = {
  title: "an exact retry of a signed call, whose result is in memory, beside a new call",
  async run({ repeats, calls }) {
    const side = (name: string, isRepeated: boolean): Side => ({
      name,
      measure: () =>
        withTarget(sum(signedConfig([SUM.fqn], LONG_TTL_MS)), async (target) => {
          await warm(target, signedCalls);
          const first = signedCalls(calls + SPARE);
          const once = await measure(target, first);
          return isRepeated ? measure(target, first.slice(0, calls)) : once;
        }),
    });
    const rows = await compare(repeats, [side("new call", false), side("exact retry", true)], FIGURE);
    return { rows, goals: [judgeRatio("CPU an exact retry, of a new call", rows[1], { atMost: 0.55 })] };
  },
};

/**
 * Signed calls of a server that remembers `live` others, and those of its own run. It has answered `total` before,
 * whichever of them it remembers.
 */
function measureBeside(live: number, total: number, calls: number): Promise<LoadFigures> {
  // It has forgotten the first calls after a millisecond, so it is as warm as a server that remembers them all.
  return withTarget(sum(signedConfig([SUM.fqn], 1)), async (target) => {
    await measure(target, signedCalls(WARM_UP + total - live + SPARE));
    await target.configure(signedConfig([SUM.fqn], LONG_TTL_MS));
    if (live > 0) await measure(target, signedCalls(live + SPARE));
    // Again, since no call has met a live nonce on the other side.
    await warm(target, signedCalls, Math.ceil(calls / 4));
    return measure(target, signedCalls(calls + SPARE));
  });
}

export const nonces: Bench = {
  title: "a signed call beside many live nonces, and with an empty cache; both have answered as many calls before",
  async run({ repeats, calls, entries }) {
    const sides: Side[] = [
      { name: "empty cache", measure: () => measureBeside(0, entries, calls) },
      { name: `${entries} live nonces`, measure: () => measureBeside(entries, entries, calls) },
    ];
    const rows = await compare(repeats, sides, FIGURE);
    const goal = `CPU a signed call at ${entries} live nonces, of an empty cache`;
    return { rows, goals: [judgeRatio(goal, rows[1], { atMost: 1.05 })] };
  },
};
