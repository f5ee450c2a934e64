/** The Ed25519 engine of all clients of a process. */

import { type Ed25519Engine, selectEngine } from "#platform/ed25519";

let fastest: Ed25519Engine | undefined;

export function engine(): Ed25519Engine {
  fastest ??= selectEngine().engine;
  return fastest;
}
