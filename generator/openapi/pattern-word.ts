/** Finds text that matches a regular expression. The package refa is loaded at the first use. */

import { createRequire } from "node:module";
import { runWithin } from "../process/run-within.js";

const require = createRequire(import.meta.url);

/** Time limit for one pattern, in milliseconds. */
const LIMIT_MS = 1_000;
/** Maximum number of candidates in each alphabet. For most patterns, the first one matches. */
const MAX_WORDS = 1_000;
/** Alphabets to try, the most readable first. */
const ALPHABETS = ["[a-z0-9]", "[A-Za-z0-9]", "[!-~]", "[^\\0]"];
/** Maximum number of repetitions, which limits the states of the automaton. */
const MAX_COUNT = 1_000;

/**
 * Finds a text that matches a pattern and has an allowed length.
 *
 * @param plain preferred text, used if it matches
 * @returns undefined if none is found in time
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
    // The search is too slow, or the pattern is invalid.
    return undefined;
  }
}

function search(pattern: string, min: number, max: number, fits: (text: string) => boolean): string | undefined {
  const { JS, NFA } = require("refa") as typeof import("refa");
  const automaton = (source: string) => {
    // Ignores assertions and backreferences; each candidate is tested against the full pattern later.
    const parsed = JS.Parser.fromLiteral({ source, flags: "u" }).parse({
      assertions: "ignore",
      backreferences: "disable",
    });
    return NFA.fromRegex(parsed.expression, { maxCharacter: parsed.maxCharacter });
  };
  const most = max > MAX_COUNT ? "" : max;
  // A pattern without anchors may also match part of a longer text.
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
