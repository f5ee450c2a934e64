/**
 * svc-runtime/internal/protocol: names and limits of the protocol. Runs in browsers. Only for svc-gen of the same
 * version.
 */

export * from "../wire/protocol.js";
