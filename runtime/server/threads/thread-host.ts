/**
 * Isolated tools on worker threads: a tool that blocks its thread, ends it or exhausts its memory fails only its own
 * call. Each tool has a pool; a thread does one job at a time, so that a crash ends no other job.
 */

import { randomUUID } from "node:crypto";
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BroadcastChannel } from "node:worker_threads";
import type { Piscina } from "piscina";
import { checkedInteger } from "../../checked-integer.js";
import type { AuthContext, InvocationAborted, IsolateOptions, Logger } from "../../tool.js";
import { CLOSE_LIMIT_MS, hasClose } from "../call/class-hooks.js";
import {
  type Answer,
  type Call,
  callerCopy,
  type Execution,
  refusal,
  type ToolHost,
  takeInput,
} from "../call/messages.js";
import type { ServedTool } from "../call/served-tool.js";
import { type ErrorCode, statusOf } from "../errors/request-error.js";
import { StartupError } from "../errors/startup-error.js";
import { Semaphore } from "../load/semaphore.js";
import type { ServerLogger } from "../log/safe-logger.js";
import {
  CLOSED,
  type Job,
  KEPT_MS,
  packInput,
  REASONS,
  type ThreadData,
  type ThreadLog,
  type Work,
} from "./worker-messages.js";

/**
 * Starts a thread pool for each tool that is isolated.
 *
 * @param fallback the setting for tools whose class has none
 * @returns a function that terminates the threads, with any jobs that still run
 * @throws RangeError for invalid options, {@link StartupError} when a thread cannot load its tool
 */
export async function isolateTools(
  tools: readonly ServedTool[],
  fallback: Fallback,
  log: ServerLogger,
): Promise<() => Promise<void>> {
  const wanted = tools.flatMap((tool) => {
    const options = isolationOf(tool, fallback);
    return options === undefined ? [] : [{ tool, settings: settingsOf(options) }];
  });
  const started: Threads[] = [];
  const end = async () => {
    await Promise.all(started.map((threads) => threads.close()));
  };
  const starts = wanted.map(async ({ tool, settings }) => {
    const threads = await Threads.start(tool, settings, log.child({ tool: tool.fqn }));
    started.push(threads);
    tool.host = new ThreadHost(threads, settings);
  });
  const fault = (await Promise.allSettled(starts)).find((start) => start.status === "rejected");
  if (fault === undefined) return end;
  await end();
  throw fault.reason;
}

/**
 * Requires the option `entry` of each isolated tool that is mounted in an author's application. A thread that loaded
 * the application's own module would start a second application.
 *
 * @throws {@link StartupError}
 */
export function requireEntries(tools: readonly ServedTool[], fallback: Fallback): void {
  for (const tool of tools) {
    const options = isolationOf(tool, fallback);
    if (options === undefined || options.entry !== undefined) continue;
    throw new StartupError(
      `isolate of ${tool.fqn}: expected an entry beside a mounted tool; name a module that calls bootstrap with the same tools as isolate.entry`,
    );
  }
}

type Fallback = boolean | IsolateOptions | undefined;

/** The isolation options of a tool: those of its class, else those for all tools. Undefined when it is not isolated. */
function isolationOf({ tool }: ServedTool, fallback: Fallback): IsolateOptions | undefined {
  const given = tool.isolate?.() ?? fallback ?? false;
  return given === false ? undefined : given === true ? {} : given;
}

interface Settings {
  readonly threads: number;
  readonly memoryMb: number;
  readonly graceMs: number;
  readonly queue: number;
  readonly entry: string;
}

/** @throws RangeError for invalid options, {@link StartupError} without an entry module */
function settingsOf({ threads, memoryMb, graceMs, queue, entry }: IsolateOptions): Settings {
  return {
    threads: checkedInteger(
      "isolate.threads",
      threads ?? Math.min(4, Math.max(2, availableParallelism())),
      1,
      256,
      "threads",
    ),
    memoryMb: checkedInteger("isolate.memoryMb", memoryMb ?? 256, 16, 1_048_576, "MiB"),
    graceMs: checkedInteger("isolate.graceMs", graceMs ?? 1_000, 0, 2_147_483_647, "milliseconds"),
    queue: checkedInteger("isolate.queue", queue ?? 100, 0, 1_000_000, "calls"),
    entry: entryOf(entry),
  };
}

/** Path of the module that the threads load. */
function entryOf(given: IsolateOptions["entry"]): string {
  const entry = given ?? process.argv[1];
  if (entry === undefined) {
    throw new StartupError(
      "isolate: node was started without a file; give the module that calls bootstrap as isolate.entry",
    );
  }
  const isUrl = typeof entry !== "string" || entry.startsWith("file:");
  const name = typeof entry === "string" ? entry : entry.href;
  try {
    // Resolves like node's own entry point: follows links and adds an extension.
    return createRequire(import.meta.url).resolve(isUrl ? fileURLToPath(name) : resolve(name));
  } catch {
    throw new StartupError(`isolate: the entry module ${isUrl ? name : resolve(name)} does not exist`);
  }
}

/** Thread pool of one tool. */
class Threads {
  readonly #pool: Piscina;
  readonly #reasons: Int32Array;
  readonly #wakeUp: BroadcastChannel;
  readonly #logs = new Map<number, Logger>();
  readonly #settlements = new Map<number, () => void>();
  #serial = 0;
  #onClosed = () => {};
  /** True once termination of the threads has begun. */
  closed = false;

  private constructor(
    pool: Piscina,
    data: ThreadData,
    readonly graceMs: number,
    private readonly hasClose: boolean,
    private readonly log: Logger,
  ) {
    this.#pool = pool;
    this.#reasons = data.reasons;
    this.#wakeUp = new BroadcastChannel(data.channel);
    this.#wakeUp.unref();
    pool.on("message", (message: unknown) => {
      if (typeof message === "number") this.#settlements.get(message)?.();
      else if (message === CLOSED) this.#onClosed();
      else if (isThreadLog(message)) this.#write(message, log);
    });
    pool.on("error", (error: unknown) => log.error({ err: error }, "a thread of the tool ended"));
  }

  /** @throws {@link StartupError} when a thread cannot load the tool */
  static async start(tool: ServedTool, settings: Settings, log: Logger): Promise<Threads> {
    // Imported here, because processes without isolated tools do not need it.
    const { Piscina } = await import("piscina");
    const { fqn } = tool;
    const { threads, memoryMb, graceMs, entry } = settings;
    // One thread more than calls may use: it serves health checks and replaces a terminated thread at once.
    const reasons = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * (threads + 1)));
    const data: ThreadData = { entry, fqn, reasons, channel: `svc-runtime ${randomUUID()}` };
    const pool = new Piscina({
      filename: new URL("tool-worker.js", import.meta.url).href,
      minThreads: data.reasons.length,
      maxThreads: data.reasons.length,
      // Waiting with Atomics would block the thread's event loop, and with it timers of the tool's connections.
      atomics: "disabled",
      stricterFIFO: true,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
      workerData: data,
    });
    const started = new Threads(pool, data, graceMs, hasClose(tool), log);
    try {
      const places = [...reasons.keys()];
      const load = (place: number) => started.run({ id: started.nextId(), place, work: { kind: "load" } }, 0, log);
      await Promise.all(places.map(load));
    } catch (error) {
      await started.close();
      throw new StartupError(`isolate: no thread can load ${fqn} from ${entry}: ${(error as Error)?.message}`);
    }
    return started;
  }

  nextId(): number {
    return ++this.#serial;
  }

  /**
   * Runs a job on a thread; rejects when the thread ends first.
   *
   * @param reasons bits of the abort reasons set before the job began
   * @param kill an emitter whose event `abort` terminates the thread
   */
  async run(job: Job, reasons: number, log: Logger, kill = new EventEmitter()): Promise<unknown> {
    const { id, place, work } = job;
    Atomics.store(this.#reasons, place, reasons);
    this.#logs.set(id, log);
    try {
      const transferList = work.kind === "call" && work.input !== undefined ? [work.input.bytes.buffer] : [];
      return await this.#pool.run(job, { transferList, signal: kill });
    } finally {
      this.#logs.delete(id);
    }
  }

  /** Sends abort reasons, as bits, to the job at a place. */
  abort(place: number, reasons: number): void {
    Atomics.store(this.#reasons, place, reasons);
    if (!this.closed) this.#wakeUp.postMessage(undefined);
  }

  /**
   * Informs the thread that ran a job that the job's result was sent. Resolves when the thread confirms, or after
   * {@link KEPT_MS}.
   */
  returned(id: number): Promise<void> {
    return new Promise((resolve) => {
      const noted = () => {
        clearTimeout(timer);
        this.#settlements.delete(id);
        resolve();
      };
      const timer = setTimeout(noted, KEPT_MS).unref();
      this.#settlements.set(id, noted);
      this.#wakeUp.postMessage(id);
    });
  }

  /** Makes each thread run `close()` of its tool's class, and waits at most the time limit. */
  async #closeClass(): Promise<void> {
    let left = this.#pool.threads.length;
    const ms = CLOSE_LIMIT_MS + CLOSE_GRACE_MS;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.log.warn({ threads: left, limitMs: CLOSE_LIMIT_MS }, "close() of the tool did not end in time");
        resolve();
      }, ms);
      this.#onClosed = () => {
        if (--left > 0) return;
        clearTimeout(timer);
        resolve();
      };
      this.#wakeUp.postMessage(CLOSED);
    });
  }

  #write({ level, fields, message, job }: ThreadLog, fallback: Logger): void {
    const log = (job === undefined ? undefined : this.#logs.get(job)) ?? fallback;
    log[level](fields, message);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.hasClose) await this.#closeClass();
    this.#wakeUp.close();
    await this.#pool.destroy();
  }
}

/** Milliseconds beyond {@link CLOSE_LIMIT_MS} for the answer of a thread. */
const CLOSE_GRACE_MS = 500;

const LEVELS: readonly unknown[] = ["debug", "info", "warn", "error"];

/** Whether a message is a log line of worker-messages.ts; a tool's code can post any message. */
function isThreadLog(line: unknown): line is ThreadLog {
  return LEVELS.includes((line as ThreadLog | undefined)?.level) && typeof (line as ThreadLog).fields === "object";
}

const SHUTDOWN = 1 << REASONS.indexOf("shutdown");

/** Conversion of a job's outcome. */
interface Ends<T> {
  /** Converts the value that the thread returned. */
  answer(end: unknown): T;
  /** Makes the outcome of a job without a returned value. */
  fault(code: ErrorCode): T;
}

/** A job that waits for a place (a numbered permit of the tool's semaphore), then runs on a thread. */
class ThreadWork<T> implements Execution<T> {
  readonly end: Promise<T>;
  readonly #id: number;
  readonly #kill = new EventEmitter();
  #resolve: (end: T) => void = () => {};
  #place: number | undefined;
  #ended = false;
  /** Abort reasons so far, as bits of {@link REASONS}. */
  #reasons = 0;
  #grace: NodeJS.Timeout | undefined;
  #killed = false;

  constructor(
    private readonly threads: Threads,
    private readonly places: Semaphore,
    private readonly work: () => Work,
    private readonly ends: Ends<T>,
    private readonly log: Logger,
  ) {
    this.#id = threads.nextId();
    this.end = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    const place = places.tryTake();
    if (place !== undefined) this.#begin(place);
    else if (!places.wait(this.#begin)) this.#settle(ends.fault("overloaded"));
  }

  abort(reason: InvocationAborted["reason"]): void {
    if (this.#ended) return;
    this.#reasons |= 1 << REASONS.indexOf(reason);
    if (this.#place === undefined) {
      // A disconnected caller may retry and get the answer; after a timeout or shutdown nothing waits for it.
      if (reason === "disconnect") return;
      this.places.leave(this.#begin);
      this.#settle(this.ends.fault(reason === "timeout" ? "tool_invocation_timeout" : "shutting_down"));
      return;
    }
    this.threads.abort(this.#place, this.#reasons);
    if (reason === "timeout") this.#grace ??= setTimeout(() => this.#end(), this.threads.graceMs);
  }

  returned(): Promise<void> {
    return this.threads.returned(this.#id);
  }

  readonly #begin = (place: number): void => {
    this.#place = place;
    void this.#run(place).then((end) => {
      clearTimeout(this.#grace);
      this.#settle(end);
      this.places.give(place);
    });
  };

  async #run(place: number): Promise<T> {
    try {
      const job = { id: this.#id, place, work: this.work() };
      return this.ends.answer(await this.threads.run(job, this.#reasons, this.log, this.#kill));
    } catch (error) {
      if (this.#killed) return this.ends.fault("tool_invocation_timeout");
      // The thread ended because the pool is closed. The caller already has a response, and how far the job got is
      // unknown, so its replay entry stays in flight.
      if (this.threads.closed) return new Promise<never>(() => {});
      this.log.error({ err: error }, "the tool's thread ended during a call");
      return this.ends.fault((this.#reasons & SHUTDOWN) !== 0 ? "shutting_down" : "tool_invocation_failed");
    }
  }

  #end(): void {
    this.#killed = true;
    this.#kill.emit("abort");
    this.log.warn({ graceMs: this.threads.graceMs }, "the tool did not stop after its deadline: its thread is ended");
  }

  #settle(end: T): void {
    this.#ended = true;
    this.#resolve(end);
  }
}

/** Runs a tool on its thread pool. */
class ThreadHost implements ToolHost {
  readonly #calls: Semaphore;
  /** The extra place, and thread, that calls cannot use, so that a health check never waits for calls. */
  readonly #checks: Semaphore;

  constructor(
    private readonly threads: Threads,
    { threads: count, queue }: Settings,
  ) {
    this.#calls = new Semaphore(count, queue);
    this.#checks = new Semaphore(1, 0, count);
  }

  call(call: Call, deadline: number, log: Logger): Execution {
    const { auth, json } = call;
    const work = (): Work => {
      const left = BigInt(Math.round((deadline - performance.now()) * 1e6));
      return {
        kind: "call",
        input: packInput(takeInput(call)),
        auth: auth && callerCopy(auth),
        json,
        deadline: process.hrtime.bigint() + left,
      };
    };
    return new ThreadWork(this.threads, this.#calls, work, { answer: answerOf, fault: refusal }, log);
  }

  authorize(auth: AuthContext, log: Logger): Execution<Answer | undefined> {
    const answer = (end: unknown) => (end === undefined ? undefined : answerOf(end));
    return new ThreadWork(
      this.threads,
      this.#calls,
      () => ({ kind: "authorize", auth: callerCopy(auth) }),
      { answer, fault: refusal },
      log,
    );
  }

  health(log: Logger): Execution<number> {
    const ends = { answer: (end: unknown) => end as number, fault: statusOf };
    return new ThreadWork(this.threads, this.#checks, () => ({ kind: "health" }), ends, log);
  }
}

function answerOf(end: unknown): Answer {
  const answer = end as Answer;
  return { ...answer, body: Buffer.from(answer.body.buffer, answer.body.byteOffset, answer.body.length) };
}
