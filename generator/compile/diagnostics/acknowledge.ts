/** Filters notes and warnings: `@acknowledge SVC155` hides those that the author has read. */

import { type Place, placeText } from "../model.js";
import { CODES, type Diagnostic, diagnostic } from "./diagnostics.js";

/** The codes in one `@acknowledge` tag. */
export interface Acknowledgement {
  readonly codes: readonly string[];
  /** Documented member, class or type. The tag applies to diagnostics about it and its parts. */
  readonly subject: string;
  readonly place: Place;
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

/**
 * Drops acknowledged notes and warnings, and notes about a member that has an error. Adds a note for each tag without
 * effect.
 *
 * @param unasked codes that this run does not check; tags with these codes are not reported
 */
export function filterNotes(
  diagnostics: readonly Diagnostic[],
  acknowledged: readonly Acknowledgement[],
  unasked: readonly Diagnostic["code"][] = [],
): Diagnostic[] {
  const kept = withoutAcknowledged(diagnostics, acknowledged, unasked);
  const marks = ({ place, subject }: Diagnostic) => [place && placeText(place), subject];
  const wrong = new Set(kept.filter(({ severity }) => severity === "error").flatMap(marks));
  wrong.delete(undefined);
  return kept.filter((each) => each.severity !== "note" || !marks(each).some((mark) => wrong.has(mark)));
}

/** Drops acknowledged notes, and adds a note for each tag whose code did not occur. */
function withoutAcknowledged(
  diagnostics: readonly Diagnostic[],
  acknowledged: readonly Acknowledgement[],
  unasked: readonly Diagnostic["code"][],
): Diagnostic[] {
  const covers = ({ subject, codes }: Acknowledgement, { code, subject: inner = "" }: Diagnostic) =>
    codes.includes(code) && isPartOf(inner, subject);
  // The tag of a type with several uses is recorded once for each use.
  const tags = new Map<string, Acknowledgement[]>();
  for (const each of acknowledged) {
    const key = placeText(each.place);
    tags.set(key, [...(tags.get(key) ?? []), each]);
  }
  const idle = [...tags.values()].flatMap((uses) => {
    const [first] = uses as [Acknowledgement];
    const found = diagnostics.filter((note) => uses.some((use) => covers(use, note))).map(({ code }) => code);
    const codes = first.codes.filter((code) => ![...found, ...unasked].includes(code as Diagnostic["code"]));
    return codes.length === 0
      ? []
      : [diagnostic("SVC176", { place: first.place, subject: first.subject }, codes.join(" "))];
  });
  return [...diagnostics.filter((note) => !acknowledged.some((each) => covers(each, note))), ...idle];
}

/** Whether a subject is `outer` or part of it: `Sum.Input.tags[]` is part of `Sum.Input.tags` and of `Sum`. */
function isPartOf(subject: string, outer: string): boolean {
  return subject.startsWith(outer) && !/^[\p{ID_Continue}$]/u.test(subject.slice(outer.length));
}
