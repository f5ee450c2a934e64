/** What benches write into docs/benchmarks.md. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Puts a table into the page, between the two marks of a bench.
 *
 * @throws Error when the page has no such marks
 */
export function withTable(page: string, bench: string, table: string): string {
  const marks = [`<!-- ${bench}: written by npm run bench -- ${bench} -->`, `<!-- end of ${bench} -->`] as const;
  const [begin, end] = [page.indexOf(marks[0]), page.indexOf(marks[1])];
  if (begin === -1 || end < begin) throw new Error(`the page of benchmarks lacks its marks: ${marks.join(" … ")}`);
  return `${page.slice(0, begin + marks[0].length)}\n${table}\n${page.slice(end)}`;
}

/**
 * Writes a table into the page.
 *
 * @param docs the folder of the page
 */
export function writePage(docs: string, bench: string, table: string): void {
  const page = join(docs, "benchmarks.md");
  writeFileSync(page, withTable(readFileSync(page, "utf8"), bench, table));
}
