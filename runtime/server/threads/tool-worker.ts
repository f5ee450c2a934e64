/**
 * Worker thread of thread-host.ts. Loads the application's entry module once, then runs jobs of one tool, one at a
 * time.
 */

import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { workerData } from "node:worker_threads";
import { endsWithin } from "../../time-limit.js";
import type { InvocationAborted, Logger } from "../../tool.js";
import { type Answer, type Execution, type Health, type ToolHost, takeInput } from "../call/messages.js";
import { createClasses } from "../call/run/class-hooks.js";
import { lineLogger, SafeLogger } from "../log/safe-logger.js";
import { shareVerbosity } from "../log/verbosity.js";
import { receiveTools } from "./worker-handover.js";
import {
  type FromThread,
  ownBytes,
  type ThreadData,
  type ThreadLog,
  type ToThread,
  unpackInput,
  type Work,
} from "./worker-messages.js";

/** Time limit, in milliseconds, for an entry module to call `bootstrap`. */
const LOAD_MS = 30_000;
/**
 * Milliseconds for which the stored values of a result are kept, until the main thread reports that the result was
 * sent.
 */
const KEPT_MS = 30_000;

const { entry, fqn, port, verbosity } = workerData as ThreadData;
shareVerbosity(verbosity);
/** Execution of the current job; undefined while none is running. */
let current: Execution<unknown> | undefined;
/** Abort reasons received since the last job was started, possibly before its execution began. */
let reasons: InvocationAborted["reason"][] = [];

/** Calls `close()` of the tool's class. */
let closeClass = async () => {};

/** Executions whose result contains stored values with a `returned` callback, by id of the job. */
const stored = new Map<number, Execution<unknown>>();

for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (err: unknown) => logOf(0).error({ err }, `${event} outside a call`));
}

async function load(): Promise<ToolHost> {
  // Same value as in a process that was started with the entry module.
  process.argv[1] = entry;
  const tools = receiveTools();
  const late = new Promise<never>((_, reject) => {
    setTimeout(
      () => reject(new Error(`the entry module did not call bootstrap within ${LOAD_MS} ms`)),
      LOAD_MS,
    ).unref();
  });
  const failed = import(pathToFileURL(entry).href).then(() => late);
  const tool = (await Promise.race([tools, failed, late])).find((served) => served.fqn === fqn);
  if (tool === undefined) throw new Error(`the entry module calls bootstrap without the tool ${fqn}`);
  closeClass = await createClasses([tool], { log: logOf(0) });
  return tool.host;
}

/** Runs a job for the main thread. */
async function run(id: number, work: Work): Promise<unknown> {
  switch (work.kind) {
    case "returned":
      await endsWithin(KEPT_MS, Promise.resolve(stored.get(work.call)?.returned?.()));
      stored.delete(work.call);
      return undefined;
    case "close":
      return closeClass();
    case "load":
      return void (await loaded);
    default:
      return execute(id, work);
  }
}

async function execute(id: number, work: Execute): Promise<unknown> {
  reasons = [];
  const execution = begin(await loaded, id, work);
  current = execution;
  for (const reason of reasons) execution.abort(reason);
  const end = await execution.end;
  current = undefined;
  if (end === undefined) return end;
  const error = sendable(end.error);
  if (!("body" in end)) return { ...end, error };
  if (end.stored) {
    stored.set(id, execution);
    setTimeout(() => stored.delete(id), KEPT_MS).unref();
  }
  // Posting a message copies the whole underlying buffer, so the buffer must contain only the body.
  return { ...end, error, body: ownBytes(end.body) };
}

type Execute = Extract<Work, { readonly kind: "call" | "authorize" | "health" }>;

function begin(tool: ToolHost, id: number, work: Execute): Execution<Answer | Health | undefined> {
  const log = logOf(id);
  switch (work.kind) {
    case "call": {
      const call = { input: unpackInput(takeInput(work)), auth: work.auth, json: work.json };
      return tool.call(call, performance.now() + Number(work.deadline - process.hrtime.bigint()) / 1e6, log);
    }
    case "authorize":
      return tool.authorize(work.auth, log);
    case "health":
      return tool.health(log);
  }
}

const send = (message: FromThread) => port.postMessage(message);

/**
 * Makes an error that can be sent in a message. Drops its cause if that cannot be cloned, for example because it is a
 * function.
 */
function sendable(error: unknown): unknown {
  try {
    structuredClone(error);
    return error;
  } catch {
    if (!(error instanceof Error)) return printedValue(error);
    const plain = new Error(textOf(() => error.message));
    plain.stack = textOf(() => error.stack);
    return plain;
  }
}

/** Reads a property as a string; empty if its getter throws. */
function textOf(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return "";
  }
}

/** Writes to the log of the main thread. */
function logOf(id: number): Logger {
  const write = (level: ThreadLog["level"], fields: object, message: string | undefined) => {
    const line: ThreadLog = { level, fields, message, id };
    try {
      send(line);
    } catch {
      // A field cannot be cloned, for example a function.
      send({ ...line, fields: printed(fields) });
    }
  };
  return SafeLogger.of(lineLogger(write));
}

function printedValue(value: unknown): string {
  try {
    return inspect(value, { depth: 2 });
  } catch {
    return "cannot be printed";
  }
}

/** Copies an object's members; converts those that cannot be cloned to text. */
function printed(fields: object): Record<string, unknown> {
  const member = (value: unknown) => {
    try {
      return structuredClone(value);
    } catch {
      return printedValue(value);
    }
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, member(value)]));
}

// Must come last, because the application logs while it loads. If loading fails, every job rejects with that error.
const loaded = load();
loaded.catch(() => {});
port.on("message", (message: ToThread) => {
  if ("abort" in message) {
    reasons.push(message.abort);
    current?.abort(message.abort);
    return;
  }
  const { id, work } = message;
  run(id, work)
    .then((value) => send({ id, value }))
    .catch((error: unknown) =>
      send({ id, error: error instanceof Error ? sendable(error) : new Error(printedValue(error)) }),
    );
});
