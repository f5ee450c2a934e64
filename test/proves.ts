/** Declarations of what a test proves, made by the test: one is reached only when the assertions before it passed. */

import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Declarations } from "./manifest.js";
import { REQUIREMENTS } from "./requirements.js";

const PROVEN: ReadonlySet<string> = new Set(REQUIREMENTS.filter(({ proven }) => proven).map(({ id }) => id));

/**
 * Declares the sentences that a test proves, as its last statement: one declaration of each, however often the statement
 * runs. test/requirements.tsv lists the number of declarations by file. In a run of test/run.ts, which names a folder in
 * `TEST_PROOFS`, they are recorded there.
 *
 * @throws RangeError for an id that test/requirements.tsv does not give as proven
 */
export function proves(...ids: readonly string[]): void {
  // The place of the call, the third line of a stack.
  record(ids, new Error().stack?.split("\n")[2] ?? "");
}

/**
 * Declares what one row of a table of cases proves: the rows of each id, one declaration for each row. Rows that are not
 * named prove nothing.
 */
export function provesRow<R extends string>(row: R, rows: Readonly<Record<string, readonly NoInfer<R>[]>>): void {
  for (const [id, named] of Object.entries(rows)) record(named.includes(row) ? [id] : [], row, [id]);
}

function record(ids: readonly string[], place: string, known: readonly string[] = ids): void {
  for (const id of known) {
    if (!PROVEN.has(id)) throw new RangeError(`test/requirements.tsv has no sentence ${id} that is proven`);
  }
  const { TEST_PROOFS: folder } = process.env;
  // A process appends to a file of its own: one that is killed leaves whole lines, and none of another process.
  if (folder === undefined || ids.length === 0) return;
  appendFileSync(join(folder, `${process.pid}`), `${JSON.stringify([process.argv[1], place, ...ids])}\n`);
}

/**
 * The declarations that tests have recorded in the folder.
 *
 * @param files names of test files by the absolute paths of their scripts; declarations of other scripts are left out
 */
export function declaredIn(folder: string, files: ReadonlyMap<string, string>): Declarations {
  const declared = new Map([...files.values()].map((file) => [file, new Map<string, number>()]));
  const seen = new Set<string>();
  for (const name of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1)) {
      const [script = "", place, ...ids] = JSON.parse(line) as string[];
      const counts = declared.get(files.get(script) ?? "");
      for (const id of ids) {
        const declaration = JSON.stringify([script, place, id]);
        if (counts === undefined || seen.has(declaration)) continue;
        seen.add(declaration);
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
    }
  }
  return declared;
}
