/** Content negotiation of unsigned calls: JSON or BCS for the result (protocol.md section 6, RFC 9110 section 12.5.1). */

import { RESULT_CONTENT_TYPE } from "svc-client/internal/wire/protocol";

/** Format of unsigned calls' results: `json` follows `Accept` and defaults to JSON; `bcs` is always BCS. */
export type UnsignedResults = "json" | "bcs";

/**
 * Whether `Accept` contains the result content type with at least the quality of JSON.
 *
 * @param accept the `Accept` header
 */
export function prefersBcs(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(RESULT_CONTENT_TYPE)) return false;
  const qualities = new Map<string, number>();
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const quality = weight === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
    qualities.set(type, quality);
  }
  const bcs = qualities.get(RESULT_CONTENT_TYPE) ?? 0;
  const json = qualities.get("application/json") ?? qualities.get("application/*") ?? qualities.get("*/*") ?? 0;
  return bcs > 0 && bcs >= json;
}
