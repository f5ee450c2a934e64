// Tool names: `domain.name@version` (protocol section 1).

import { quoted } from "./wire/printable.js";

const PART = /^[a-z][a-z0-9_-]+$/;
const DIGITS = /^[0-9]+$/;
/** Maximum number of characters of a name that a message quotes. */
const MAX_QUOTED = 60;
const MAX_VERSION = 0xffff_ffff;

/** A tool's fully qualified name. */
export interface ToolFqn {
  /** At least three dot-separated parts, without the version. */
  readonly name: string;
  /** 1 to 4,294,967,295. */
  readonly version: number;
  /** `name@version` with the version in its shortest form; used for metadata, look-up and comparison. */
  readonly text: string;
}

/**
 * Parses a tool's fully qualified name: at least three parts `[a-z][a-z0-9_-]+` joined by dots, `@`, and a decimal
 * version from 1 to 4,294,967,295 whose leading zeros are dropped. Linear in the length of the text.
 *
 * @returns undefined for any other text
 */
export function parseFqn(text: string): ToolFqn | undefined {
  if (typeof text !== "string") return undefined;
  const at = text.indexOf("@");
  if (at < 0) return undefined;
  const name = text.slice(0, at);
  const parts = name.split(".");
  if (parts.length < 3 || !parts.every((part) => PART.test(part))) return undefined;
  const version = parseVersion(text.slice(at + 1));
  return version === undefined ? undefined : { name, version, text: `${name}@${version}` };
}

/**
 * Describes the first invalid part of a tool's name; undefined for a valid name. Quotes the text, so pass only texts
 * from the author of the tool or the configuration.
 */
export function fqnProblem(text: string): string | undefined {
  if (parseFqn(text) !== undefined) return undefined;
  const at = text.indexOf("@");
  const name = at < 0 ? text : text.slice(0, at);
  if (name === "") return "the name is empty";
  const parts = name.split(".");
  for (const [index, part] of parts.entries()) {
    const which = `part ${index + 1} (${quoted(part, MAX_QUOTED)})`;
    if (part === "") return `part ${index + 1} is empty`;
    const wrong = /[^a-z0-9_-]/u.exec(part)?.[0];
    if (wrong !== undefined && /[A-Z]/.test(wrong))
      return `${which} has the upper-case letter ${quoted(wrong, MAX_QUOTED)}`;
    if (wrong !== undefined) return `${which} has the character ${quoted(wrong, MAX_QUOTED)}`;
    if (!/^[a-z]/.test(part)) return `${which} does not begin with a letter`;
    if (part.length < 2) return `${which} is too short: expected two characters or more`;
  }
  if (parts.length < 3)
    return `${quoted(name, MAX_QUOTED)} has ${parts.length === 1 ? "one part" : "two parts"}, expected three or more`;
  if (at < 0) return "the version is missing: add @1";
  const version = text.slice(at + 1);
  if (version === "") return "the version after @ is missing: write @1";
  if (!DIGITS.test(version)) return `the version ${quoted(version, MAX_QUOTED)} is not a decimal number`;
  return `the version ${quoted(version, MAX_QUOTED)} is not from 1 to ${MAX_VERSION}`;
}

function parseVersion(digits: string): number | undefined {
  if (!DIGITS.test(digits)) return undefined;
  let start = 0;
  while (start < digits.length - 1 && digits[start] === "0") start++;
  if (digits.length - start > 10) return undefined;
  const version = Number(digits.slice(start));
  return version >= 1 && version <= MAX_VERSION ? version : undefined;
}
