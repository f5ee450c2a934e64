/** Servers of the ledger as processes of their own, which a test may kill. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

/** The generated entrypoint, as the tests are compiled. */
const SERVER = fileURLToPath(new URL("../src/generated/server.js", import.meta.url));
/** The same tools, whose process ends at the commit. */
const KILLED_AT_COMMIT = fileURLToPath(new URL("killed-at-commit.js", import.meta.url));

/** A result as JSON; members of the other tools' results are absent. */
export interface Result {
  readonly ok?: {
    readonly receipt?: number;
    readonly balance?: number;
    readonly balances?: Record<string, number>;
    readonly book?: { readonly entries: readonly { readonly receipt: number }[] };
  };
}

export interface LedgerProcess {
  /** Calls a tool unsigned: the result, or undefined when the process ended before it answered. */
  call(tool: "transfer" | "deposit" | "statement", input: object): Promise<Result | undefined>;
  /** Ends the process by the signal; the exit code, null when the signal ended it. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

/** A path for a database, in a folder that is removed when the tests have ended. */
export function databasePath(): string {
  const folder = mkdtempSync(join(tmpdir(), "ledger-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "ledger.db");
}

export const startServer = (database: string) => start([SERVER], database);

export const startKilledAtCommit = (database: string, at: "before" | "after") =>
  start([KILLED_AT_COMMIT, at], database);

async function start(script: readonly string[], database: string): Promise<LedgerProcess> {
  const child = spawn(process.execPath, script, {
    env: { ...process.env, LEDGER_DATABASE: database, BIND_ADDR: "127.0.0.1:0" },
    stdio: ["ignore", "inherit", "pipe"],
  });
  after(() => child.kill("SIGKILL"));
  const exited = once(child, "exit") as Promise<[number | null]>;
  let log = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      const [, found] = /"url":"(http:[^"]+)".*"msg":"serving"/.exec(log) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`the server ended with exit code ${code}:\n${log}`)));
  });
  return {
    call: async (tool, input) => {
      try {
        const response = await fetch(`${url}/ledger/${tool}/invoke`, {
          method: "POST",
          headers: { accept: "application/json" },
          body: JSON.stringify(input),
        });
        return (await response.json()) as Result;
      } catch {
        return undefined;
      }
    },
    end: async (signal) => {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}
