/** The Ed25519 engine of all clients of this process, selected once. */

import { type Ed25519Engine, selectEngine } from "#platform/ed25519";

let fastest: Ed25519Engine | undefined;

/** The fastest available engine. */
export function engine(): Ed25519Engine {
  fastest ??= selectEngine().engine;
  return fastest;
}
