/** Unified diff of the changes that a run would make: the output of `svc-gen --check`. */

import { createTwoFilesPatch } from "diff";

export interface StaleFile {
  readonly path: string;
  /** Undefined if the file does not exist. */
  readonly old: string | undefined;
  readonly text: string;
}

const CONTEXT = 3;
const MAX_LINES = 60;
/** Maximum number of characters of a line; a schema may fill one long line. */
const MAX_LINE_LENGTH = 200;
/** Maximum number of added and removed lines. With more, finding the smallest difference takes seconds. */
const MAX_EDITS = 2000;

/** The message for stale files: the differences and the command that updates them. */
export function staleReport(files: readonly StaleFile[]): string {
  const parts = files.map(({ path, old, text }) =>
    old === undefined ? `${path}: missing\n` : unified(path, old, text),
  );
  const count = files.length === 1 ? "1 file is" : `${files.length} files are`;
  return `${parts.join("\n")}\nsvc-gen: ${count} stale; run \`svc-gen\` and commit the result\n`;
}

/** Unified diff with {@link CONTEXT} lines around each change, limited to {@link MAX_LINES} lines. */
export function unified(path: string, old: string, next: string): string {
  const isFar = Math.abs(lineEnds(old) - lineEnds(next)) > MAX_EDITS;
  // Even with a limit on edits, comparing texts whose lengths differ by millions of lines takes gigabytes of memory.
  const patch = isFar
    ? undefined
    : createTwoFilesPatch(path, path, old, next, "", "as svc-gen would write it", {
        context: CONTEXT,
        maxEditLength: MAX_EDITS,
        headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
      });
  if (patch === undefined) return `${path}: more than ${MAX_EDITS} lines differ\n`;
  const lines = patch.trimEnd().split("\n").map(cut);
  const more = lines.length - MAX_LINES;
  return `${[...lines.slice(0, MAX_LINES), ...(more > 0 ? [`… ${more} more lines`] : [])].join("\n")}\n`;
}

function lineEnds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function cut(line: string): string {
  return line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH)}… (${line.length} characters)`;
}
