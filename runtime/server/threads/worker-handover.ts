/** Where a thread of isolate.ts gets its tool: the application's own entry module calls `bootstrap`, which serves nothing there. */

import type { ServedTool } from "../call/served-tool.js";

/** Under one symbol, so that two copies of the runtime agree: the tools bring the copy along that their classes extend. */
const TAKER = Symbol.for("svc-runtime.isolate.v1");
const holder = globalThis as { [TAKER]?: (tools: readonly ServedTool[]) => void };

/** Resolves with the tools of the first `bootstrap` on this thread. */
export function receiveTools(): Promise<readonly ServedTool[]> {
  return new Promise((resolve) => {
    holder[TAKER] = resolve;
  });
}

/** On a thread of isolate.ts hands it the tools, else does nothing. */
export function offerTools(tools: readonly ServedTool[]): boolean {
  holder[TAKER]?.(tools);
  return holder[TAKER] !== undefined;
}
