/**
 * A server of the tool {@link REPLY}, which answers messages about its memory.
 *
 *     controlled.ts FOLDER_OF_BUILT_FILES
 */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bootstrap, type SvcToolClass, ToolkitRuntimeConfig } from "#runtime/index.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { type Contract, provideContracts } from "#runtime/v1.js";

const [folder] = process.argv.slice(2) as [string];
const built = (path: string) => import(pathToFileURL(join(folder, path)).href);
const { contracts } = (await built("generated/contracts.js")) as { contracts: readonly Contract[] };
const { Reply } = (await built("reply.js")) as { Reply: SvcToolClass };
const config = ToolkitRuntimeConfig.fromEnv();
const replayStore = new ReplayMemory({ ttlMs: (fqn) => config.toolConfig(fqn)?.replayTtlMs ?? 0 });

/** What the process holds after a collection, and what the replay store says that it holds. */
export interface Held {
  /** Bytes on the heap and outside of it. */
  readonly held: number;
  readonly accounted: number;
  readonly entries: number;
}

process.on("message", () => {
  for (let i = 0; i < 3; i++) globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const { entries, bytes } = replayStore.stats();
  process.send?.({ held: heapUsed + external, accounted: bytes, entries } satisfies Held);
});

provideContracts(contracts);
await bootstrap(Reply, { config, replayStore });
