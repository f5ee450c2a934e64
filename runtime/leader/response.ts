/** Reads error answers (protocol.md section 7). */

import { JsonError } from "../wire/json-error.js";
import { plainValue } from "../wire/untyped-json.js";
import { LeaderError } from "./error.js";
import type { HttpResponse } from "./http-messages.js";

/** The error of an answer: the server's code and details when they have the protocol's form. */
export function responseError({ status, headers, body }: HttpResponse): LeaderError {
  const { error: code, details } = errorMembers(body);
  if (typeof code !== "string" || !/^[a-z_]{1,64}$/.test(code)) {
    return new LeaderError("invalid_answer", "neither a result nor an error of the protocol", { status });
  }
  // Control characters of a remote text must not reach a terminal.
  const text = typeof details === "string" ? details.slice(0, 1000).replace(/\p{Cc}/gu, "\ufffd") : undefined;
  const after = headers["retry-after"];
  const retryAfter = typeof after === "string" && /^\d{1,9}$/.test(after) ? { retryAfter: Number(after) } : {};
  return new LeaderError(code, text, { status, ...retryAfter });
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
