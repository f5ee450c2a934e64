/** The engine of a process, on every platform. */

import type { Buffer } from "#platform/bytes";
import type { SignatureEngine } from "./ed25519-keys.js";

/** An engine whose signatures are Buffers of their own. */
export type Ed25519Engine = SignatureEngine<Buffer>;

/** The chosen engine, with the reason for the log. */
export interface EngineSelection {
  readonly engine: Ed25519Engine;
  /** Lower case, no full stop. */
  readonly reason: string;
}
