/** The server of the fault suite: two tools on contracts written by hand, served by `bootstrap` as a generated entrypoint is. */

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { bootstrap, type InvokeContext, type StatusCode, SvcTool } from "#runtime/index.js";
import { type Contract, provideContracts } from "#runtime/v1.js";
import { ECHO, FAULTY, MARKS, TIMEOUT_MS } from "./names.js";

/** The file that gets a line for each run, which outlives the process. */
const RUNS = process.env.FAULT_RUNS;
/** Milliseconds, more than an answer takes on any machine. */
const LONG_MS = 60_000;

const port = { name: "value", many: false, codec: { kind: "json" } } as const;

const contract = (fqn: string, path: string, timeout: number): Contract => ({
  fqn,
  path,
  description: "A tool of the fault suite.",
  timeout,
  inputSchema: '{"type":"object","properties":{"value":{}},"required":["value"]}',
  outputSchema:
    '{"oneOf":[{"type":"object","properties":{"ok":{"type":"object","properties":{"value":{}},"required":["value"]}},"required":["ok"]}]}',
  input: [port],
  output: [{ name: "ok", ports: [port] }],
});
provideContracts([contract(ECHO, "echo", LONG_MS), contract(FAULTY, "faulty", TIMEOUT_MS)]);

interface Input {
  readonly value: unknown;
}

class Tool extends SvcTool<Input, unknown> {
  static override description() {
    return "A tool of the fault suite.";
  }
  invoke({ value }: Input, _context: InvokeContext): unknown {
    return { ok: { value } };
  }
  override health(): StatusCode {
    return 200 as StatusCode;
  }
}

class Echo extends Tool {
  static override fqn() {
    return ECHO;
  }
  static override path() {
    return "echo";
  }
  static override timeout() {
    return LONG_MS;
  }
  override async invoke({ value }: Input, { signal }: InvokeContext): Promise<unknown> {
    const { wait, id, stops } = (value ?? {}) as {
      readonly wait?: number;
      readonly id?: string;
      readonly stops?: true;
    };
    if (id !== undefined && RUNS !== undefined) appendFileSync(RUNS, `${id}\n`);
    if (wait !== undefined) await sleep(wait, undefined, stops && { signal });
    return { ok: { value } };
  }
}

function failure(): Error {
  const error = new Error(`thrown ${MARKS.error}`);
  error.stack = `${error.stack}\n    at ${MARKS.stack} (/${MARKS.stack}.js:1:1)`;
  return error;
}

/** Throws outside of the call, which then ends with a result. */
const throwInTimer = () =>
  new Promise((resolve) => {
    setTimeout(() => {
      setTimeout(() => resolve({ ok: { value: "after the timer" } }), 20);
      throw failure();
    }, 1);
  });

class Faulty extends Tool {
  static override fqn() {
    return FAULTY;
  }
  static override path() {
    return "faulty";
  }
  static override timeout() {
    return TIMEOUT_MS;
  }
  override invoke({ value }: Input): unknown {
    return value === "throws in a timer" ? throwInTimer() : { ok: { value } };
  }
}

// Memory without its garbage, for a process that runs with --expose-gc.
process.on("SIGUSR2", () => {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  process.stderr.write(`${JSON.stringify({ msg: "memory", held: heapUsed + external, resident: rss })}\n`);
});
await bootstrap([Echo, Faulty] as never, JSON.parse(process.env.FAULT_OPTIONS ?? "{}"));
