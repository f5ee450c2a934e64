/** A logger that cannot fail the code that writes to it: the only way in which the server, and its tools, see a logger. */

import type { Logger } from "../../tool.js";

/** A log that can be divided: what the server writes to. Any pino logger is one. */
export interface ServerLogger extends Logger {
  child(fields: Readonly<Record<string, unknown>>): ServerLogger;
  /** Whether a level is written; every level by one that does not say. */
  isLevelEnabled?(level: string): boolean;
}

/** Count of log lines that were lost. */
export interface DroppedLines {
  dropped: number;
}

/** Passes lines on. A line at which the logger throws, or whose promise rejects, is counted as dropped. */
export class SafeLogger implements ServerLogger {
  private constructor(
    private readonly logger: ServerLogger | Logger,
    readonly lines: DroppedLines,
  ) {}

  /** @param lines the count to add to, where the logger's destination has one */
  static of(logger: ServerLogger | Logger, lines: DroppedLines = { dropped: 0 }): SafeLogger {
    return logger instanceof SafeLogger ? logger : new SafeLogger(logger, lines);
  }

  isLevelEnabled(level: string): boolean {
    try {
      return (this.logger as ServerLogger).isLevelEnabled?.(level) ?? true;
    } catch {
      return true;
    }
  }

  child(fields: Readonly<Record<string, unknown>>): SafeLogger {
    try {
      return new SafeLogger((this.logger as ServerLogger).child(fields), this.lines);
    } catch {
      return this;
    }
  }

  debug(first: object | string, message?: string): void {
    this.#write("debug", first, message);
  }

  info(first: object | string, message?: string): void {
    this.#write("info", first, message);
  }

  warn(first: object | string, message?: string): void {
    this.#write("warn", first, message);
  }

  error(first: object | string, message?: string): void {
    this.#write("error", first, message);
  }

  #write(level: keyof Logger, first: object | string, message: string | undefined): void {
    const drop = () => {
      this.lines.dropped++;
    };
    try {
      const { logger } = this;
      const written: unknown =
        message === undefined ? logger[level](first as object) : logger[level](first as object, message);
      if (isThenable(written)) Promise.resolve(written).catch(drop);
    } catch {
      drop();
    }
  }
}

/** Whether a value is a promise of any library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
