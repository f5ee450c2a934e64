/** A time limit for synchronous work, such as matching a regular expression of the project. */

import { createContext, Script } from "node:vm";

/** Thrown by {@link runWithin}. */
export class OutOfTime extends Error {}

const holder = createContext({ run: (): unknown => undefined });
const script = new Script("run()");

/**
 * Runs a function for a limited time.
 *
 * @throws OutOfTime; what the function throws
 */
export function runWithin<T>(limitMs: number, run: () => T): T {
  holder.run = run;
  try {
    // The time limit of a script includes the functions that it calls. There is no other way to stop synchronous code.
    return script.runInContext(holder, { timeout: limitMs }) as T;
  } catch (error) {
    const isLimit = (error as NodeJS.ErrnoException).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
    throw isLimit ? new OutOfTime(`not done in ${limitMs} ms`) : error;
  }
}
