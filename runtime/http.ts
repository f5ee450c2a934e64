/** svc-runtime/http: the HTTP requests that a tool makes. */

export type { HttpAnswer } from "./http/http-answer.js";
export { HttpError, type HttpErrorKind } from "./http/http-error.js";
export { type HttpOptions, http } from "./http/request.js";
export type { Dispatcher } from "./leader/transport.js";
