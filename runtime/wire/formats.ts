/**
 * The formats of texts that decoding checks (`@format` in JSDoc), by their names in JSON Schema. The rules are ajv-formats'
 * full ones; a date-time is what a `Date` member takes. None of them takes more than linear time.
 */

import { fullFormats } from "ajv-formats/dist/formats.js";
import { parseDateTime } from "./date-time.js";

type Check = (text: string) => boolean;

/** Generated contracts name these: a name that is here stays. */
export const formats: Readonly<Record<string, Check>> = {
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

function checkOf(name: keyof typeof fullFormats): Check {
  const format: unknown = fullFormats[name];
  if (format instanceof RegExp) return (text) => format.test(text);
  const { validate } = format as { validate: Check };
  return typeof format === "function" ? (format as Check) : validate;
}

/** Names of the formats that are checked. Any other one is published and not checked. */
export const FORMAT_NAMES: readonly string[] = Object.keys(formats);
