/** The Ed25519 engine of this process's leaders, chosen once. */

import { type Ed25519Engine, selectEngine } from "../wire/ed25519.js";

let fastest: Ed25519Engine | undefined;

/** The fastest engine that works here. */
export function engine(): Ed25519Engine {
  fastest ??= selectEngine().engine;
  return fastest;
}
