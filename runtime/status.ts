/**
 * HTTP status codes for `health()`, by their registered names (RFC 9110 section 15).
 *
 * @example
 * ```ts
 * import { StatusCode } from "svc-runtime";
 * import { Sum } from "./sum.js";
 *
 * export class Resting extends Sum {
 *   override async health() {
 *     return new Date().getUTCHours() < 6 ? StatusCode.SERVICE_UNAVAILABLE : StatusCode.OK;
 *   }
 * }
 * ```
 */
export const StatusCode = {
  OK: 200,
  ACCEPTED: 202,
  NO_CONTENT: 204,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_SERVER_ERROR: 500,
  NOT_IMPLEMENTED: 501,
  BAD_GATEWAY: 502,
  SERVICE_UNAVAILABLE: 503,
  GATEWAY_TIMEOUT: 504,
  INSUFFICIENT_STORAGE: 507,
} as const;

/** A status from 200 to 599, such as one of the {@link StatusCode} values. */
export type StatusCode = number;
