/** What a test proves, declared by the test itself: a declaration is reached only when the assertions before it passed. */

import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { REQUIREMENTS } from "./requirements.js";

const PROVEN: ReadonlySet<string> = new Set(REQUIREMENTS.filter(({ proven }) => proven).map(({ id }) => id));

/**
 * Declares the sentences that a test proves, as its last statement. In a run of test/run.ts, which names a folder in
 * `TEST_PROOFS`, it is recorded there.
 *
 * @throws RangeError for an id that test/requirements.ts does not give as proven
 */
export function proves(...ids: readonly string[]): void {
  for (const id of ids) {
    if (!PROVEN.has(id)) throw new RangeError(`test/requirements.ts has no sentence ${id} that is proven`);
  }
  const { TEST_PROOFS: folder } = process.env;
  // A process appends to a file of its own: one that is killed leaves whole lines, and none of another process.
  if (folder === undefined || ids.length === 0) return;
  appendFileSync(join(folder, `${process.pid}`), `${JSON.stringify([process.argv[1], ...ids])}\n`);
}

/** Declares what one row of a table of cases proves: the rows of each id. Rows that are not named prove nothing. */
export function provesRow<R extends string>(row: R, rows: Readonly<Record<string, readonly NoInfer<R>[]>>): void {
  proves(...Object.keys(rows).filter((id) => rows[id]?.includes(row)));
}

/** The ids that tests of the given files, as absolute paths, have declared in the folder. */
export function declaredIn(folder: string, files: ReadonlySet<string>): Set<string> {
  const declared = new Set<string>();
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1)) {
      const [file = "", ...ids] = JSON.parse(line) as string[];
      if (files.has(file)) for (const id of ids) declared.add(id);
    }
  }
  return declared;
}
