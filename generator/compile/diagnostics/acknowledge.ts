/** Filters notes and warnings: `@acknowledge SVC155` hides those that the author has read. */

import { placeText } from "../model.js";
import { CODES, type Diagnostic } from "./diagnostics.js";

/** The codes in one `@acknowledge` tag. */
export interface Acknowledgement {
  readonly codes: readonly string[];
  /** Documented member, class or type. The tag applies to diagnostics about it and its parts. */
  readonly subject: string;
}

/** Parses the codes in a tag's text. Text after a dash is a comment. */
export function readAcknowledged(text: string): { readonly codes: readonly string[] } | { readonly problem: string } {
  const [list = ""] = text.split(/\s-\s/, 1);
  const codes = list.split(/[\s,]+/).filter(Boolean);
  const isKnown = (code: string) =>
    Object.hasOwn(CODES, code) && CODES[code as keyof typeof CODES].severity !== "error";
  if (codes.length > 0 && codes.every(isKnown)) return { codes };
  return { problem: "@acknowledge expects codes of notes or warnings, such as SVC155" };
}

/** Drops acknowledged notes and warnings, and notes about a member that has an error. */
export function filterNotes(
  diagnostics: readonly Diagnostic[],
  acknowledged: readonly Acknowledgement[],
): readonly Diagnostic[] {
  const kept = diagnostics.filter(
    ({ code, subject = "" }) => !acknowledged.some((tag) => tag.codes.includes(code) && isPartOf(subject, tag.subject)),
  );
  const marks = ({ place, subject }: Diagnostic) => [place && placeText(place), subject];
  const wrong = new Set(kept.filter(({ severity }) => severity === "error").flatMap(marks));
  wrong.delete(undefined);
  return kept.filter((each) => each.severity !== "note" || !marks(each).some((mark) => wrong.has(mark)));
}

/** Whether a subject is `outer` or part of it: `Sum.Input.tags[]` is part of `Sum.Input.tags` and of `Sum`. */
function isPartOf(subject: string, outer: string): boolean {
  return subject.startsWith(outer) && !/^[\p{ID_Continue}$]/u.test(subject.slice(outer.length));
}
