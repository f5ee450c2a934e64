/** Processes that serve two small tools, for tests of start, signals and exit codes. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { atEnd } from "../teardown.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** What each process begins with: two tools as svc-gen would know them, and one call of them. */
export const PRELUDE = `
import { bootstrap, SvcTool, PermissionDenied } from "svc-runtime";
import { provideContracts } from "svc-runtime/v1";
const port = { name: "value", many: false, codec: { kind: "json" } };
const contract = (fqn, path, more) => ({
  fqn, path, description: "A tool.", timeout: 10000,
  inputSchema: '{"properties":{"1":{},"0":{},"value":{}}}', outputSchema: '{"oneOf":[]}',
  input: [port], output: [{ name: "ok", ports: [port] }], ...more,
});
const provide = (...contracts) => provideContracts(contracts);
const tool = (fqn, path, more = {}, own = {}) => Object.assign(class extends SvcTool {
  static fqn() { return fqn; }
  static description() { return "A tool."; }
  static path() { return path; }
  async invoke({ value }) {
    if (value === "slow") {
      process.stdout.write("slow;");
      await new Promise((resolve) => process.once("SIGUSR2", resolve));
    }
    if (value === "stray") setTimeout(() => { throw new Error("a stray exception"); }, 1);
    if (value === "floating") Promise.reject(new Error("a floating rejection"));
    if (value === "print") process.stdout.write("ran\\n");
    return { ok: { value } };
  }
  async health() { return 200; }
}, own);
const One = tool("xyz.test.one@1", "one");
const Two = tool("xyz.test.two@1", "two");
provide(contract("xyz.test.one@1", "one"), contract("xyz.test.two@1", "two"));
`;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Child {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Its address, once it serves. */
  readonly url: Promise<string>;
  readonly ended: Promise<Ended>;
}

/** Runs code after the prelude. */
export function run(
  code: string,
  { env = {}, args = [] }: { env?: Record<string, string>; args?: string[] } = {},
): Child {
  return start(process.execPath, ["--input-type=module", "-e", PRELUDE + code, "--", ...args], env);
}

/** Starts a command that ends up serving; killed at the end of the test file. */
export function start(command: string, args: readonly string[], env: Record<string, string> = {}): Child {
  const { BIND_ADDR: _address, ...rest } = process.env;
  // Neither settings nor the variables of the tests, which a server would name as unknown.
  const inherited = Object.fromEntries(Object.entries(rest).filter(([name]) => !name.startsWith("SVC_")));
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const forget = atEnd(() => child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      const line = stderr.split("\n").find((entry) => entry.includes('"msg":"serving"'));
      if (line !== undefined) resolve((JSON.parse(line) as { url: string }).url);
    });
    child.once("close", () => reject(new Error(`it ended: ${stderr}`)));
  });
  url.catch(() => {});
  const ended = once(child, "close").then(([code, signal]): Ended => {
    forget();
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, stdout, stderr };
  });
  return { process: child, stdout: () => stdout, stderr: () => stderr, url, ended };
}

/** Ends a process that has nothing to cut short. */
export const stop = async (child: Child, signal: NodeJS.Signals = "SIGTERM") => {
  child.process.kill(signal);
  const { code } = await child.ended;
  assert.equal(code, 0, child.stderr());
};
