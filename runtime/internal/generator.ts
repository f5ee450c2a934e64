/**
 * svc-runtime/internal/generator: code without I/O that servers and svc-gen share, so that both agree. Only for svc-gen
 * of the same version; any version may change the exports.
 */

export { closest, didYouMean } from "../config/did-you-mean.js";
export { fqnProblem, parseFqn } from "../fqn.js";
export { isLoopback } from "../loopback.js";
export type {
  Codec,
  Contract,
  ListConstraints,
  NumberBounds,
  Port,
  TextConstraints,
  Variant,
} from "../wire/contract.js";
export { isMultiple } from "../wire/decode/constraints.js";
export { ValueDecoder } from "../wire/decode/decoder.js";
export { FORMAT_NAMES, formats } from "../wire/decode/formats.js";
export { bigintRange } from "../wire/decode/mismatch.js";
export { contentKind, textKind } from "../wire/described-text.js";
export { ERROR_CODES, type ErrorCode, type Ran } from "../wire/error-codes.js";
export { pathText, WireFault } from "../wire/fault.js";
export { itemsOf } from "../wire/json/document.js";
export { JsonError, lineColumn } from "../wire/json/error.js";
export { type Json, JsonObject, readOrdered } from "../wire/json/ordered-json.js";
export { prettyJson } from "../wire/json/pretty-json.js";
export { quote, textOf } from "../wire/json/print.js";
export { membersByName, scalarOf } from "../wire/json/read.js";
export { parseJson } from "../wire/json/scan.js";
export { exactValue as readExact } from "../wire/json/untyped-json.js";
export { localUrl, metadataListing, metadataText } from "../wire/metadata.js";
export { derivePorts, FAILURE_VARIANT, isPortName, PortError } from "../wire/ports.js";
export { escaped, quoted, truncated, unicodeEscapes, withoutControls } from "../wire/printable.js";
export * from "../wire/protocol.js";
