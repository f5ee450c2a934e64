/** Converts sentence fragments to sentences. */
export function sentences(...fragments: readonly string[]): string {
  return fragments.map((fragment) => `${capitalised(fragment)}.`).join(" ");
}

/** Capitalises the first letter of a text. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
