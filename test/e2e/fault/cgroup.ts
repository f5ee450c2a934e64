/** Processes under a real memory limit of the kernel, as containers have them. */

import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { atEnd } from "../../teardown.js";

/** Version 1 has a tree for memory alone; version 2 has one for everything. */
const [ROOT, LIMIT] = existsSync("/sys/fs/cgroup/memory")
  ? ["/sys/fs/cgroup/memory", "memory.limit_in_bytes"]
  : ["/sys/fs/cgroup", "memory.max"];

/** Why no process can be limited here; undefined when one can. */
export function whyNoLimit(): string | undefined {
  if (process.platform !== "linux") return "needs Linux";
  const probe = join(ROOT, `svc-test-probe-${process.pid}`);
  try {
    accessSync(ROOT, constants.W_OK);
    mkdirSync(probe);
    const limited = existsSync(join(probe, LIMIT));
    rmdirSync(probe);
    return limited ? undefined : "the memory of processes cannot be limited here";
  } catch {
    return "needs the right to make control groups";
  }
}

/** A shell command that becomes a process below the limit: `exec` of its arguments, from its first instruction on. */
export function belowLimit(bytes: number): readonly string[] {
  const group = join(ROOT, `svc-test-${process.pid}-${groups++}`);
  mkdirSync(group);
  writeFileSync(join(group, LIMIT), `${bytes}`);
  atEnd(async () => {
    // A group can be removed once its processes are gone, which the end of the test has killed.
    for (let tries = 0; readFileSync(join(group, "cgroup.procs"), "utf8") !== "" && tries < 250; tries++) {
      await setTimeout(20);
    }
    rmdirSync(group);
  });
  return ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group];
}
let groups = 0;
