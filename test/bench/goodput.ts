/** What an overloaded server still answers in time, and how long probes wait: an open load at multiples of its ceiling. */

import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { leasePort } from "../e2e/process.js";
import { SIGNED_SUM } from "./calls.js";
import { withRequestFile } from "./load.js";
import type { OpenFigures, OpenLoad } from "./open-load.js";
import { type Bench, type Figures, judgeFigure, tabulate } from "./report.js";
import { SUM, signedCalls, signedConfig } from "./requests.js";
import { LOAD_CORE, spawnOn, type Target, type TargetOptions, TYPESCRIPT, withTarget } from "./target.js";

const MULTIPLES = [1, 2, 3, 5];
const CONNECTIONS = [1_000, 4_000];
/** An answer that comes later is worth nothing, and its caller has closed the connection. */
const TIMEOUT_MS = 2_000;
const REQUESTS = 4_000;
const GOODPUT = "% of the ceiling";

/** Loads a target from a process of its own. */
async function load({ url }: Target, file: string, options: Omit<OpenLoad, "port" | "timeoutMs">) {
  const program = fileURLToPath(new URL("open-load.ts", import.meta.url));
  const given: OpenLoad = { ...options, port: Number(new URL(url).port), timeoutMs: TIMEOUT_MS };
  const child = spawnOn(LOAD_CORE, process.execPath, [...TYPESCRIPT, program, file, JSON.stringify(given)]);
  let out = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk;
  });
  await once(child, "close");
  // JSON has null where there is no quantile, since nothing was answered.
  return JSON.parse(out, (_name, value) => value ?? Number.NaN) as OpenFigures;
}

/** Calls a second of a closed load, whose 64 callers wait for their answers. */
async function ceilingOf(target: Target, file: string, seconds: number): Promise<number> {
  const { good } = await load(target, file, { connections: 64, seconds, settleSeconds: 0.2, probes: {} });
  return good / seconds;
}

/** One overload, and the ceiling of the moment before it. */
async function overload(target: Target, file: string, admin: string, step: Step, seconds: number): Promise<Figures> {
  const ceiling = await ceilingOf(target, file, Math.min(seconds, 2));
  const figures = await load(target, file, {
    rate: ceiling * step.multiple,
    connections: step.connections,
    seconds,
    settleSeconds: Math.min(seconds, 2),
    probes: { "/livez": `${admin}/livez`, "/readyz": `${admin}/readyz`, "/health": `${target.url}/health` },
  });
  const { good, p50, p99, probes, loadCpu } = figures;
  const waits = Object.entries(probes).map(([path, p99]) => [`ms ${path} p99`, p99] as const);
  return {
    [GOODPUT]: (good / seconds / ceiling) * 100,
    "calls/s": good / seconds,
    "ms p50": p50,
    "ms p99": p99,
    ...Object.fromEntries(waits),
    "% CPU of the load": loadCpu * 100,
  };
}

interface Step {
  readonly connections: number;
  readonly multiple: number;
}

const STEPS: readonly Step[] = CONNECTIONS.flatMap((connections) =>
  MULTIPLES.map((multiple) => ({ connections, multiple })),
);

/** The figures of all steps, in a process of their own. */
export async function measureOverloads(options: TargetOptions, seconds: number): Promise<Figures[]> {
  const port = await leasePort();
  // Nonces expire meanwhile, so that the memory of the server does not grow from step to step.
  const config = signedConfig([SUM.fqn], 5_000);
  return withTarget({ ...options, config, env: { SVC_ADMIN_ADDR: `127.0.0.1:${port}` } }, (target) =>
    withRequestFile(target, signedCalls(REQUESTS), async (file) => {
      await ceilingOf(target, file, seconds);
      const figures: Figures[] = [];
      for (const step of STEPS) figures.push(await overload(target, file, `http://127.0.0.1:${port}`, step, seconds));
      return figures;
    }),
  );
}

const nameOf = ({ connections, multiple }: Step) =>
  `${connections.toLocaleString("en")} connections, ${multiple} × the capacity`;

export const goodput: Bench = {
  title: "signed calls at multiples of the ceiling, answered within 2 s, and the waits of probes meanwhile",
  async run({ repeats, calls }) {
    const seconds = calls / 2_000;
    const measured = STEPS.map((): Figures[] => []);
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const [at, figures] of (await measureOverloads(SIGNED_SUM, seconds)).entries()) measured[at]?.push(figures);
    }
    const rows = STEPS.flatMap((step, at) => tabulate([[nameOf(step), measured[at] as Figures[]]], GOODPUT));
    const thrice = rows[STEPS.findIndex(({ multiple }) => multiple === 3)];
    return {
      rows,
      goals: [judgeFigure("ms of /readyz, p99, at 3 × the ceiling", thrice, "ms /readyz p99", { atMost: 500 })],
    };
  },
};
