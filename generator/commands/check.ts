/** `svc-gen --check`: what would change, line by line. */

export interface StaleFile {
  readonly path: string;
  /** Undefined when there is no such file. */
  readonly old: string | undefined;
  readonly text: string;
}

const CONTEXT = 2;
const SHOWN = 40;

/** The message for stale files: what differs and the command that mends it. */
export function staleReport(files: readonly StaleFile[]): string {
  const parts = files.map(({ path, old, text }) => {
    if (old === undefined) return `${path}: missing\n`;
    return `--- ${path}\n+++ ${path} (as svc-gen writes it)\n${lineDiff(old, text)}`;
  });
  const count = files.length === 1 ? "1 file is" : `${files.length} files are`;
  return `${parts.join("\n")}\nsvc-gen: ${count} stale; run \`svc-gen\` and commit the result\n`;
}

/** What differs, as removed and added lines between the equal beginning and the equal end. */
export function lineDiff(old: string, next: string): string {
  const before = old.split("\n");
  const after = next.split("\n");
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const limit = Math.min(before.length, after.length) - start;
  while (end < limit && before.at(-1 - end) === after.at(-1 - end)) end++;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const lines = [
    `@@ line ${start + 1} @@`,
    ...before.slice(Math.max(0, start - CONTEXT), start).map((line) => ` ${line}`),
    ...cut(removed).map((line) => `-${line}`),
    ...cut(added).map((line) => `+${line}`),
    ...after.slice(after.length - end, after.length - end + CONTEXT).map((line) => ` ${line}`),
  ];
  return `${lines.join("\n")}\n`;
}

function cut(lines: readonly string[]): readonly string[] {
  return lines.length <= SHOWN ? lines : [...lines.slice(0, SHOWN), `… ${lines.length - SHOWN} more lines`];
}
