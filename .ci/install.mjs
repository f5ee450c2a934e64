// Installs the locked dependencies when node_modules is missing or older than the lock file.
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `node ${process.versions.node} is too old: this project needs 20.19.0 or later (see "engines" in package.json)`,
  );
  process.exit(2);
}
const marker = "node_modules/.package-lock.json";
if (!existsSync(marker) || statSync(marker).mtimeMs < statSync("package-lock.json").mtimeMs) {
  console.error("installing the locked packages");
  const { status } = spawnSync("npm", ["ci", "--loglevel=error", "--no-audit", "--no-fund", "--prefer-offline"], {
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  process.exit(status === null ? 1 : status);
}
