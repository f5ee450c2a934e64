/**
 * svc-runtime/internal/inspect: the parts of a call that the development page of svc-gen shows. Only for svc-gen of the same
 * version; every export may change with any version.
 */

export { engine } from "../leader/engine.js";
export { laxEnvelope } from "../leader/request/lax-request.js";
