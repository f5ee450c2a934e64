/** The keywords of JSON Schema that come from JSDoc tags: what each constrains and which value it takes. */

import type { Shape } from "./model.js";

/** The values that a keyword constrains, in the words of diagnostics. */
export type Constrainable = "numbers" | "text" | "lists" | "objects";

/** The value of a keyword: `name` of a format, `count` from 0 on, `positive` number. */
type Argument = "number" | "positive" | "count" | "regex" | "name" | "true" | "boolean";

/** The keywords that constrain values, in the order of the schema. Each is the JSDoc tag of the same name. */
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

/** An integer as a number where that is exact, so that bounds can be compared. */
export function plainInteger(integer: bigint): number | bigint {
  const value = Number(integer);
  return Number.isSafeInteger(value) ? value : integer;
}

/** Ranges of the integer formats, Rust's `usize` and `isize` included. */
export const INTEGER_RANGES: ReadonlyMap<unknown, readonly [least: number | bigint, most: number | bigint]> = new Map(
  ["int", "uint"].flatMap((sign) =>
    ["", 8, 16, 32, 64, 128].map((bits) => {
      const values = 2n ** BigInt(bits || 64);
      const least = sign === "int" ? -values / 2n : 0n;
      return [`${sign}${bits}`, [plainInteger(least), plainInteger(least + values - 1n)]] as const;
    }),
  ),
);

/** The formats of integers that a number holds exactly. */
export const NUMBER_FORMATS = Object.fromEntries(
  [...INTEGER_RANGES].filter(([, [, most]]) => typeof most === "number"),
) as Readonly<Record<string, readonly [least: number, most: number]>>;

/** The shapes whose values a keyword can constrain; any JSON value (`json`) may be one of them. */
export const SHAPES: Readonly<Record<Constrainable, readonly Shape["kind"][]>> = {
  numbers: ["number", "bigint"],
  text: ["string"],
  lists: ["array", "tuple"],
  objects: ["object"],
};

/** The keywords that only document; in a schema they go behind all others. */
export const ANNOTATIONS: readonly string[] = ["description", "title", "default", "deprecated", "examples"];

type KeywordOf<On extends Constrainable, Takes extends Argument> = {
  [Name in ConstraintKeyword]: (typeof CONSTRAINTS)[Name] extends { readonly on: On; readonly takes: Takes }
    ? Name
    : never;
}[ConstraintKeyword];

/** The keywords for some values, all of them or those that take one kind of argument. */
export function keywordsOf<On extends Constrainable, Takes extends Argument = Argument>(on: On, takes?: Takes) {
  const names = Object.entries(CONSTRAINTS).flatMap(([name, keyword]) =>
    keyword.on === on && (takes === undefined || keyword.takes === takes) ? [name] : [],
  );
  return names as KeywordOf<On, Takes>[];
}
