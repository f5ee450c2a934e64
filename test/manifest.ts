/** What is wrong with the requirements manifest: the gate over docs/protocol.md. */

import type { Requirement } from "./requirements.js";
import type { Sentence } from "./sentences.js";

/** Sentences without an entry, entries without their sentence, and what is listed twice. */
export function listingFaults(sentences: readonly Sentence[], requirements: readonly Requirement[]): string[] {
  const texts = new Set(sentences.map(({ text }) => text));
  const [ids, listed] = [new Set<string>(), new Set<string>()];
  const faults: string[] = [];
  for (const { id, text } of requirements) {
    if (ids.has(id)) faults.push(`${id}: this id is given twice`);
    ids.add(id);
    for (const sentence of text.split("\n")) {
      if (listed.has(sentence)) faults.push(`${id}: this sentence is listed twice: ${sentence}`);
      if (!texts.has(sentence)) faults.push(`${id}: the protocol has no such sentence: ${sentence}`);
      listed.add(sentence);
    }
  }
  const unlisted = sentences.filter(({ text }) => !listed.has(text));
  return [...faults, ...unlisted.map(({ section, text }) => `section ${section}: a sentence is not listed: ${text}`)];
}

/** Faults of one entry. The tests of the tier `test` alone prove every sentence that needs no other program. */
export function entryFaults({ proven, needs, reason }: Requirement): string[] {
  if ((proven === undefined) === (reason === undefined)) return ["expected one of proven and a reason"];
  if (proven === undefined) return reason?.trim() === "" || reason === "TODO" ? ["expected a reason"] : [];
  if (proven.length === 0) return ["expected files"];
  const isCheap = proven.some((file) => !file.startsWith("e2e/"));
  return isCheap || needs !== undefined ? [] : ["expected a proof outside test/e2e"];
}

/** The sentences that test files have declared. */
export type Declarations = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The differences between what test files declared (proves.ts) and what the manifest lists for them: one line for each.
 *
 * @param declared of every file that passed; other files are not judged
 * @param missing programs that this machine does not have; entries that need one of them are not judged
 */
export function proofFaults(
  requirements: readonly Requirement[],
  declared: Declarations,
  missing: ReadonlySet<string> = new Set(),
): string[] {
  const judged = requirements.filter(({ needs = "" }) => !missing.has(needs));
  return [...declared].flatMap(([file, ids]) =>
    judged.flatMap(({ id, text, proven = [] }) => {
      const isListed = proven.includes(file);
      if (ids.has(id) === isListed) return [];
      return [`${file}: ${isListed ? "does not declare" : "declares, but is not listed for,"} ${id}: ${text}`];
    }),
  );
}
