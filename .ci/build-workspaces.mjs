// Builds the examples, several at a time: none depends on another.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";

const projects = readdirSync("examples")
  .map((name) => `examples/${name}`)
  .filter((project) => existsSync(`${project}/package.json`));

async function work() {
  for (let project = projects.shift(); project !== undefined; project = projects.shift()) {
    const options = { stdio: ["ignore", "inherit", "inherit"], shell: process.platform === "win32" };
    const child = spawn("npm", ["run", "--silent", "build", "--workspace", project], options);
    const [code] = await once(child, "exit");
    if (code === 0) continue;
    projects.length = 0;
    process.exitCode = 1;
    console.error(`the build of ${project} failed`);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
