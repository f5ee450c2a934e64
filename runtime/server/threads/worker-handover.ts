/**
 * Passes tools to a thread of thread-host.ts: on such a thread, `bootstrap` in the application's entry module hands
 * over its tools instead of serving them.
 */

import type { ServedTool } from "../call/run/served-tool.js";

/** Global symbol, shared by all loaded copies of the runtime; tools may import another copy than the thread. */
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
 * @returns false on any other thread, without effect
 */
export function offerTools(tools: readonly ServedTool[]): boolean {
  holder[TAKER]?.(tools);
  return holder[TAKER] !== undefined;
}
