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
  if (typeof text !== "string" || fqnProblem(text) !== undefined) return undefined;
  const [name, digits] = text.split("@") as [string, string];
  const version = Number(digits);
  return { name, version, text: `${name}@${version}` };
}

/**
 * Describes the first invalid part of a tool's name; undefined for a valid name. Quotes the text, so pass only texts
 * from the author of the tool or the configuration.
 */
export function fqnProblem(text: string): string | undefined {
  const at = text.indexOf("@");
  const name = at < 0 ? text : text.slice(0, at);
  if (name === "") return "the name is empty";
  const parts = name.split(".");
  for (const [index, part] of parts.entries()) {
    const problem = partProblem(part);
    if (problem !== undefined) return `part ${index + 1} ${problem}`;
  }
  if (parts.length < 3)
    return `${quoted(name, MAX_QUOTED)} has ${parts.length === 1 ? "one part" : "two parts"}, expected three or more`;
  if (at < 0) return "the version is missing: add @1";
  const version = text.slice(at + 1);
  if (version === "") return "the version after @ is missing: write @1";
  if (!DIGITS.test(version)) return `the version ${quoted(version, MAX_QUOTED)} is not a decimal number`;
  const isInRange = Number(version) >= 1 && Number(version) <= MAX_VERSION;
  return isInRange ? undefined : `the version ${quoted(version, MAX_QUOTED)} is not from 1 to ${MAX_VERSION}`;
}

function partProblem(part: string): string | undefined {
  if (PART.test(part)) return undefined;
  if (part === "") return "is empty";
  const which = `(${quoted(part, MAX_QUOTED)})`;
  const wrong = /[^a-z0-9_-]/u.exec(part)?.[0];
  if (wrong !== undefined) {
    return `${which} has the ${/[A-Z]/.test(wrong) ? "upper-case letter" : "character"} ${quoted(wrong, MAX_QUOTED)}`;
  }
  return /^[a-z]/.test(part)
    ? `${which} is too short: expected two characters or more`
    : `${which} does not begin with a letter`;
}
