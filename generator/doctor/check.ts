/** The form of a check of `svc-gen doctor`. */

export interface Check {
  readonly name: string;
  /** Null: not applicable here. */
  readonly ok: boolean | null;
  readonly detail: string;
  /** What to do; empty where nothing is to do. */
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

/** One line a check, and one with the next step where there is one. */
export function formatChecks(checks: readonly Check[], colour: boolean): string {
  return checks
    .map(({ name, ok, detail, next }) => {
      const mark = colour ? `${COLOURS[`${ok}`]}${MARKS[`${ok}`]}\u001b[0m` : MARKS[`${ok}`];
      return `${mark} ${name}: ${detail}\n${next === "" ? "" : `    next: ${next}\n`}`;
    })
    .join("");
}
