/** What the operating system has charged a server: a process, its threads, and the processes that it has started. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

const TICK_MICROS = 1e6 / (Number(spawnSync("getconf", ["CLK_TCK"]).stdout?.toString()) || 100);

/** The CPU time of a server at one moment. */
export interface CpuTime {
  /** User and system time in ticks of mostly 10 ms, ended threads included. */
  readonly ticks: number;
  /** Nanoseconds of each thread, where the kernel says so. */
  readonly threads: ReadonlyMap<string, number>;
}

/** A process and all that it has started, where the kernel says so. */
function processTree(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  const children = existsSync(file) ? readFileSync(file, "utf8").split(" ").filter(Boolean).map(Number) : [];
  return [pid, ...children.flatMap(processTree)];
}

export function cpuTime(pid: number): CpuTime {
  const pids = processTree(pid);
  return {
    ticks: pids.reduce((sum, each) => sum + ticksOf(each), 0),
    threads: new Map(pids.flatMap((each) => threadTimes(each))),
  };
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function threadTimes(pid: number): [thread: string, nanoseconds: number][] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ");
      return [thread, Number(nanoseconds)];
    });
  } catch {
    return []; // A kernel without the file, or a thread that ended just now.
  }
}

/** By how much the whole ticks of two moments may differ from what was used. */
const TICKS_OFF = 4;

/**
 * Microseconds of CPU between two moments: to the nanosecond, but in whole ticks where threads have come and gone between
 * them or the kernel does not count by thread.
 */
export function cpuMicros(before: CpuTime, after: CpuTime): number {
  const byTicks = (after.ticks - before.ticks) * TICK_MICROS;
  let byThreads = 0;
  for (const [thread, time] of after.threads) byThreads += (time - (before.threads.get(thread) ?? 0)) / 1000;
  return Math.abs(byThreads - byTicks) <= TICKS_OFF * TICK_MICROS ? byThreads : byTicks;
}

/** Megabytes of memory that a server has resident. */
export function residentMegabytes(pid: number): number {
  const kibibytes = (each: number) => /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${each}/status`, "utf8"))?.[1];
  return processTree(pid).reduce((sum, each) => sum + (Number(kibibytes(each)) * 1024) / 1e6, 0);
}
