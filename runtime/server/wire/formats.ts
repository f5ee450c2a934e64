/**
 * Text formats (`@format` in JSDoc) that decoding checks, by JSON Schema name. The rules are ajv-formats' full ones,
 * except that `date-time` accepts the same texts as a `Date` member. All checks take linear time.
 */

import { fullFormats } from "ajv-formats/dist/formats.js";
import type { Formats } from "svc-client/internal/wire/codec/constraints";
import { parseDateTime } from "svc-client/internal/wire/date-time";

type FormatCheck = Formats[string];

/** Checks by name. Do not remove a name: generated contracts refer to it. */
export const formats: Formats = {
  date: checkOf("date"),
  time: checkOf("time"),
  "date-time": (text) => parseDateTime(text) !== undefined,
  duration: checkOf("duration"),
  uri: checkOf("uri"),
  "uri-reference": checkOf("uri-reference"),
  "uri-template": checkOf("uri-template"),
  email: checkOf("email"),
  hostname: checkOf("hostname"),
  ipv4: checkOf("ipv4"),
  ipv6: checkOf("ipv6"),
  uuid: checkOf("uuid"),
  "json-pointer": checkOf("json-pointer"),
  "relative-json-pointer": checkOf("relative-json-pointer"),
};

function checkOf(name: keyof typeof fullFormats): FormatCheck {
  const format: unknown = fullFormats[name];
  if (format instanceof RegExp) return (text) => format.test(text);
  const { validate } = format as { validate: FormatCheck };
  return typeof format === "function" ? (format as FormatCheck) : validate;
}

/** Names of the checked formats. Other formats appear in the schema but are not checked. */
export const FORMAT_NAMES: readonly string[] = Object.keys(formats);
