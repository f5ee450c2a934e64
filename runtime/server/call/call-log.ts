/** Log of one request: adds the request id to the tool's log. */

import { asciiText } from "../../wire/printable.js";
import type { ServerLogger } from "../log/safe-logger.js";

/** Maximum length, in characters, of text from a caller. */
const MAX_TEXT = 64;

/** Formats text from a caller: truncates it and replaces all except visible ASCII by `?`. */
export function shown(text: string): string {
  return asciiText(text, MAX_TEXT);
}

export class CallLog implements ServerLogger {
  #child: ServerLogger | undefined;
  readonly #parent: ServerLogger;
  readonly #id: string;

  /** @param parent log of the tool */
  constructor(parent: ServerLogger, id: string) {
    this.#parent = parent;
    this.#id = id;
  }

  debug(first: object | string, message?: string): void {
    // These levels are often off; the check avoids creating a child log for a line that is not written.
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
