/**
 * Writes log lines to standard error without blocking or throwing. Lines wait in a bounded buffer until the operating
 * system accepts them. If the buffer is full, additional lines are dropped and counted.
 */

import { constants, fstatSync, openSync, write, writeSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import type { DroppedLines } from "./safe-logger.js";

/** Maximum number of bytes that wait to be written. */
const MAX_WAITING_BYTES = 1_048_576;
/** Free bytes that the buffer must have before dropped lines are reported. */
const REPORT_BYTES = 4_096;
/** Delay before a failed write is retried, in milliseconds: doubled after each failure, up to the maximum. */
const MIN_RETRY_MS = 10;
const MAX_RETRY_MS = 1_000;
/** Time limit for flushing at the end of the process, in milliseconds, including a blocked write. */
const FLUSH_MS = 2_000;
/** Pause between attempts to write to a full pipe at the end of the process, in milliseconds. */
const PAUSE_MS = 10;

/** Bounded, asynchronous writes to a file descriptor. */
export class LogDestination implements DroppedLines {
  dropped = 0;
  /** Called with the number of newly dropped lines when lines can be written again. Must log that number. */
  onDropped: ((lines: number) => void) | undefined;
  #reported = 0;
  readonly #lines: string[] = [];
  #chunk: Buffer | undefined;
  /** Whether the last written byte is not the end of a line. */
  #isCut = false;
  /** Bytes of `#lines` and `#chunk` together. */
  #bytes = 0;
  #state: "idle" | "writing" | "waiting" = "idle";
  /** Start time of the write in flight. */
  #since = 0;
  #retryMs = MIN_RETRY_MS;
  /** Time at which `flushSync` stops retrying a full pipe. Set at the end of the process. */
  #flushBy: number | undefined;

  readonly #fd: number;
  readonly #neverBlocks: boolean;

  /** @param neverBlocks whether writes to the descriptor cannot block; then lines are written synchronously */
  constructor(fd: number, neverBlocks = false) {
    this.#fd = fd;
    this.#neverBlocks = neverBlocks;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > MAX_WAITING_BYTES) {
      this.dropped++;
      return;
    }
    this.#lines.push(line);
    this.#bytes += bytes;
    if (this.#flushBy !== undefined) this.flushSync();
    else if (this.#state === "idle") this.#next();
  }

  #next(): void {
    const chunk = this.#take();
    this.#state = chunk === undefined ? "idle" : "writing";
    if (chunk === undefined) return;
    if (this.#neverBlocks) {
      this.#ended(chunk, tryWrite(this.#fd, chunk));
      return;
    }
    this.#since = performance.now();
    write(this.#fd, chunk, (error, bytes) => {
      if (error?.code === "ENOSPC") this.#drop(chunk);
      this.#ended(chunk, error === null ? bytes : 0);
    });
  }

  /** Continues after a write of `bytes` bytes. If none were written, retries after a delay. */
  #ended(chunk: Buffer, bytes: number): void {
    if (bytes > 0) {
      this.#retryMs = MIN_RETRY_MS;
      this.#written(chunk, bytes);
      this.#next();
      return;
    }
    this.#state = "waiting";
    setTimeout(() => this.#next(), this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }

  /** Drops lines for which the disk has no space, so that they are counted before the buffer is full. */
  #drop(chunk: Buffer): void {
    // A line end at the beginning ends a line that was written.
    this.dropped += chunk.toString("latin1", 1).split("\n").length - 1;
    this.#bytes -= chunk.length;
    this.#chunk = undefined;
  }

  #take(): Buffer | undefined {
    if (this.#chunk === undefined && this.#lines.length > 0) {
      // After a line whose end was dropped, the next line begins on a line of its own.
      const end = this.#isCut ? "\n" : "";
      this.#bytes += end.length;
      this.#chunk = Buffer.from(end + this.#lines.splice(0).join(""));
    }
    return this.#chunk;
  }

  #written(chunk: Buffer, bytes: number): void {
    this.#chunk = bytes < chunk.length ? chunk.subarray(bytes) : undefined;
    this.#bytes -= bytes;
    this.#isCut = chunk[bytes - 1] !== 0x0a;
    const lines = this.dropped - this.#reported;
    if (lines === 0 || this.#bytes + REPORT_BYTES > MAX_WAITING_BYTES) return;
    this.#reported = this.dropped;
    this.onDropped?.(lines);
  }

  /** At the end of the process: writes the waiting lines, and all later lines synchronously. Stops at an error. */
  flushSync(): void {
    if (this.#state === "writing") {
      // A blocked write would keep the process from ending.
      if (isMainThread && performance.now() - this.#since > FLUSH_MS) process.kill(process.pid, "SIGKILL");
      // Node finishes any other write before the process ends, so the whole chunk will be written.
      sleep(PAUSE_MS);
      this.#state = "idle";
      this.#written(this.#chunk as Buffer, (this.#chunk as Buffer).length);
    }
    this.#flushBy ??= performance.now() + FLUSH_MS;
    for (let chunk = this.#take(); chunk !== undefined; chunk = this.#take()) {
      try {
        this.#written(chunk, writeSync(this.#fd, chunk));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || performance.now() > this.#flushBy) return;
        sleep(PAUSE_MS);
      }
    }
  }
}

/** Number of bytes written; 0 if the pipe is full or the write fails. */
function tryWrite(fd: number, chunk: Buffer): number {
  try {
    return writeSync(fd, chunk);
  } catch {
    return 0;
  }
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

let standardError: LogDestination | undefined;

/** The log destination of the process, shared by all loggers. */
export function standardErrorLog(): LogDestination {
  if (standardError === undefined) {
    const destination = openStandardError();
    standardError = destination;
    process.on("exit", () => destination.flushSync());
  }
  return standardError;
}

/** Opens standard error. Makes a pipe or socket non-blocking, so that it cannot block the exit if nothing reads it. */
function openStandardError(): LogDestination {
  if (!isMainThread) return new LogDestination(2);
  try {
    const stat = fstatSync(2);
    if (!stat.isFIFO() && !stat.isSocket()) return new LogDestination(2);
    // Reading this property makes the descriptor non-blocking, until the process starts a child that inherits it.
    void process.stderr;
    // Opens another descriptor that children do not share. Works only on Linux, and not for sockets.
    return new LogDestination(openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_NONBLOCK), true);
  } catch {
    return new LogDestination(2);
  }
}

/** Flushes the log, prints a last line on standard error and ends the process. */
export function exitWith(code: number, text: string): never {
  standardErrorLog().write(text);
  process.exit(code);
}
