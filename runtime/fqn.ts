// Tool names: `domain.name@version` (protocol section 1).

const PART = /^[a-z][a-z0-9_-]+$/;
const DIGITS = /^[0-9]+$/;
const MAX_VERSION = 0xffff_ffff;

/** A tool's fully qualified name. */
export interface ToolFqn {
  /** At least three dot-separated parts, without the version. */
  readonly name: string;
  /** 1 to 4,294,967,295. */
  readonly version: number;
  /** `name@version` with the version in its shortest form, for metadata, look-up and comparison. */
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

function parseVersion(digits: string): number | undefined {
  if (!DIGITS.test(digits)) return undefined;
  let start = 0;
  while (start < digits.length - 1 && digits[start] === "0") start++;
  if (digits.length - start > 10) return undefined;
  const version = Number(digits.slice(start));
  return version >= 1 && version <= MAX_VERSION ? version : undefined;
}
