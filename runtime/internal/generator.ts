/**
 * svc-runtime/internal/generator: code without I/O that servers and svc-gen share, so that both agree. Only for svc-gen
 * of the same version; any version may change the exports.
 */

export { closest, didYouMean } from "svc-client/internal/did-you-mean";
export { fqnProblem, parseFqn } from "svc-client/internal/fqn";
export { isLoopback } from "svc-client/internal/loopback";
export { decimalOf, isMultiple } from "svc-client/internal/wire/codec/constraints";
export type {
  Codec,
  Contract,
  ListConstraints,
  NumberBounds,
  Port,
  TextConstraints,
  ToolHints,
  Variant,
} from "svc-client/internal/wire/codec/contract";
export { ValueDecoder } from "svc-client/internal/wire/codec/decoder";
export { derivePorts, FAILURE_VARIANT, isPortName, PortError } from "svc-client/internal/wire/codec/ports";
export { ERROR_CODES, type ErrorCode, type Ran } from "svc-client/internal/wire/error-codes";
export { pathText, WireFault } from "svc-client/internal/wire/fault";
export { itemsOf } from "svc-client/internal/wire/json/document";
export { JsonError, lineColumn } from "svc-client/internal/wire/json/error";
export { type Json, JsonObject, readOrdered } from "svc-client/internal/wire/json/ordered-json";
export { prettyJson } from "svc-client/internal/wire/json/pretty-json";
export { quote, textOf } from "svc-client/internal/wire/json/print";
export { membersByName, scalarOf } from "svc-client/internal/wire/json/read";
export { parseJson } from "svc-client/internal/wire/json/scan";
export { exactValue as readExact } from "svc-client/internal/wire/json/untyped-json";
export { bigintRange } from "svc-client/internal/wire/kinds";
export { escaped, quoted, truncated, unicodeEscapes, withoutControls } from "svc-client/internal/wire/printable";
export * from "svc-client/internal/wire/protocol";
export { contentKind, jsonSlip, textKind } from "../described-text.js";
export { loadOpenTelemetry } from "../server/log/open-telemetry.js";
export { FORMAT_NAMES, formats } from "../server/wire/formats.js";
export { localUrl, metadataListing, metadataText } from "../server/wire/metadata.js";
