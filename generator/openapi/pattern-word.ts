/** A text that matches a pattern. refa is loaded for the first one. */

import { createRequire } from "node:module";
import { runWithin } from "../run-within.js";

const require = createRequire(import.meta.url);

/** Milliseconds for one pattern. */
const LIMIT_MS = 1_000;
/** Candidates of each alphabet. Most patterns are matched by the first one. */
const MAX_WORDS = 1_000;
/** Readable characters first. */
const ALPHABETS = ["[a-z0-9]", "[A-Za-z0-9]", "[!-~]", "[^\\0]"];
/** Repetitions beyond this are too many states. */
const MAX_COUNT = 1_000;

/**
 * Finds a text that matches a pattern and has an allowed length.
 *
 * @param plain taken if it matches
 * @returns undefined when none is found in time
 */
export function wordOf(pattern: string, min: number, max: number, plain: string): string | undefined {
  try {
    const expression = new RegExp(pattern, "u");
    const fits = (text: string) => {
      const { length } = [...text];
      return length >= min && length <= max && expression.test(text);
    };
    if (fits(plain)) return plain;
    return runWithin(LIMIT_MS, () => search(pattern, min, max, fits));
  } catch {
    // Too slow, or no expression.
    return undefined;
  }
}

function search(pattern: string, min: number, max: number, fits: (text: string) => boolean): string | undefined {
  const { JS, NFA } = require("refa") as typeof import("refa");
  const automaton = (source: string) => {
    // A candidate is tested with its assertions and references afterwards.
    const parsed = JS.Parser.fromLiteral({ source, flags: "u" }).parse({
      assertions: "ignore",
      backreferences: "disable",
    });
    return NFA.fromRegex(parsed.expression, { maxCharacter: parsed.maxCharacter });
  };
  const most = max > MAX_COUNT ? "" : max;
  // A pattern without anchors also matches within a longer text.
  for (const source of [pattern, `(?:${pattern})[^]*`, `[^]*(?:${pattern})`]) {
    const whole = automaton(source);
    for (const alphabet of ALPHABETS) {
      const readable = automaton(`${alphabet}{${Math.min(min, MAX_COUNT)},${most}}`);
      let tried = 0;
      for (const word of NFA.fromIntersection(whole, readable).words()) {
        const text = String.fromCodePoint(...word);
        if (fits(text)) return text;
        if (++tried === MAX_WORDS) break;
      }
    }
  }
  return undefined;
}
