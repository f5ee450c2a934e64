/** What files and folders hold, as short texts that are equal when the contents are. No compiler in this file. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function contentHash(content: string | Buffer): string {
  return createHash("sha1").update(content).digest("hex");
}

/** The hash of a file's text, equal to {@link contentHash} of the text in UTF-8; a byte order mark is none of it. */
export function fileHash(path: string): string | undefined {
  try {
    const bytes = readFileSync(path);
    const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return contentHash(marked ? bytes.subarray(3) : bytes);
  } catch {
    return undefined;
  }
}

/** Names and kinds of the entries but for `own`; what is in the files has hashes of its own. Empty without such a folder. */
export function folderHash(path: string, own: readonly string[]): string {
  try {
    const entries = readdirSync(path, { withFileTypes: true }).filter(
      ({ name }) => !name.endsWith(".tmp") && !own.includes(join(path, name)),
    );
    return contentHash(JSON.stringify(entries.map((entry) => [entry.name, entry.isDirectory()]).sort()));
  } catch {
    return "";
  }
}
