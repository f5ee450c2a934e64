/**
 * Passes the tools to a thread of thread-host.ts. The application's entry module calls `bootstrap`, which on such a
 * thread hands over its tools instead of serving them.
 */

import type { ServedTool } from "../call/run/served-tool.js";

/** A global symbol, shared by all loaded copies of the runtime; tools may import a copy other than the thread's. */
const TAKER = Symbol.for("svc-runtime.isolate.v1");
const holder = globalThis as { [TAKER]?: (tools: readonly ServedTool[]) => void };

/** Resolves with the tools of the first `bootstrap` on this thread. */
export function receiveTools(): Promise<readonly ServedTool[]> {
  return new Promise((resolve) => {
    holder[TAKER] = resolve;
  });
}

/**
 * Hands the tools to the thread of thread-host.ts that runs this code.
 *
 * @returns false, without effect, on any other thread
 */
export function offerTools(tools: readonly ServedTool[]): boolean {
  holder[TAKER]?.(tools);
  return holder[TAKER] !== undefined;
}
