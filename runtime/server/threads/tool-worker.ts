/**
 * Worker thread of thread-host.ts: loads the application's entry module once, then runs jobs of one tool in sequence.
 */

import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { BroadcastChannel, parentPort, workerData } from "node:worker_threads";
import type { Logger } from "../../tool.js";
import { createClasses } from "../call/class-hooks.js";
import { type Answer, type Execution, type ToolHost, takeInput } from "../call/messages.js";
import { SafeLogger } from "../log/safe-logger.js";
import { receiveTools } from "./worker-handover.js";
import {
  CLOSED,
  type Job,
  KEPT_MS,
  ownBytes,
  REASONS,
  type ThreadData,
  type ThreadLog,
  unpackInput,
} from "./worker-messages.js";

/** Milliseconds within which an entry module must call `bootstrap`. */
const LOAD_MS = 30_000;

const { entry, fqn, reasons, channel } = workerData as ThreadData;
let current: { readonly place: number; readonly execution: Execution<unknown> } | undefined;

/** Runs `close()` of the tool's class. */
let closeClass = async () => {};

/** Executions whose result has stored values with a `returned` callback, by number of the job. */
const stored = new Map<number, Execution<unknown>>();

const wakeUp = new BroadcastChannel(channel);
wakeUp.onmessage = ({ data }) => {
  if (typeof data === "number") void noteReturned(data);
  else if (data === CLOSED) void releaseClasses();
  else abortCurrent();
};
wakeUp.unref();

for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (err: unknown) => logOf(undefined).error({ err }, `outside of a call: ${event}`));
}

async function load(): Promise<ToolHost> {
  // Same value as in a process that node started with the entry module.
  process.argv[1] = entry;
  const tools = receiveTools();
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error(`it did not call bootstrap within ${LOAD_MS} ms`)), LOAD_MS).unref();
  });
  const failed = import(pathToFileURL(entry).href).then(() => late);
  const tool = (await Promise.race([tools, failed, late])).find((served) => served.fqn === fqn);
  if (tool === undefined) throw new Error(`its bootstrap has no tool ${fqn}`);
  closeClass = await createClasses([tool], logOf(undefined));
  return tool.host;
}

async function releaseClasses(): Promise<void> {
  await closeClass();
  parentPort?.postMessage(CLOSED);
}

/** Runs one job; called by piscina. */
export default async function run(job: Job): Promise<unknown> {
  const host = loaded();
  if (job.work.kind === "load") return undefined;
  const execution = begin(host, job);
  current = { place: job.place, execution };
  abortCurrent();
  const end = await execution.end;
  current = undefined;
  if (typeof end === "object" && end.stored) {
    stored.set(job.id, execution);
    setTimeout(() => stored.delete(job.id), KEPT_MS).unref();
  }
  // The message copies the whole underlying buffer, so the body must be alone in it.
  return typeof end === "object" ? { ...end, body: ownBytes(end.body) } : end;
}

function begin(tool: ToolHost, { id, work }: Job): Execution<Answer | number | undefined> {
  const log = logOf(id);
  switch (work.kind) {
    case "call": {
      const call = { input: unpackInput(takeInput(work)), auth: work.auth, json: work.json };
      return tool.call(call, performance.now() + Number(work.deadline - process.hrtime.bigint()) / 1e6, log);
    }
    case "authorize":
      return tool.authorize(work.auth, log);
    default:
      return tool.health(log);
  }
}

/** Handles the broadcast that a result was sent; the job may belong to another thread. */
async function noteReturned(id: number): Promise<void> {
  const execution = stored.get(id);
  if (execution === undefined) return;
  stored.delete(id);
  await execution.returned?.();
  parentPort?.postMessage(id);
}

/** Aborts the running job for each reason that is set for its place. */
function abortCurrent(): void {
  if (current === undefined) return;
  const bits = Atomics.load(reasons, current.place);
  for (const [i, reason] of REASONS.entries()) if (bits & (1 << i)) current.execution.abort(reason);
}

const logOf = (job: number | undefined): Logger => SafeLogger.of(new JobLog(job));

/** Writes to the log of the main thread. */
class JobLog implements Logger {
  constructor(private readonly job: number | undefined) {}

  debug(first: object | string, message?: string): void {
    this.write("debug", first, message);
  }

  info(first: object | string, message?: string): void {
    this.write("info", first, message);
  }

  warn(first: object | string, message?: string): void {
    this.write("warn", first, message);
  }

  error(first: object | string, message?: string): void {
    this.write("error", first, message);
  }

  private write(level: ThreadLog["level"], first: object | string, second?: string): void {
    const [fields, message] = typeof first === "string" ? [{}, first] : [first, second];
    const line: ThreadLog = { level, fields, message, job: this.job };
    try {
      parentPort?.postMessage(line);
    } catch {
      // A field, such as a function, cannot be cloned.
      parentPort?.postMessage({ ...line, fields: printed(fields) });
    }
  }
}

/** Copies an object's members; those that cannot be cloned become text. */
function printed(fields: object): Record<string, unknown> {
  const text = (value: unknown) => {
    try {
      return inspect(value, { depth: 2 });
    } catch {
      return "cannot be printed";
    }
  };
  const member = (value: unknown) => {
    try {
      return structuredClone(value);
    } catch {
      return text(value);
    }
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, member(value)]));
}

// This must come last, because the application logs while it is loaded. A thread that cannot load its tool reports the
// error when a job runs.
const loaded = await load().then(
  (host) => () => host,
  (error: unknown) => () => {
    throw error;
  },
);
