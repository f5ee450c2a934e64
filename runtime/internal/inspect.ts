/**
 * svc-runtime/internal/inspect: the parts of a call that svc-gen's development page shows. Only for svc-gen of the same
 * version; any version may change the exports.
 */

export { engine } from "svc-client/internal/leader/engine";
export { laxEnvelope } from "svc-client/internal/leader/request/lax-request";
export { prepareLeader } from "svc-client/internal/leader/request/request";
export { commitmentsOf, createReceipt } from "svc-client/internal/wire/receipt";
export { authorityOf } from "../config/listen-address.js";
