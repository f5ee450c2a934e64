/** Source of a regular expression that matches a text literally. `RegExp.escape` needs Node 24. */
export function escapeRegex(literal: string): string {
  return literal.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
