import type { Buffer } from "#platform/bytes";
import type { SignatureEngine } from "./ed25519-keys.js";

/** Engine that returns each signature in a new Buffer. */
export type Ed25519Engine = SignatureEngine<Buffer>;

/** Selected engine, and the reason for the log. */
export interface EngineSelection {
  readonly engine: Ed25519Engine;
  /** Lower case, no full stop. */
  readonly reason: string;
}
