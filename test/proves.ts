/** Declarations of what a test proves, made by the test: one is reached only when the assertions before it passed. */

import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Declarations } from "./manifest.js";
import { REQUIREMENTS } from "./requirements.js";

const PROVEN: ReadonlySet<string> = new Set(REQUIREMENTS.filter(({ proven }) => proven).map(({ id }) => id));

/**
 * Declares the sentences that a test proves, as its last statement; test/requirements.tsv lists the file for each. In a run
 * of test/run.ts, which names a folder in `TEST_PROOFS`, they are recorded there.
 *
 * @throws RangeError for an id that test/requirements.tsv does not give as proven
 */
export function proves(...ids: readonly string[]): void {
  const unknown = ids.find((id) => !PROVEN.has(id));
  if (unknown !== undefined) throw new RangeError(`test/requirements.tsv has no sentence ${unknown} that is proven`);
  const { TEST_PROOFS: folder } = process.env;
  // A process appends to a file of its own: one that is killed leaves whole lines, and none of another process.
  if (folder === undefined || ids.length === 0) return;
  appendFileSync(join(folder, `${process.pid}`), `${JSON.stringify([process.argv[1], ...ids])}\n`);
}

/** Declares what one row of a table of cases proves: the rows of each id. Rows that are not named prove nothing. */
export function provesRow<R extends string>(row: R, rows: Readonly<Record<string, readonly NoInfer<R>[]>>): void {
  for (const [id, named] of Object.entries(rows)) if (named.includes(row)) proves(id);
}

/**
 * The declarations that tests have recorded in the folder.
 *
 * @param files names of test files by the absolute paths of their scripts; declarations of other scripts are left out
 */
export function declaredIn(folder: string, files: ReadonlyMap<string, string>): Declarations {
  const declared = new Map([...files.values()].map((file) => [file, new Set<string>()]));
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1)) {
      const [script = "", ...ids] = JSON.parse(line) as string[];
      for (const id of ids) declared.get(files.get(script) ?? "")?.add(id);
    }
  }
  return declared;
}
