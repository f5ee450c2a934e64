/** Results of the checks of `svc-gen doctor`, and their text form. */

export interface Check {
  readonly name: string;
  /** Null if the check does not apply. */
  readonly ok: boolean | null;
  readonly detail: string;
  /** Step that fixes the problem; empty if none is needed. */
  readonly next: string;
}

export function good(name: string, detail: string): Check {
  return { name, ok: true, detail, next: "" };
}

export function bad(name: string, detail: string, next: string): Check {
  return { name, ok: false, detail, next };
}

export function skipped(name: string, detail: string, next = ""): Check {
  return { name, ok: null, detail, next };
}

const MARKS = { true: "✓", false: "✗", null: "-" };
const COLOURS = { true: "\u001b[32m", false: "\u001b[31m", null: "\u001b[2m" };

/** Formats each check as one line, followed by what to do next, if anything. */
export function formatChecks(checks: readonly Check[], colour: boolean): string {
  return checks
    .map(({ name, ok, detail, next }) => {
      const mark = colour ? `${COLOURS[`${ok}`]}${MARKS[`${ok}`]}\u001b[0m` : MARKS[`${ok}`];
      return `${mark} ${name}: ${detail}\n${next === "" ? "" : `    next: ${next}\n`}`;
    })
    .join("");
}
