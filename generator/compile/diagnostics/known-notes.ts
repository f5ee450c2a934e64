import type { Diagnostic } from "./diagnostics.js";

/** Removes the notes that an earlier run reported. */
export function withoutKnownNotes(diagnostics: readonly Diagnostic[], earlier: readonly Diagnostic[]): Diagnostic[] {
  const known = new Set(earlier.map(identityOf));
  return diagnostics.filter((each) => each.severity !== "note" || !known.has(identityOf(each)));
}

/** Identity of a note: unchanged if the note moves to another line of its file. */
function identityOf({ code, subject, message, place }: Diagnostic): string {
  return JSON.stringify([code, subject, message, place?.file]);
}
