/** The log of one request: the log of its tool plus the request id. Created for the first line. */

import { asciiText } from "../../wire/printable.js";
import type { ServerLogger } from "../log/safe-logger.js";

/** Maximum characters of a caller's text in the log. */
const MAX_TEXT = 64;

/** A caller's text for the log: truncated, with all but visible ASCII replaced by `?`. */
export function shown(text: string): string {
  return asciiText(text, MAX_TEXT);
}

/** Writes lines with the members `tool` and `request`. */
export class CallLog implements ServerLogger {
  #child: ServerLogger | undefined;
  readonly #parent: ServerLogger;
  readonly #id: string;

  /** @param parent the log of the tool */
  constructor(parent: ServerLogger, id: string) {
    this.#parent = parent;
    this.#id = id;
  }

  debug(first: object | string, message?: string): void {
    // `debug` and `info` are often off. The check avoids creating the log for a line that is not written.
    if (this.#parent.isLevelEnabled?.("debug") === false) return;
    this.#log.debug(first as object, message);
  }

  info(first: object | string, message?: string): void {
    if (this.#parent.isLevelEnabled?.("info") === false) return;
    this.#log.info(first as object, message);
  }

  warn(first: object | string, message?: string): void {
    this.#log.warn(first as object, message);
  }

  error(first: object | string, message?: string): void {
    this.#log.error(first as object, message);
  }

  child(fields: Readonly<Record<string, unknown>>): ServerLogger {
    return this.#log.child(fields);
  }

  get #log(): ServerLogger {
    this.#child ??= this.#parent.child({ request: this.#id });
    return this.#child;
  }
}
