import type { Receipt } from "../../wire/receipt.js";
import type { ReceiptOptions } from "../receipt/result-receipt.js";
import type { ByVariant, OutputOf, ToolType, UntypedTool } from "../tool-types.js";
import type { ResultPort } from "./result.js";

/**
 * - `verified`: signed by a key of the tool
 * - `unverified`: signed, but the client has no key to verify it
 * - `unsigned`: no signature, and no proof that the result comes from the tool
 */
export type SignatureState = "verified" | "unverified" | "unsigned";

/** The parts of a result that do not depend on its variant. */
export interface CallFacts {
  readonly ports: readonly ResultPort[];
  readonly signature: SignatureState;
  /** The canonical result, as received. */
  readonly bcs: Uint8Array;
  /** 32 bytes: hash of the result, which the tool's signature covers. */
  readonly outputHash: Uint8Array;
  /** 64 bytes; absent if the result is unsigned. */
  readonly toolSignature?: Uint8Array;
  /**
   * Receipt of the call: `JSON.stringify` prints it, and `readReceipt` verifies it without the server.
   *
   * @throws TypeError unless `signature` is `verified`; RangeError for names of unknown ports
   */
  receipt(options?: ReceiptOptions): Receipt;
}

/**
 * The result of a call, with its signature; `tag` narrows `value`.
 *
 * `value` contains the ports. With `contracts`, they have the types of the tool's class: a `bigint` is always a bigint, a
 * `Date` a `Date` and bytes a `Uint8Array`; absent optional members are absent. Otherwise they are exact JSON, as in
 * `ToolResult`.
 */
export type CallResult<Tool extends ToolType = UntypedTool> = ByVariant<OutputOf<Tool>, CallFacts>;
