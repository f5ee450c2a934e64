/** Hints about what a tool does, for hosts and people that decide about a call. */

import type { ToolHints } from "svc-runtime/internal/generator";

/** Effect of a tool that has the hint. The names are JSDoc tags of the class. */
const EFFECTS: Readonly<Record<keyof ToolHints, string>> = {
  readOnly: "only reads",
  idempotent: "can be repeated without a further effect",
  destructive: "may delete or overwrite data",
  openWorld: "reaches other systems",
};

export const HINT_NAMES = Object.keys(EFFECTS) as readonly (keyof ToolHints)[];

/** Effects of the hints that are true. */
export function effectsOf(hints: ToolHints = {}): string[] {
  return HINT_NAMES.filter((name) => hints[name] === true).map((name) => EFFECTS[name]);
}

/** Whether two hints exclude each other. */
export function contradicts({ readOnly, destructive }: ToolHints): boolean {
  return readOnly === true && destructive === true;
}

/** Hints of which others replace some. Of two that exclude each other, the replaced one, or `readOnly`, is left out. */
export function replaceHints(hints: ToolHints, others: ToolHints = {}): ToolHints {
  const all = { ...hints, ...others };
  if (!contradicts(all)) return all;
  const { readOnly, destructive, ...rest } = all;
  return others.readOnly && !others.destructive ? { ...rest, readOnly: true } : { ...rest, destructive: true };
}

/** Value of a hint from the text after its name: nothing, `true` or `false`; undefined for other texts. */
export function hintValue(text: string): boolean | undefined {
  return text === "" || text === "true" ? true : text === "false" ? false : undefined;
}

/** The hints of a JSON value, without members that are not hints. */
export function hintsIn(value: unknown): ToolHints {
  const given = Object(value) as Record<string, unknown>;
  return Object.fromEntries(
    HINT_NAMES.flatMap((name) => (typeof given[name] === "boolean" ? [[name, given[name]]] : [])),
  );
}
