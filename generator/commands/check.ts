/** `svc-gen --check`: what would change, as a unified diff. */

import { createTwoFilesPatch } from "diff";

export interface StaleFile {
  readonly path: string;
  /** Undefined when there is no such file. */
  readonly old: string | undefined;
  readonly text: string;
}

const CONTEXT = 3;
const SHOWN = 60;
/** Characters of a line: schemas and tables stand on one. */
const WIDEST = 200;
/** Added and removed lines beyond which looking for the smallest difference would take seconds. */
const FARTHEST = 2000;

/** The message for stale files: what differs and the command that mends it. */
export function staleReport(files: readonly StaleFile[]): string {
  const parts = files.map(({ path, old, text }) =>
    old === undefined ? `${path}: missing\n` : unified(path, old, text),
  );
  const count = files.length === 1 ? "1 file is" : `${files.length} files are`;
  return `${parts.join("\n")}\nsvc-gen: ${count} stale; run \`svc-gen\` and commit the result\n`;
}

/** A unified diff with {@link CONTEXT} lines around each change, cut to what a person reads. */
export function unified(path: string, old: string, next: string): string {
  const patch = createTwoFilesPatch(path, path, old, next, "", "as svc-gen writes it", {
    context: CONTEXT,
    maxEditLength: FARTHEST,
    headerOptions: { includeIndex: false, includeUnderline: false, includeFileHeaders: true },
  });
  if (patch === undefined) return `${path}: differs in more than ${FARTHEST} lines\n`;
  const lines = patch.trimEnd().split("\n").map(cut);
  const more = lines.length - SHOWN;
  return `${[...lines.slice(0, SHOWN), ...(more > 0 ? [`… ${more} more lines`] : [])].join("\n")}\n`;
}

function cut(line: string): string {
  return line.length <= WIDEST ? line : `${line.slice(0, WIDEST)}… (${line.length} characters)`;
}
