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
    if (listed.has(text)) faults.push(`${id}: this sentence is listed twice: ${text}`);
    if (!texts.has(text)) faults.push(`${id}: the protocol has no such sentence: ${text}`);
    ids.add(id);
    listed.add(text);
  }
  const unlisted = sentences.filter(({ text }) => !listed.has(text));
  return [...faults, ...unlisted.map(({ section, text }) => `section ${section}: a sentence is not listed: ${text}`)];
}

/** What is wrong with one entry. */
export function entryFaults({ proven, reason }: Requirement): string[] {
  if ((proven === undefined) === (reason === undefined)) return ["expected one of proven and a reason"];
  return reason?.trim() === "" || reason === "TODO" ? ["expected a reason"] : [];
}

/**
 * The entries that claim to be proven and that no test declared (proves.ts): one line for each.
 *
 * @param missing programs that this machine does not have; what needs one of them cannot be proven here
 */
export function proofFaults(
  requirements: readonly Requirement[],
  declared: ReadonlySet<string>,
  missing: ReadonlySet<string> = new Set(),
): string[] {
  return requirements
    .filter(({ id, proven, needs = "" }) => proven && !declared.has(id) && !missing.has(needs))
    .map(({ id, text }) => `${id} ${text}`);
}
