/**
 * Text formats (`@format` in JSDoc) that decoding checks, by JSON Schema name. The rules are ajv-formats' full ones,
 * except that `date-time` accepts the same texts as a `Date` member. All checks take linear time.
 */

import { fullFormats } from "ajv-formats/dist/formats.js";
import type { Formats } from "svc-client/internal/wire/codec/constraints";
import { parseDateTime } from "svc-client/internal/wire/date-time";

type FormatCheck = Formats[string];

/** Names of the checked formats. Do not remove a name: generated contracts refer to it. */
const NAMES = [
  "date",
  "time",
  "date-time",
  "duration",
  "uri",
  "uri-reference",
  "uri-template",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
  "json-pointer",
  "relative-json-pointer",
] as const;

function checkOf(name: keyof typeof fullFormats): FormatCheck {
  const format: unknown = fullFormats[name];
  if (format instanceof RegExp) return (text) => format.test(text);
  const { validate } = format as { validate: FormatCheck };
  return typeof format === "function" ? (format as FormatCheck) : validate;
}

/** Checks by name. */
export const formats: Formats = {
  ...Object.fromEntries(NAMES.map((name) => [name, checkOf(name)])),
  "date-time": (text) => parseDateTime(text) !== undefined,
};

/** Names of the checked formats. Other formats appear in the schema but are not checked. */
export const FORMAT_NAMES: readonly string[] = Object.keys(formats);
