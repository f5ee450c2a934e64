/**
 * Every sentence of docs/protocol.md, with the tests that prove it: the rows of requirements.tsv. Checked by
 * requirements.test.ts and, for each file, by run.ts.
 *
 * A row has an id (the section and the place in it), the proofs, and the sentence, line breaks as spaces. A row without
 * id and proofs has the next sentence of the same rule. The proofs are the test files that fail when the rule is not kept,
 * which declare so (proves.ts): `wire/json, runtime/keys`. `(needs redis-server)` follows where they cannot run without that program, and `none: `
 * stands before the reason why there is nothing to prove.
 */

import { readFileSync } from "node:fs";

/** Exactly one of proven and reason. */
export interface Requirement {
  readonly id: string;
  /** One sentence a line. */
  readonly text: string;
  /** Test files, as paths below test/ without `.test.ts`. */
  readonly proven?: readonly string[];
  readonly needs?: string;
  /** A definition, a remark, a heading. */
  readonly reason?: string;
}

const [, ...rules] = readFileSync(new URL("requirements.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split(/\n(?!\t\t)/);

export const REQUIREMENTS: readonly Requirement[] = rules.map((rule) => {
  const [id = "", proofs = "", ...sentences] = rule.split(/\n\t\t|\t/);
  const text = sentences.join("\n");
  const [, reason] = /^none: (.*)$/.exec(proofs) ?? [];
  if (reason !== undefined) return { id, text, reason };
  const [, files = "", needs] = /^(.*?)(?: \(needs (\S+)\))?$/.exec(proofs) ?? [];
  return { id, text, proven: files.split(", "), ...(needs !== undefined && { needs }) };
});
