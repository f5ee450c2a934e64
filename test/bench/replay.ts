/** What remembering costs: memory of one entry, and load on a store until it is full and beyond. */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { BootstrapOptions } from "#runtime/index.js";
import { withEmptied } from "./calls.js";
import type { Held } from "./controlled.js";
import { Caller, type LoadRequest, measure, SPARE } from "./load.js";
import { type Arrival, latencies, sendAtRate } from "./open-loop.js";
import { type Bench, type Figures, type Goal, judgeFigure, tabulate } from "./report.js";
import { CallSigner, nextSerial, signedConfig } from "./requests.js";
import { quantile } from "./statistics.js";
import { type Target, type TargetOptions, TYPESCRIPT, withTarget } from "./target.js";
import { type BuiltServer, REPLY, withServer } from "./tools.js";

const RESULT_BYTES = 400;

/** controlled.ts with some options; without a configuration yet. */
function controlled(server: BuiltServer, options: BootstrapOptions, flags: readonly string[] = []): TargetOptions {
  const program = fileURLToPath(new URL("controlled.ts", import.meta.url));
  const folder = dirname(server.built("reply.js"));
  return {
    args: [...flags, ...TYPESCRIPT, program, folder, JSON.stringify(options)],
    path: REPLY.path,
    ipc: true,
  };
}

const REPLY_CALLS = new CallSigner(REPLY.ports);

/** Signed calls of {@link REPLY}. */
export function replyCalls(count: number): LoadRequest[] {
  return Array.from({ length: count }, () => REPLY_CALLS.sign([[`"call ${nextSerial()}"`]]));
}

export const entry: Bench = {
  title: `memory of a live replay entry with a result of ${RESULT_BYTES} bytes, and the store's own account of it`,
  run: ({ repeats, calls, entries }) =>
    withServer([REPLY], async (server) => {
      const measured: Figures[] = [];
      for (let repeat = 0; repeat < repeats; repeat++) {
        const options = controlled(server, {}, ["--expose-gc"]);
        await withEmptied(options, REPLY.fqn, replyCalls(calls + SPARE), async (target) => {
          const before = (await target.ask("memory")) as Held;
          await measure(target, replyCalls(entries + SPARE));
          await requireResultBytes(target);
          const after = (await target.ask("memory")) as Held;
          const count = after.entries - before.entries;
          const held = (after.held - before.held) / count;
          const accounted = (after.accounted - before.accounted) / count;
          measured.push({
            "bytes held": held,
            "bytes accounted": accounted,
            "% the account is off": Math.abs(accounted / held - 1) * 100,
          });
        });
      }
      const rows = tabulate([[`${entries} entries`, measured]], "bytes held");
      const goals = [
        judgeFigure("bytes held by a live entry", rows[0], "bytes held", { atMost: 700 }),
        judgeFigure("% that the store's account is off", rows[0], "% the account is off", { atMost: 10 }),
      ];
      return { rows, goals };
    }),
};

/** @throws Error when results have not the size that the figures are about */
async function requireResultBytes(target: Target): Promise<void> {
  const caller = new Caller(target);
  const { body } = await caller.success(replyCalls(1)[0] as LoadRequest);
  caller.close();
  if (body.length !== RESULT_BYTES) throw new Error(`a result has ${body.length} bytes, not ${RESULT_BYTES}`);
}

/** Bytes for each entry of a store that is to be full after some of them. */
const BYTES_PER_ENTRY = 750;
const PRODUCTION_TTL_MS = 300_000;

/** How the answers of an even stretch of arrivals came. */
function stretch(arrivals: readonly Arrival[]): { rate: number; p50: number; p99: number } {
  const times = latencies(arrivals);
  const answered = arrivals.map((arrival) => arrival.answered);
  const seconds = (quantile(answered, 1) - quantile(answered, 0)) / 1000;
  return { rate: arrivals.length / seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

/** @throws Error when the store was never full */
function acrossTheBound(arrivals: readonly Arrival[]): Figures {
  const full = arrivals.findIndex(({ status }) => status !== 200);
  if (full < 8) throw new Error(full === -1 ? "the store was never full" : "the store was full from the start");
  const quarter = Math.floor(full / 4);
  const first = stretch(arrivals.slice(0, quarter));
  const last = stretch(arrivals.slice(full - quarter, full));
  const above = arrivals.slice(full);
  const share = (keep: (status: number) => boolean) =>
    (above.filter(({ status }) => keep(status)).length / above.length) * 100;
  return {
    "calls/s": first.rate,
    "ms p50": first.p50,
    "ms p99": first.p99,
    "rate, first quarter / last": first.rate / last.rate,
    "p50, last quarter / first": last.p50 / first.p50,
    "p99, last quarter / first": last.p99 / first.p99,
    "ms p50 above the bound": quantile(latencies(above), 0.5),
    "% 503 above the bound": share((status) => status === 503),
    "% neither 200 nor 503": share((status) => status !== 200 && status !== 503),
  };
}

/** @throws Error unless a new call is refused as the protocol says and a remembered one is answered again */
async function requireCleanRefusal(target: Target, remembered: LoadRequest): Promise<void> {
  const caller = new Caller(target);
  const { status, headers, body } = await caller.call(replyCalls(1)[0] as LoadRequest);
  const answer = body.toString();
  await caller.success(remembered);
  caller.close();
  if (status !== 503 || answer !== '{"error":"replay_store_full"}' || headers["retry-after"] === undefined) {
    throw new Error(`a call beyond the bound was answered ${status} ${answer}`);
  }
}

export const bound: Bench = {
  title: "sustained load at half of what the server bears, production TTL, until the replay store is full and beyond",
  run: ({ repeats, calls, entries }) =>
    withServer([REPLY], async (server) => {
      const measured: Figures[] = [];
      for (let repeat = 0; repeat < repeats; repeat++) {
        const options = controlled(server, { replayMaxBytes: Math.max(2 ** 23, entries * BYTES_PER_ENTRY) });
        await withTarget({ ...options, config: signedConfig([REPLY.fqn], PRODUCTION_TTL_MS) }, async (target) => {
          const rate = (await measure(target, replyCalls(calls + SPARE)))["calls/s"] / 2;
          const requests = replyCalls(Math.max(2 ** 14, entries) * 1.25);
          measured.push(acrossTheBound(await sendAtRate(target, requests, rate)));
          await requireCleanRefusal(target, requests[0] as LoadRequest);
        });
      }
      const rows = tabulate([["svc-runtime signed", measured]], "ms p50");
      const unchanged = (figure: string): Goal =>
        judgeFigure(`up to the bound: ${figure}`, rows[0], figure, { atMost: 1.05 });
      const goals = [
        unchanged("rate, first quarter / last"),
        unchanged("p50, last quarter / first"),
        unchanged("p99, last quarter / first"),
        judgeFigure("above the bound: % neither 200 nor 503", rows[0], "% neither 200 nor 503", { atMost: 0 }),
      ];
      return { rows, goals };
    }),
};
