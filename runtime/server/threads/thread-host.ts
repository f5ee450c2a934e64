/**
 * Runs isolated tools on worker threads. If a tool blocks its thread, ends it or exhausts its memory, only its own call
 * fails. Each tool has a pool, and a thread does one job at a time.
 */

import { createRequire } from "node:module";
import os from "node:os";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { checkedInteger } from "svc-client/internal/checked-integer";
import { asBuffer } from "svc-client/internal/wire/bytes";
import { type ErrorCode, statusOf } from "svc-client/internal/wire/error-codes";
import { MAX_TIMEOUT_MS } from "svc-client/internal/wire/protocol";
import { endsWithin } from "../../time-limit.js";
import type { AuthContext, InvocationAborted, IsolateOptions, Logger } from "../../tool.js";
import {
  type Answer,
  type Call,
  callerCopy,
  type Execution,
  errorAnswer,
  type Health,
  type ToolHost,
  takeInput,
} from "../call/messages.js";
import { CLOSE_LIMIT_MS, CLOSE_OVERDUE, hasClose } from "../call/run/class-hooks.js";
import type { ServedTool } from "../call/run/served-tool.js";
import { StartupError } from "../errors/startup-error.js";
import { Semaphore } from "../load/semaphore.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { ToolThread } from "./tool-thread.js";
import { packInput, type Work } from "./worker-messages.js";

/**
 * Starts a thread pool for each isolated tool.
 *
 * @param fallback setting for tools whose class has none
 * @returns a function that terminates the threads and all jobs still running
 * @throws RangeError for invalid options, {@link StartupError} if a thread cannot load its tool
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
 * Requires the option `entry` for each isolated tool that is mounted in an author's application. By default, a thread
 * would load the application's main module and start the application again.
 *
 * @throws {@link StartupError}
 */
export function requireEntryModules(tools: readonly ServedTool[], fallback: Fallback): void {
  for (const tool of tools) {
    const options = isolationOf(tool, fallback);
    if (options === undefined || options.entry !== undefined) continue;
    throw new StartupError(
      `isolate of ${tool.fqn}: a mounted tool requires isolate.entry; set it to a module that calls bootstrap with the same tools`,
    );
  }
}

/**
 * Maximum total heap bytes of all threads.
 *
 * @throws RangeError for invalid options
 */
export function threadHeaps(tools: readonly ServedTool[], fallback: Fallback): number {
  const each = tools.flatMap((tool) => {
    const options = isolationOf(tool, fallback);
    if (options === undefined) return [];
    const { threads, memoryMb } = settingsOf(options);
    return [(threads + 1) * memoryMb * 2 ** 20];
  });
  return each.reduce((sum, bytes) => sum + bytes, 0);
}

type Fallback = boolean | IsolateOptions | undefined;

/** Isolation options of a tool: those of its class, otherwise those for all tools. Undefined if it is not isolated. */
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

/** @throws RangeError for invalid options, {@link StartupError} if there is no entry module */
function settingsOf({ threads, memoryMb, graceMs, queue, entry }: IsolateOptions): Settings {
  return {
    threads: checkedInteger(
      "isolate.threads",
      threads ?? Math.min(4, Math.max(2, os.availableParallelism())),
      1,
      256,
      "threads",
    ),
    memoryMb: checkedInteger("isolate.memoryMb", memoryMb ?? 256, 16, 1_048_576, "MiB"),
    graceMs: checkedInteger("isolate.graceMs", graceMs ?? 1_000, 0, MAX_TIMEOUT_MS, "milliseconds"),
    queue: checkedInteger("isolate.queue", queue ?? 100, 0, 1_000_000, "calls"),
    entry: entryOf(entry),
  };
}

/** Path of the module that the threads load. */
function entryOf(given: IsolateOptions["entry"]): string {
  const entry = given ?? process.argv[1];
  if (entry === undefined) {
    throw new StartupError(
      "isolate: Node was started without a file; set isolate.entry to the module that calls bootstrap",
    );
  }
  const isUrl = typeof entry !== "string" || entry.startsWith("file:");
  const name = typeof entry === "string" ? entry : entry.href;
  try {
    // Resolves like Node's own entry point: follows links and adds an extension.
    return createRequire(import.meta.url).resolve(isUrl ? fileURLToPath(name) : resolve(name));
  } catch {
    throw new StartupError(`isolate: the entry module ${isUrl ? name : resolve(name)} does not exist`);
  }
}

/**
 * Threads of one tool. There is one thread more than calls may use, for health checks and to replace a thread that has
 * ended.
 */
class Threads {
  readonly #all = new Set<ToolThread>();
  /** Idle threads; those that are still loading come last. */
  readonly #free: Promise<ToolThread>[] = [];
  /** True when termination of the threads has begun. */
  closed = false;

  readonly #tool: ServedTool;
  readonly #settings: Settings;
  readonly #log: Logger;

  private constructor(tool: ServedTool, settings: Settings, log: Logger) {
    this.#tool = tool;
    this.#settings = settings;
    this.#log = log;
  }

  /** @throws {@link StartupError} if a thread cannot load the tool */
  static async start(tool: ServedTool, settings: Settings, log: Logger): Promise<Threads> {
    const threads = new Threads(tool, settings, log);
    for (let i = 0; i <= settings.threads; i++) threads.#free.push(threads.#load());
    try {
      await Promise.all(threads.#free);
    } catch (error) {
      await threads.close();
      const { message } = error as Error;
      throw new StartupError(`isolate: a thread could not load ${tool.fqn} from ${settings.entry}: ${message}`);
    }
    return threads;
  }

  get graceMs(): number {
    return this.#settings.graceMs;
  }

  /** Takes an idle thread, and waits if it is still loading. Rejects if the thread cannot load the tool. */
  async take(): Promise<ToolThread> {
    const thread = await (this.#free.shift() ?? this.#load());
    return thread.ended ? this.take() : thread;
  }

  /** Returns a thread, or replaces it if it has ended. */
  give(thread: ToolThread): void {
    if (!thread.ended) this.#free.unshift(Promise.resolve(thread));
    else if (!this.closed) this.#replace();
  }

  async close(): Promise<void> {
    this.closed = true;
    const all = [...this.#all];
    if (hasClose(this.#tool)) {
      let left = all.length;
      const closed = all.map((thread) => thread.run({ kind: "close" }).finally(() => left--));
      if (!(await endsWithin(CLOSE_LIMIT_MS + CLOSE_GRACE_MS, Promise.allSettled(closed)))) {
        this.#log.warn({ threads: left, limitMs: CLOSE_LIMIT_MS }, CLOSE_OVERDUE);
      }
    }
    await Promise.all(all.map((thread) => thread.end()));
  }

  #replace(): void {
    const thread = this.#load();
    this.#free.push(thread);
    thread.catch((error: unknown) => {
      // The thread is not loaded again here: a job that finds no idle thread starts a new one.
      const at = this.#free.indexOf(thread);
      if (at !== -1) this.#free.splice(at, 1);
      if (!this.closed) this.#log.error({ err: error }, "a new thread could not load the tool");
    });
  }

  /** Replaces an idle thread that has ended. A thread that ends during a job is replaced when it is returned. */
  #over(ended: ToolThread): void {
    this.#all.delete(ended);
    for (const free of [...this.#free]) {
      void free.then(
        (thread) => {
          const at = this.#free.indexOf(free);
          if (thread !== ended || at === -1 || this.closed) return;
          this.#free.splice(at, 1);
          this.#replace();
        },
        () => {},
      );
    }
  }

  async #load(): Promise<ToolThread> {
    const { entry, memoryMb } = this.#settings;
    if (this.closed) throw new Error("the threads of the tool are closed");
    const thread = new ToolThread({ entry, fqn: this.#tool.fqn, memoryMb }, this.#log, () => this.#over(thread));
    this.#all.add(thread);
    try {
      await thread.run({ kind: "load" });
      return thread;
    } catch (error) {
      void thread.end();
      throw error;
    }
  }
}

/** Additional milliseconds, after {@link CLOSE_LIMIT_MS}, for a thread to respond. */
const CLOSE_GRACE_MS = 500;

interface Ends<T> {
  /** Converts the value that the thread returned. */
  answer(end: unknown): T;
  /** Creates the outcome of a job that returned no value; `error` is set if its thread failed. */
  fault(code: ErrorCode, error?: unknown): T;
}

/** A job that waits for a permit, then runs on a thread. */
class ThreadWork<T> implements Execution<T> {
  readonly end: Promise<T>;
  #resolve: (end: T) => void = () => {};
  #thread: ToolThread | undefined;
  /** Id of the job on its thread. */
  #id = 0;
  #ended = false;
  readonly #reasons: InvocationAborted["reason"][] = [];
  #grace: NodeJS.Timeout | undefined;
  #killed = false;

  readonly #threads: Threads;
  readonly #permits: Semaphore;
  readonly #work: () => Work;
  readonly #ends: Ends<T>;
  readonly #log: Logger;

  constructor(threads: Threads, permits: Semaphore, work: () => Work, ends: Ends<T>, log: Logger) {
    this.#threads = threads;
    this.#permits = permits;
    this.#work = work;
    this.#ends = ends;
    this.#log = log;
    this.end = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (permits.tryTake()) this.#begin();
    else if (!permits.wait(this.#begin)) this.#settle(ends.fault("overloaded"));
  }

  abort(reason: InvocationAborted["reason"]): void {
    if (this.#ended) return;
    this.#reasons.push(reason);
    if (this.#thread === undefined) {
      // A disconnected caller may retry and get the answer; after a timeout or shutdown, the answer is not needed.
      if (reason === "disconnect") return;
      this.#permits.leave(this.#begin);
      this.#settle(this.#ends.fault(reason === "timeout" ? "tool_invocation_timeout" : "shutting_down"));
      return;
    }
    this.#thread.abort(reason);
    if (reason === "timeout") this.#grace ??= setTimeout(() => this.#kill(), this.#threads.graceMs);
  }

  async returned(): Promise<void> {
    // If the thread has ended, the values are not settled and stay in the journal.
    await this.#thread?.run({ kind: "returned", call: this.#id }).catch(() => {});
  }

  readonly #begin = (): void => {
    void this.#run().then((end) => {
      this.#settle(end);
      this.#permits.give();
    });
  };

  async #run(): Promise<T> {
    try {
      const thread = await this.#threads.take();
      // The job was aborted while the thread was loading.
      if (this.#ended) {
        this.#threads.give(thread);
        return this.end;
      }
      this.#thread = thread;
      const ended = thread.run(this.#work(), this.#log);
      this.#id = thread.lastId;
      for (const reason of this.#reasons) thread.abort(reason);
      return this.#ends.answer(await ended);
    } catch (error) {
      if (this.#killed) return this.#ends.fault("tool_invocation_timeout");
      // The pool was closed, and the caller already has an answer. How far the job got is unknown, so its replay entry
      // stays in flight.
      if (this.#threads.closed) return new Promise<never>(() => {});
      this.#log.error({ err: error }, "the thread of the tool ended during a call; a new one replaces it");
      return this.#reasons.includes("shutdown")
        ? this.#ends.fault("tool_invocation_interrupted")
        : this.#ends.fault("tool_invocation_failed", error);
    } finally {
      clearTimeout(this.#grace);
      if (this.#thread !== undefined) this.#threads.give(this.#thread);
    }
  }

  #kill(): void {
    this.#killed = true;
    void this.#thread?.end();
    this.#log.warn(
      { graceMs: this.#threads.graceMs },
      "the tool did not stop after its deadline; its thread was terminated",
    );
  }

  #settle(end: T): void {
    this.#ended = true;
    this.#resolve(end);
  }
}

class ThreadHost implements ToolHost {
  readonly #calls: Semaphore;
  /** A separate permit, so that a health check never waits for calls. */
  readonly #checks = new Semaphore(1, 0);

  readonly #threads: Threads;

  constructor(threads: Threads, { threads: count, queue }: Settings) {
    this.#threads = threads;
    this.#calls = new Semaphore(count, queue);
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
    return new ThreadWork(this.#threads, this.#calls, work, { answer: receivedAnswer, fault }, log);
  }

  authorize(auth: AuthContext, log: Logger): Execution<Answer | undefined> {
    const answer = (end: unknown) => (end === undefined ? undefined : receivedAnswer(end));
    return new ThreadWork(
      this.#threads,
      this.#calls,
      () => ({ kind: "authorize", auth: callerCopy(auth) }),
      { answer, fault },
      log,
    );
  }

  health(log: Logger): Execution<Health> {
    const ends = {
      answer: (end: unknown) => end as Health,
      fault: (code: ErrorCode, error?: unknown) => ({ status: statusOf(code), error }),
    };
    return new ThreadWork(this.#threads, this.#checks, () => ({ kind: "health" }), ends, log);
  }
}

const fault = (code: ErrorCode, error?: unknown) => errorAnswer(code, undefined, error);

/** Answer that a thread returned. A message turns its Buffer into a Uint8Array. */
function receivedAnswer(end: unknown): Answer {
  const answer = end as Answer;
  return { ...answer, body: asBuffer(answer.body) };
}
