/** Worst-case match time of a `@pattern`. The packages for this analysis are loaded only for projects with patterns. */

import { createRequire } from "node:module";
import type { NFA } from "refa";
import type { ParsedLiteral } from "scslre";
import { runWithin } from "../../process/run-within.js";

const require = createRequire(import.meta.url);

/** A pattern that takes more than linear time for some text, and the part that causes this. */
export interface SlowPattern {
  readonly growth: "exponential" | "quadratic";
  readonly part: string;
}

const known = new Map<string, SlowPattern | undefined>();

/** Slow part of a pattern; undefined if none was found. */
export function slowPart(pattern: string): SlowPattern | undefined {
  if (!known.has(pattern)) known.set(pattern, analyseWithin(LIMIT_MS, pattern));
  return known.get(pattern);
}

/** Time limit in milliseconds. Most patterns take a few; one with hundreds of branches would take hours. */
const LIMIT_MS = 5_000;

/** Like {@link slowPart}, with a time limit. Undefined if the limit is exceeded or the pattern is too large. */
export function analyseWithin(limitMs: number, pattern: string): SlowPattern | undefined {
  try {
    return runWithin(limitMs, () => analysePattern(pattern));
  } catch {
    return undefined;
  }
}

function analysePattern(source: string): SlowPattern | undefined {
  // Without a repetition, a pattern cannot be slow.
  if (!/[*+{?]/.test(source)) return undefined;
  const { analyse } = require("scslre") as typeof import("scslre");
  const { parsed, reports } = analyse({ source, flags: "u" });
  const worst = reports.find(({ exponential }) => exponential) ?? reports[0];
  const report = worst && {
    growth: worst.exponential ? ("exponential" as const) : ("quadratic" as const),
    part: worst.type === "Trade" ? parsed.pattern.raw : worst.type === "Self" ? worst.parentQuant.raw : worst.quant.raw,
  };
  if (report?.growth === "exponential") return report;
  const ambiguous = ambiguousRepetition(parsed);
  return ambiguous === undefined ? report : { growth: "exponential", part: ambiguous };
}

/** Repetitions with a lower maximum are too short to be slow. */
const MIN_REPETITIONS = 10;

/**
 * Finds a repeated choice of which two branches match the same text: `(?:\w|\d)*`. scslre does not compare branches.
 */
function ambiguousRepetition(parsed: ParsedLiteral): string | undefined {
  const { JS, NFA, isDisjointWith } = require("refa") as typeof import("refa");
  const parser = JS.Parser.fromAst(parsed);
  type Nodes = typeof parsed.pattern | (typeof parsed.pattern.alternatives)[number] | Element;
  type Element = (typeof parsed.pattern.alternatives)[number]["elements"][number];
  const languageOf = (branch: (typeof parsed.pattern.alternatives)[number]): NFA => {
    const { expression, maxCharacter } = parser.parseElement(branch, {
      assertions: "disable",
      backreferences: "disable",
    });
    return NFA.fromRegex(expression, { maxCharacter });
  };
  const find = (node: Nodes): string | undefined => {
    if (node.type === "Quantifier" && node.max >= MIN_REPETITIONS && "alternatives" in node.element) {
      const languages = node.element.alternatives.map(languageOf);
      const isAmbiguous = languages.some((one, i) => languages.slice(0, i).some((two) => !isDisjointWith(one, two)));
      if (isAmbiguous) return node.raw;
    }
    const inner: readonly Nodes[] =
      "alternatives" in node
        ? (node.alternatives as Nodes[])
        : node.type === "Alternative"
          ? node.elements
          : node.type === "Quantifier"
            ? [node.element]
            : [];
    for (const each of inner) {
      const found = find(each);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find(parsed.pattern);
}
