import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { report, server } from "./report.mjs";

const inspect = async (...args) => {
  const words = ["--cli", server.command, ...server.args, "--method", ...args];
  // Exits with 5 for a result that is an error.
  const { stdout } = await promisify(execFile)("node_modules/.bin/mcp-inspector", words).catch((failed) => failed);
  return JSON.parse(/^\{[\s\S]*?\n\}$/m.exec(stdout)[0]);
};
const { tools } = await inspect("tools/list");
await report(
  tools.map(({ name }) => name),
  (name, args) => {
    const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${JSON.stringify(value)}`]);
    return inspect("tools/call", "--tool-name", name, ...given);
  },
);
