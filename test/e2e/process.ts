/** Starts the built server of an example as an operator would: a process, a configuration file, an address. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { atEnd } from "../teardown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A running example. */
export interface ExampleProcess {
  readonly url: string;
  readonly process: ChildProcess;
  /** Everything that it wrote to standard error. */
  log(): string;
  /** Ends it with SIGTERM and gives its exit code. */
  stop(): Promise<number | null>;
}

/** The generated entrypoint of an example. */
export function entrypoint(example: string): string {
  return join(ROOT, "examples", example, "dist", "generated", "server.js");
}

/** Ports of one test file. Test files that run at the same time have ranges of their own (test/run.ts). */
const PORTS = 1_000;
const FIRST_PORT = 12_000 + PORTS * (Number(process.env.TEST_SLOT ?? process.pid) % 20);
let nextPort = Math.floor(Math.random() * PORTS);

/**
 * A port that is free, and that no other test takes before a server has bound it: below the ports that systems give out
 * by themselves, and each time another one.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS; tried++) {
    const port = FIRST_PORT + (nextPort++ % PORTS);
    const server = createServer().listen(port, "127.0.0.1");
    const bound = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!bound) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error(`no free port from ${FIRST_PORT}`);
}

/** Starts an example with a configuration and waits until it says that it serves. */
export function startExample(
  example: string,
  config: object,
  env: Record<string, string> = {},
): Promise<ExampleProcess> {
  return startServer(entrypoint(example), config, env);
}

/** The same with the compiled entrypoint of any project. */
export async function startServer(
  server: string,
  config: object,
  env: Record<string, string> = {},
): Promise<ExampleProcess> {
  const directory = mkdtempSync(join(tmpdir(), "svc-example-"));
  const configPath = join(directory, "config.json");
  writeFileSync(configPath, JSON.stringify(config));
  const port = await freePort();
  const child = spawn(process.execPath, [server], {
    env: { ...process.env, BIND_ADDR: `127.0.0.1:${port}`, SVC_TOOLKIT_CONFIG_PATH: configPath, ...env },
    stdio: ["ignore", "inherit", "pipe"],
  });
  let log = "";
  atEnd(() => {
    child.kill("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  });
  const exited = once(child, "exit");
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes('"msg":"serving"')) resolve();
    });
    child.once("exit", (code) => reject(new Error(`the server ended with exit code ${code}:\n${log}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    process: child,
    log: () => log,
    stop: async () => {
      child.kill("SIGTERM");
      const [code] = (await exited) as [number | null];
      rmSync(directory, { recursive: true, force: true });
      return code;
    },
  };
}
