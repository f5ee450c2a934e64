/** Logger that never throws. The server and its tools log only through it. */

import type { Logger } from "../../tool.js";

/** Logger with child loggers, for the server. Any pino logger is suitable. */
export interface ServerLogger extends Logger {
  child(fields: Readonly<Record<string, unknown>>): ServerLogger;
  /** Whether lines of a level are written. If absent, lines of all levels are written. */
  isLevelEnabled?(level: string): boolean;
}

export interface DroppedLines {
  dropped: number;
}

/** Forwards lines to a logger. Counts a line as dropped if the logger throws or rejects. */
export class SafeLogger implements ServerLogger {
  readonly #logger: ServerLogger | Logger;
  readonly #isWritten: ((level: string) => boolean) | undefined;

  private constructor(
    logger: ServerLogger | Logger,
    readonly lines: DroppedLines,
    isWritten?: (level: string) => boolean,
  ) {
    this.#logger = logger;
    this.#isWritten = isWritten;
  }

  /**
   * @param lines counter for dropped lines, such as that of the logger's destination
   * @param isWritten level filter, for a logger without its own
   */
  static of(
    logger: ServerLogger | Logger,
    lines: DroppedLines = { dropped: 0 },
    isWritten?: (level: string) => boolean,
  ): SafeLogger {
    return logger instanceof SafeLogger ? logger : new SafeLogger(logger, lines, isWritten);
  }

  isLevelEnabled(level: string): boolean {
    if (this.#isWritten !== undefined) return this.#isWritten(level);
    try {
      return (this.#logger as ServerLogger).isLevelEnabled?.(level) ?? true;
    } catch {
      return true;
    }
  }

  /** Child logger. If the logger cannot create one, lines are written without the fields. */
  child(fields: Readonly<Record<string, unknown>>): SafeLogger {
    let logger = this.#logger;
    try {
      logger = (logger as ServerLogger).child(fields);
    } catch {}
    return new SafeLogger(logger, this.lines, this.#isWritten);
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
    if (!this.isLevelEnabled(level)) return;
    const drop = () => {
      this.lines.dropped++;
    };
    try {
      const logger = this.#logger;
      const written: unknown =
        message === undefined ? logger[level](first as object) : logger[level](first as object, message);
      if (isThenable(written)) Promise.resolve(written).catch(drop);
    } catch {
      drop();
    }
  }
}

/** Logger that passes each line to a function. */
export function lineLogger(write: (level: keyof Logger, fields: object, message: string | undefined) => void): Logger {
  const at = (level: keyof Logger) => (first: object | string, message?: string) =>
    typeof first === "string" ? write(level, {}, first) : write(level, first, message);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
