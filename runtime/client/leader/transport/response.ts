import { ERROR_CODES, isErrorCode } from "../../wire/error-codes.js";
import { JsonError } from "../../wire/json/error.js";
import { plainValue } from "../../wire/json/untyped-json.js";
import { withoutControls } from "../../wire/printable.js";
import { LeaderError } from "../error.js";
import { retryAfterOf } from "../waiting.js";
import type { HttpResponse } from "./transport.js";

const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Converts an error answer (protocol.md section 7). Uses code and details of the server if they have the format of the
 * protocol.
 */
export function responseError({ status, headers, body }: HttpResponse): LeaderError {
  const id = headers["x-request-id"];
  const requestId = typeof id === "string" ? withoutControls(id, 64) : undefined;
  const facts = { status, retryAfter: retryAfterOf(headers), requestId };
  const { error: code, details } = errorMembers(body);
  if (typeof code !== "string" || !/^[a-z_]{1,64}$/.test(code)) {
    if (GATEWAY_STATUSES.has(status)) {
      return new LeaderError("gateway_error", "the gateway got no answer from the tool", facts);
    }
    const got = status >= 300 && status < 400 ? "a redirect, which is not followed: set the final address" : "neither";
    return new LeaderError("invalid_answer", `expected a result or an error of the protocol, got ${got}`, facts);
  }
  const text = typeof details === "string" ? withoutControls(details, 1000) : undefined;
  if (!isErrorCode(code)) {
    return new LeaderError("unknown_error", text === undefined ? code : `${code}: ${text}`, facts);
  }
  // A code with a wrong status is not reliable.
  return new LeaderError(code, text, ERROR_CODES[code].status === status ? facts : { ...facts, ran: "maybe" });
}

function errorMembers(body: Uint8Array): { error?: unknown; details?: unknown } {
  try {
    const value = plainValue(body);
    return value !== null && typeof value === "object" ? value : {};
  } catch (error) {
    if (error instanceof JsonError) return {};
    throw error;
  }
}
