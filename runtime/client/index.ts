/**
 * svc-runtime/leader: the protocol client, for leaders, tool authors and tests. Reads a tool's metadata, derives its
 * ports, builds, signs and sends requests, and verifies and decodes results (protocol.md sections 2 to 8).
 */

export { prepareSigningKey, prepareVerifyKey, publicKeyOf } from "#platform/ed25519";
export { type KeyReading, readPrivateKey } from "./keys.js";
export { MAX_ANSWER_BYTES } from "./leader/call.js";
export {
  LeaderClient,
  TIMEOUT_MARGIN_MS,
  type ToolAddress,
  type ToolClient,
} from "./leader/client.js";
export { LeaderError, type LeaderErrorCode, type LeaderErrorFacts, type LeaderFault } from "./leader/error.js";
export { readMetadata, type ToolMetadata } from "./leader/metadata.js";
export type { CallEnd, CallOptions, CallStart, CloseOptions, InvokeOptions, LeaderOptions } from "./leader/options.js";
export { type CommittedValue, MAX_RECEIPT_BYTES, type ReceiptInput } from "./leader/receipt/parse-receipt.js";
export {
  type ReadReceiptOptions,
  type ReceiptClaim,
  ReceiptError,
  readReceipt,
  type VerifiedReceipt,
} from "./leader/receipt/read-receipt.js";
export type { ReceiptOptions } from "./leader/receipt/result-receipt.js";
export {
  buildEnvelope,
  buildUnsignedBody,
  JsonText,
  type Leader,
  type SignOptions,
  signRequest,
} from "./leader/request/request.js";
export type { Attempts, Envelope, SignedRequest } from "./leader/request/signed-request.js";
export { readRequest, type StoredRequest } from "./leader/request/stored-request.js";
export type { CallFacts, CallResult, SignatureState } from "./leader/result/call-result.js";
export type { ReadBudget, ReadOptions, ResolvedResult, ResolvedValue, ValueReader } from "./leader/result/resolve.js";
export {
  decodeResult,
  type PublicKey,
  type ResultPort,
  type ToolResult,
  verifyToolSignature,
} from "./leader/result/result.js";
export type { ToolKeys } from "./leader/tool-keys.js";
export type {
  ErrEvalOutput,
  InputOf,
  OutputOf,
  ResolvedOutputOf,
  SentInput,
  ToolType,
  UntypedTool,
} from "./leader/tool-types.js";
export type { Dispatcher } from "./leader/transport/dispatcher.js";
export type { TlsOptions } from "./leader/transport/transport.js";
export type { Invocation } from "./wire/bcs/bcs.js";
export type { MetaSchema, PortShape, VariantShape } from "./wire/bcs/bcs-shapes.js";
export { InlineValue, WalrusValue } from "./wire/bcs/data.js";
export { derivePorts } from "./wire/codec/ports.js";
export type { ErrorCode, Ran } from "./wire/error-codes.js";
export type { Receipt, ReceiptPort, ReceiptValue } from "./wire/receipt.js";
export { SigningKey, VerifyKey } from "./wire/signature/ed25519-keys.js";
export { InputHasher } from "./wire/signature/input-hash.js";
export { invocationNonce } from "./wire/signature/nonce.js";
export { outputHash } from "./wire/signature/signature.js";
