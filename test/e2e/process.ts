/** Starts the built server of an example as an operator would: a process, a configuration file, an address. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type ListenOptions, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A running example. */
export interface ExampleProcess {
  readonly url: string;
  /** The admin listener, where `SVC_ADMIN_ADDR` is set. */
  readonly admin?: string;
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

/** Below the ports that Linux gives out by itself, which begin at 32,768. */
const [FIRST_PORT, LAST_PORT] = [12_000, 31_999];

/**
 * A port for a program that cannot be asked which one it got, or that keeps its port over restarts. It is leased until the
 * end of this process: no other test takes it, also of another run on this machine. A server that says where it listens
 * takes port 0 instead.
 */
export async function leasePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    // The lease is a name that a process holds, in the network namespace of its ports; Linux takes it back at its end.
    const lease = process.platform === "linux" ? await listen(`\0svc-test-port-${port}`) : undefined;
    if (lease === "taken") continue;
    const bound = await listen({ port, host: "127.0.0.1" });
    if (bound === "taken") continue;
    lease?.unref();
    bound.close();
    await once(bound, "close");
    return port;
  }
}

async function listen(where: string | ListenOptions): Promise<Server | "taken"> {
  const server = createServer().listen(where);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return "taken";
    throw error;
  }
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
  [program, ...flags]: readonly [string, ...string[]] = [process.execPath],
): Promise<ExampleProcess> {
  const directory = scratchFolder();
  const configPath = join(directory, "config.json");
  writeFileSync(configPath, JSON.stringify(config));
  const child = spawn(program, [...flags, server], {
    env: { ...process.env, BIND_ADDR: "127.0.0.1:0", SVC_TOOLKIT_CONFIG_PATH: configPath, ...env },
    stdio: ["ignore", "inherit", "pipe"],
  });
  let log = "";
  atEnd(() => {
    child.kill("SIGKILL");
  });
  const exited = once(child, "exit");
  const { url, admin } = await new Promise<{ url: string; admin?: string }>((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const [line] = /^.*"msg":"serving".*\n/m.exec(log) ?? [];
      if (line !== undefined) resolve(JSON.parse(line));
    });
    child.once("exit", (code) => reject(new Error(`the server ended with exit code ${code}:\n${log}`)));
  });
  return {
    url,
    ...(admin !== undefined && { admin }),
    process: child,
    log: () => log,
    stop: async () => {
      child.kill("SIGTERM");
      const [code] = (await exited) as [number | null];
      return code;
    },
  };
}
