/**
 * svc-runtime/internal/protocol: names and limits of the protocol, and the notation of paths. Runs in browsers. Only for svc-gen of the same
 * version.
 */

export { pathText } from "svc-client/internal/wire/fault";
export * from "svc-client/internal/wire/protocol";
