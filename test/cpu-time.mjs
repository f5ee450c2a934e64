/**
 * Processor time of a process and its children. run.ts preloads this module into the process of every test file: at its
 * end, the process writes its time to the file that `TEST_CPU` names.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { threadId } from "node:worker_threads";

/**
 * Seconds of processor time that this process and the children that it waited for have used. Children count on Linux
 * only, by proc(5).
 */
export function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

function childSeconds() {
  if (process.platform !== "linux") return 0;
  const text = readFileSync("/proc/self/stat", "latin1");
  // The second field, the name of the program, may hold spaces and parentheses. The 16th and 17th are cutime and cstime, in
  // ticks of USER_HZ: 100 a second on every architecture that Node supports.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

const { TEST_CPU: file, TEST_CPU_PID: pid } = process.env;
// Threads and forked children inherit the options of the process, and so load this module too.
if (file !== undefined && pid === undefined && threadId === 0) {
  process.env.TEST_CPU_PID = `${process.pid}`;
  process.on("exit", () => appendFileSync(file, `${cpuSeconds()}\n`));
}
