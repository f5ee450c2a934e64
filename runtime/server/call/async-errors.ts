/**
 * Errors that a tool throws outside of its calls, from a timer or a promise that nobody waits for: whose are they?
 *
 * Following every call through its timers and promises costs a call 8 % of its CPU time on Node 20 (docs/operations.md),
 * so it begins with the first such error of a process; a process of one tool knows the name anyway.
 */

import { AsyncLocalStorage } from "node:async_hooks";

let calls: AsyncLocalStorage<string> | undefined;

/** Runs the code of a tool so that what it leaves behind can be told to be its own. */
export function runAsTool<T>(tool: string, work: () => T): T {
  return calls === undefined ? work() : calls.run(tool, work);
}

/**
 * Names the tool of an error, called where the process is told of it; from the first call on, calls are followed.
 *
 * @param served the tools of this process
 * @returns fields for the log: `tool`, or `tools` when it may have been any of them
 */
export function strayFields(
  served: readonly string[],
): { readonly tool: string } | { readonly tools: readonly string[] } {
  const tool = calls?.getStore() ?? (served.length === 1 ? served[0] : undefined);
  calls ??= new AsyncLocalStorage();
  return tool === undefined ? { tools: served } : { tool };
}
