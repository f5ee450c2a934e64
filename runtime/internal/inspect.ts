/**
 * svc-runtime/internal/inspect: the parts of a call that svc-gen's development page shows. Only for svc-gen of the same
 * version; any version may change the exports.
 */

export { authorityOf } from "../config/listen-address.js";
export { engine } from "../leader/engine.js";
export { laxEnvelope } from "../leader/request/lax-request.js";
export { prepareLeader } from "../leader/request/request.js";
