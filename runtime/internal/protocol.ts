/**
 * svc-runtime/internal/protocol: names and limits of the protocol, and the notation of paths. Runs in browsers. Only for svc-gen of the same
 * version.
 */

export { pathText } from "../wire/fault.js";
export * from "../wire/protocol.js";
