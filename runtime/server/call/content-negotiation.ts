/** Content negotiation: JSON or BCS for the result (protocol.md section 6, RFC 9110 section 12.5.1). */

import { RESULT_CONTENT_TYPE } from "../../wire/http-names.js";

/**
 * True when `application/json` has a strictly higher quality than both the result content type and everything else.
 *
 * @param accept the `Accept` header; undefined accepts every type
 */
export function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const qualities = new Map<string, number>();
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const quality = weight === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
    qualities.set(type, quality);
  }
  const anything = qualities.get("*/*") ?? 0;
  const of = (type: string) => qualities.get(type) ?? qualities.get("application/*") ?? anything;
  const json = of("application/json");
  return json > of(RESULT_CONTENT_TYPE) && json > anything;
}
