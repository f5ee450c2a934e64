/** JSON Schema keywords that JSDoc tags set: the values that each constrains, and its argument. */

import type { Shape } from "./model.js";

/** Values that a keyword constrains, as diagnostics name them. */
export type Constrainable = "numbers" | "text" | "lists" | "objects";

/** Kind of argument: `name` of a format, `count` (an integer from 0), `positive` number. */
type Argument = "number" | "positive" | "count" | "regex" | "name" | "true" | "boolean";

/** Keywords that constrain values, in schema order. The JSDoc tag has the same name. */
export const CONSTRAINTS = {
  format: { on: "text", takes: "name" },
  minimum: { on: "numbers", takes: "number" },
  maximum: { on: "numbers", takes: "number" },
  exclusiveMinimum: { on: "numbers", takes: "number" },
  exclusiveMaximum: { on: "numbers", takes: "number" },
  multipleOf: { on: "numbers", takes: "positive" },
  minLength: { on: "text", takes: "count" },
  maxLength: { on: "text", takes: "count" },
  pattern: { on: "text", takes: "regex" },
  minItems: { on: "lists", takes: "count" },
  maxItems: { on: "lists", takes: "count" },
  uniqueItems: { on: "lists", takes: "true" },
  additionalProperties: { on: "objects", takes: "boolean" },
} as const satisfies Record<string, { readonly on: Constrainable; readonly takes: Argument }>;

export type ConstraintKeyword = keyof typeof CONSTRAINTS;

/** Converts an integer to a number if that is exact, so that bounds can be compared. */
export function plainInteger(integer: bigint): number | bigint {
  const value = Number(integer);
  return Number.isSafeInteger(value) ? value : integer;
}

/** Ranges of integer formats, including Rust's `usize` and `isize`. */
export const INTEGER_RANGES: ReadonlyMap<unknown, readonly [least: number | bigint, most: number | bigint]> = new Map(
  ["int", "uint"].flatMap((sign) =>
    ["", 8, 16, 32, 64, 128].map((bits) => {
      const values = 2n ** BigInt(bits || 64);
      const least = sign === "int" ? -values / 2n : 0n;
      return [`${sign}${bits}`, [plainInteger(least), plainInteger(least + values - 1n)]] as const;
    }),
  ),
);

/** Integer formats whose values a number represents exactly. */
export const NUMBER_FORMATS = Object.fromEntries(
  [...INTEGER_RANGES].filter(([, [, most]]) => typeof most === "number"),
) as Readonly<Record<string, readonly [least: number, most: number]>>;

/** Shapes whose values a keyword can constrain. Every keyword also applies to `json`. */
export const SHAPES: Readonly<Record<Constrainable, readonly Shape["kind"][]>> = {
  numbers: ["number", "bigint"],
  text: ["string"],
  lists: ["array", "tuple"],
  objects: ["object"],
};

/** Keywords that only document. A schema has them after all others. */
export const ANNOTATIONS: readonly string[] = ["description", "title", "default", "deprecated", "examples"];

type KeywordOf<On extends Constrainable, Takes extends Argument> = {
  [Name in ConstraintKeyword]: (typeof CONSTRAINTS)[Name] extends { readonly on: On; readonly takes: Takes }
    ? Name
    : never;
}[ConstraintKeyword];

/** Keywords that constrain the given values; with `takes`, only those with that kind of argument. */
export function keywordsOf<On extends Constrainable, Takes extends Argument = Argument>(on: On, takes?: Takes) {
  const names = Object.entries(CONSTRAINTS).flatMap(([name, keyword]) =>
    keyword.on === on && (takes === undefined || keyword.takes === takes) ? [name] : [],
  );
  return names as KeywordOf<On, Takes>[];
}
