// Runs scripts of package.json, one after the other, and prints the wall and processor time of each. The first that fails ends it.
import { spawnSync } from "node:child_process";
import { cpuSeconds } from "../test/cpu-time.mjs";

for (const script of process.argv.slice(2)) {
  const [started, cpuBefore] = [performance.now(), cpuSeconds()];
  const { status } = spawnSync("npm", ["run", "--silent", script], {
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
  const wall = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${script}: ${wall} s, ${(cpuSeconds() - cpuBefore).toFixed(1)} s of processor time`);
}
