/** Log of a harness, kept as objects. */

import { AsyncLocalStorage } from "node:async_hooks";
import { lineLogger, type ServerLogger } from "../server/log/safe-logger.js";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  /** Logged fields; `tool` and `request` for a line of a call. Errors are kept as objects. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export class KeptLog {
  readonly lines: LogLine[] = [];
  readonly logger: ServerLogger = this.#logger({});
  readonly #call = new AsyncLocalStorage<{ error?: unknown }>();

  /** Runs a call. `error` in the result is the last error that the call logged. */
  async watch<T>(call: () => Promise<T>): Promise<{ readonly answer: T; readonly error: unknown }> {
    const seen: { error?: unknown } = {};
    const answer = await this.#call.run(seen, call);
    return { answer, error: seen.error };
  }

  #logger(bound: object): ServerLogger {
    const logger = lineLogger((level, own, message = "") => {
      const fields: Readonly<Record<string, unknown>> = { ...bound, ...own };
      this.lines.push({ level, message, fields });
      const seen = this.#call.getStore();
      if (seen !== undefined && fields.err !== undefined) seen.error = fields.err;
    });
    return { ...logger, child: (fields) => this.#logger({ ...bound, ...fields }) };
  }
}
