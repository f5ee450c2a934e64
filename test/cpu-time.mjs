/**
 * Preloaded into the process of every test file by run.ts: at the end of the process, writes the processor time of the
 * process and of the children that it waited for to the file that `TEST_CPU` names.
 *
 * Children count on Linux only, by proc(5); elsewhere the time is that of the process alone.
 */

import { appendFileSync, readFileSync } from "node:fs";
import { threadId } from "node:worker_threads";

function cpuSeconds() {
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
