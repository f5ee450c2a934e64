/** Notes that an earlier run has given already. */

import type { Diagnostic } from "./diagnostics.js";

/** The diagnostics of a run without the notes of an earlier one. */
export function withoutKnownNotes(diagnostics: readonly Diagnostic[], earlier: readonly Diagnostic[]): Diagnostic[] {
  const known = new Set(earlier.map(identityOf));
  return diagnostics.filter((each) => each.severity !== "note" || !known.has(identityOf(each)));
}

/** A note on another line of its file is the same note. */
function identityOf({ code, subject, message, place }: Diagnostic): string {
  return JSON.stringify([code, subject, message, place?.file]);
}
