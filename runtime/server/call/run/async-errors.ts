/**
 * Finds the tool that threw an error outside its calls, in a timer or an unawaited promise.
 *
 * Following every call through its timers and promises costs 8 % of the CPU time of a call on Node 20
 * (docs/write-a-tool.md), so it starts with the first such error of a process. If the process has only one tool, that
 * first error is attributed too.
 */

import { AsyncLocalStorage } from "node:async_hooks";

let calls: AsyncLocalStorage<string> | undefined;

/**
 * Runs the code of a tool. After the first call of {@link strayFields}, the timers and promises that the code creates
 * carry the name of the tool.
 */
export function runAsTool<T>(tool: string, work: () => T): T {
  return calls === undefined ? work() : calls.run(tool, work);
}

/**
 * Identifies the tool of an asynchronous error, for the error handlers of the process. The first call makes {@link
 * runAsTool} follow all later calls.
 *
 * @param served names of the tools of this process
 * @returns fields for the log: `tool`, or `tools` if any of them may have thrown the error
 */
export function strayFields(
  served: readonly string[],
): { readonly tool: string } | { readonly tools: readonly string[] } {
  const tool = calls?.getStore() ?? (served.length === 1 ? served[0] : undefined);
  calls ??= new AsyncLocalStorage();
  return tool === undefined ? { tools: served } : { tool };
}
